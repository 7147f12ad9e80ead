"""mTAND-Full on vectors: a variational autoencoder between reference points in time.

`plain` is written as attention over time usually is: scores of encoder and decoder are repeated for every channel, and
every series is decoded at as many times as it is padded to. `best` has attention as two products in the encoder, weights
of the decoder once for every distinct time, the last map of the decoder before its attention, and decodes where there
are targets only.
"""

import math

import torch
from torch import nn
from torch.nn import functional

from . import normal_start
from .attention import PlainAttention, TunedAttention, embedding_links
from .images import Mlp
from .likelihood import entry_loss, task_loss
from .links import gru, linear, same, within


class Generator(nn.Module):
    """A recurrent unit over the reference points in both directions, and attention from asked times to them."""

    def __init__(self, sizes):
        super().__init__()
        width, inner = 2 * sizes["generator"], sizes["embedding"]
        self.recurrence = nn.GRU(sizes["latent"], sizes["generator"], batch_first=True, bidirectional=True)
        # The embedding of times and the maps to queries and keys are those of an encoder.
        self.linear, self.periodic = nn.Linear(1, 1), nn.Linear(1, inner - 1)
        self.query, self.key = nn.Linear(inner, inner), nn.Linear(inner, inner)
        self.values = nn.Linear(width, width)
        self.register_buffer("references", torch.linspace(0, 1, sizes["reference_points"]))

    embed = PlainAttention.embed

    def links(self, name):
        """Where stroock has the parameters."""
        links = embedding_links(name + ".embedding", self)
        for part in ("query", "key", "values"):
            links += linear(f"{name}.{part}", getattr(self, part))
        return links + both_directions(name + ".recurrence", self.recurrence)


class PlainGenerator(Generator):
    """Scores repeated for every channel, and a softmax over the reference points for each."""

    def forward(self, z, times):
        """States [S B, P, 2 G] at times [B, P] from latent numbers [S B, R, L]."""
        read, _ = self.recurrence(z)
        query = self.query(self.embed(times.repeat(len(z) // len(times), 1)))
        key = self.key(self.embed(self.references)).unsqueeze(0)
        scores = torch.matmul(query, key.transpose(1, 2)) / math.sqrt(key.shape[-1])
        weights = torch.softmax(scores.unsqueeze(-1).repeat_interleave(read.shape[-1], dim=-1), dim=-2)
        return self.values((weights * read.unsqueeze(1)).sum(-2))


class TunedGenerator(Generator):
    """Weights once for every distinct time, and a product with what the last map makes of the states."""

    def forward(self, z, times):
        """States [S B, P, 2 G] at `Distinct` times from latent numbers [S B, R, L]."""
        read = self.values(self.recurrence(z)[0])
        query = self.query(self.embed(times.values)) / math.sqrt(self.query.out_features)
        weights = torch.softmax(query @ self.key(self.embed(self.references)).T, 1)
        weights = functional.embedding(times.places, weights)
        samples = len(z) // len(weights)
        # Samples side by side: one product a series.
        read = read.unflatten(0, (samples, -1)).permute(1, 2, 0, 3).flatten(2)
        mixed = torch.bmm(weights, read).unflatten(2, (samples, -1))
        return mixed.permute(2, 0, 1, 3).flatten(0, 1)


def both_directions(name, unit):
    """Links of a recurrent unit in both directions."""
    return gru(name + ".forward", unit) + gru(name + ".backward", unit, "_l0_reverse")


class MtandFull(nn.Module):
    """Encoder, latent numbers, generator, decoder, likelihood and task."""

    def __init__(self, protocol, form):
        super().__init__()
        model = protocol["model"]
        sizes, channels = model["latent"], model["observation"]["channels"]
        self.tuned = form != "plain"
        attention, generator = (TunedAttention, TunedGenerator) if self.tuned else (PlainAttention, PlainGenerator)
        shape = {name: sizes[name] for name in ("hidden", "embedding", "reference_points")}
        self.encoder = attention(channels, bidirectional=True, **shape)
        self.head = Mlp(2 * sizes["hidden"], 2 * sizes["latent"], {"hidden": [sizes["head"]], "activation": "relu"})
        self.generator = generator(sizes)
        width = 2 * sizes["generator"]
        self.decoder = Mlp(width, channels, model["decoder"])
        likelihood = model["likelihood"]
        self.ln_scale = nn.Parameter(
            torch.tensor([likelihood["scale"]]).log(), requires_grad=likelihood["scale_kind"] != "fixed"
        )
        self.task = model["task"]
        if self.task is not None:
            self.task_head = Mlp(width, self.task["output"]["classes"], self.task["network"])

    def forward(self, batch, samples, start=None, noise=None, nudge_to=None):
        """Everything that a record has of a step."""
        points, targets = batch.points, batch.targets
        read = self.encoder.states(points.values, points.mask, points.distinct if self.tuned else points.times)
        mean, ln_variance = self.head(read).chunk(2, -1)
        mean, ln_scale = mean.flatten(1), 0.5 * ln_variance.flatten(1)
        z = normal_start.points(mean, ln_scale, samples, start)
        z = z.unflatten(2, read.shape[1:2] + (-1,)).flatten(0, 1)
        times = batch.asked if self.tuned else batch.asked_times(points.times.shape[1])
        states = self.generator(z, times).unflatten(0, (samples, -1))
        at_points = states[:, targets.series, targets.places]
        found = at_points
        if nudge_to is not None:
            difference = (nudge_to - found).detach()
            moved = torch.zeros_like(states)
            moved[:, targets.series, targets.places] = difference
            states, at_points = states + moved, at_points + difference
        if self.tuned:
            output = self.decoder(at_points)
        else:
            output = self.decoder(states)[:, targets.series, targets.places]
        result = {
            "states": found,
            "mean": output,
            "kl": normal_start.divergence_from_standard(mean, ln_scale),
            "surprise": self.surprise(output, targets),
        }
        result["negative_log_likelihood"] = result["surprise"].mean(0)
        if self.task is not None:
            prediction = self.task_head(at_points if self.tuned else states)
            result["prediction"] = prediction if self.tuned else prediction[:, targets.series, targets.places]
            result["task"] = task_loss(self.task["output"]["kind"], result["prediction"], batch)
        return result

    def surprise(self, output, targets):
        """Negative log likelihoods of every sample, [S, B]."""
        losses = entry_loss(output, targets, self.ln_scale)
        if targets.mask is not None:
            losses = losses * targets.mask
        sums = losses.new_zeros(len(losses), len(targets.counts))
        return sums.index_add(1, targets.series, losses.sum(2))

    def loss(self, result, batch, weights):
        """The importance-weighted bound per observed entry, and the task."""
        counts, surprise = batch.targets.counts.clamp_min(1.0), result.pop("surprise")
        scaled = weights["likelihood"] * surprise / counts
        bound = math.log(len(scaled)) - torch.logsumexp(-scaled, 0) + weights["kl_start"] * result["kl"] / counts
        if "task" in result:
            bound = bound + weights["task"] * result["task"]
        return bound.mean()

    def links(self):
        """Where stroock has the parameters."""
        links = self.encoder.view_links("posterior.views.")
        links += both_directions("posterior.recurrence", self.encoder.recurrence)
        links += self.head.links("posterior.head") + self.generator.links("generator")
        links += self.decoder.links("decoder.Mlp") + same("likelihood.gaussian.ln_scale", self.ln_scale)
        if self.task is not None:
            links += self.task_head.links("task.network")
        return within("MtandFull", links)
