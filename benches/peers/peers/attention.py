"""Multi-time attention over observed points, then a recurrent unit over the reference points."""

import math

import torch
from torch import nn

from .links import gru, linear, same


def embedding_links(name, module):
    """Links of the embedding of times."""
    frequency, phase = name + ".frequency", name + ".phase"
    return [
        (frequency + "[0]", module.linear.weight, lambda of: of(frequency)[:1].view(1, 1)),
        (phase + "[0]", module.linear.bias, lambda of: of(phase)[:1]),
        (frequency, module.periodic.weight, lambda of: of(frequency)[1:].view(-1, 1)),
        (phase, module.periodic.bias, lambda of: of(phase)[1:]),
    ]


class TimeAttentionEncoder(nn.Module):
    """Parameters and recurrence of the encoder; `attend` is what the two forms differ in."""

    def __init__(
        self,
        channels,
        hidden=64,
        embedding=128,
        reference_points=128,
        stretched=False,
        local_heads=0,
        bidirectional=False,
    ):
        super().__init__()
        if local_heads:
            raise NotImplementedError("heads that see what is near in time")
        self.linear = nn.Linear(1, 1)
        self.periodic = nn.Linear(1, embedding - 1)
        self.query = nn.Linear(embedding, embedding)
        self.key = nn.Linear(embedding, embedding)
        self.values = nn.Linear(2 * channels, hidden)
        self.recurrence = nn.GRU(hidden, hidden, batch_first=True, bidirectional=bidirectional)
        self.stretched = stretched
        self.register_buffer("references", torch.linspace(0, 1, reference_points))

    def embed(self, times):
        """Times [..., P] as vectors [..., P, E]."""
        times = times.unsqueeze(-1)
        return torch.cat([self.linear(times), torch.sin(self.periodic(times))], -1)

    def forward(self, features, mask, times):
        """Representations [B, hidden] from features and mask [B, P, C] at times: [B, P], or `Distinct` if tuned."""
        _, last = self.recurrence(self.attend(features, mask, times))
        h = last.squeeze(0)
        return torch.atanh(h - 1e-5 * h.sign()) if self.stretched else h

    def states(self, features, mask, times):
        """States [B, R, hidden], or twice that, of the recurrent unit at all reference points."""
        return self.recurrence(self.attend(features, mask, times))[0]

    def links(self, name):
        """Where stroock has the parameters."""
        name = name and name + "."
        return self.view_links(name) + gru(name + "recurrence", self.recurrence)

    def view_links(self, name):
        """Those of the attention; the name ends with a dot where there is one."""
        links = embedding_links(name + "embedding", self)
        halves = name + "values.weight", name + "presence.weight"
        links.append((halves[0], self.values.weight, lambda of: torch.cat([of(half) for half in halves]).T))
        links += same(name + "values.bias", self.values.bias)
        return links + linear(name + "query", self.query) + linear(name + "key", self.key)


class PlainAttention(TimeAttentionEncoder):
    """As it is usually written: scores repeated for every channel, a softmax over time for each."""

    def attend(self, features, mask, times):
        values = torch.cat([features * mask, mask], 2)
        mask = torch.cat([mask, mask], 2).unsqueeze(1)
        query = self.query(self.embed(self.references)).unsqueeze(0)
        key = self.key(self.embed(times))
        scores = torch.matmul(query, key.transpose(1, 2)) / math.sqrt(key.shape[-1])
        scores = scores.unsqueeze(-1).repeat_interleave(values.shape[-1], dim=-1)
        scores = scores.masked_fill(mask == 0, -1e9)
        weights = torch.softmax(scores, dim=-2)
        return self.values((weights * values.unsqueeze(1)).sum(-2))


class TunedAttention(TimeAttentionEncoder):
    """One product: [E (mask x), E mask] and their quotient, with E = exp(scores - maximum).

    Keys and scores are computed once for every distinct time of the batch. The mask attends to itself: it is 1 for
    every channel that is observed anywhere, and needs no product.
    """

    def scores(self, mask, times):
        """Scores [B, R, P], without weight where there is no point; times are `Distinct`."""
        query = self.query(self.embed(self.references)) / math.sqrt(self.query.out_features)
        of_times = self.key(self.embed(times.values)) @ query.T
        scores = nn.functional.embedding(times.places, of_times).transpose(1, 2)
        present = mask if mask.dim() == 2 else mask.amax(2)
        return scores.masked_fill((present == 0).unsqueeze(1), -math.inf)

    def attend(self, features, mask, times):
        channels = features.shape[2]
        scores = self.scores(mask, times)
        # A series without points has nothing but weights of 0.
        weights = torch.exp(scores - scores.detach().amax(2, keepdim=True).clamp_min(-1e30))
        sums = torch.bmm(weights, torch.cat([features * mask, mask], 2))
        attended = sums[..., :channels] / sums[..., channels:].clamp_min(1e-30)
        map_values, map_presence = self.values.weight.split(channels, 1)
        presence = nn.functional.linear(mask.amax(1), map_presence, self.values.bias)
        return nn.functional.linear(attended, map_values) + presence.unsqueeze(1)


class WholeTunedAttention(TunedAttention):
    """The same where points are whole: one softmax for all channels."""

    def attend(self, features, mask, times):
        weights = torch.softmax(self.scores(mask, times), 2)
        map_values, map_presence = self.values.weight.split(features.shape[2], 1)
        # Every channel is present.
        offset = self.values.bias + map_presence.sum(1)
        return torch.bmm(weights, nn.functional.linear(features, map_values)) + offset
