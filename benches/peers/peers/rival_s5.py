"""S5 on frames: layers of diagonal complex recurrences with a gap before every step.

`plain` has the recurrence as an associative scan over pairs (factor, state), odd and even places in turn, as published
code has it. `best` doubles the reach of every state from one level to the next, in place of the recursion.
"""

import torch
from torch import nn
from torch.nn import functional

from .images import FrameFeatures, Mlp
from .likelihood import normal_surprise
from .links import linear, same, within

# Parameters of the recurrence are kept four times as large, which makes their steps by Adam a quarter.
SLOW = 0.25


def combine(left, right):
    """x -> a x + b after x -> a' x + b'."""
    return right[0] * left[0], right[0] * left[1] + right[1]


def associative_scan(pairs):
    """All products of pairs [B, P, ..] from the first on: those of neighbours, then what lies between."""
    length = pairs[0].shape[1]
    if length < 2:
        return pairs
    neighbours = combine(
        tuple(part[:, : length - 1 : 2] for part in pairs), tuple(part[:, 1::2] for part in pairs)
    )
    odd = associative_scan(neighbours)
    before = odd if length % 2 else tuple(part[:, :-1] for part in odd)
    even = combine(before, tuple(part[:, 2::2] for part in pairs))
    merged = []
    for part, of_even, of_odd in zip(pairs, even, odd):
        of_even = torch.cat([part[:, :1], of_even], 1)
        both = part.new_zeros(part.shape)
        both[:, ::2], both[:, 1::2] = of_even, of_odd
        merged.append(both)
    return tuple(merged)


def doubling_scan(pairs):
    """The same for states alone, by steps of 1, 2, 4, .."""
    factor, state = pairs
    length, reach = factor.shape[1], 1
    while reach < length:
        state = torch.cat([state[:, :reach], torch.addcmul(state[:, reach:], factor[:, reach:], state[:, :-reach])], 1)
        if 2 * reach < length:
            factor = torch.cat([factor[:, :reach], factor[:, reach:] * factor[:, :-reach]], 1)
        reach *= 2
    return factor, state


class S5Layer(nn.Module):
    """A recurrence of complex states, a gate, and a normalisation."""

    def __init__(self, width, states, tuned):
        super().__init__()
        self.eigenvalues, self.steps = nn.Parameter(torch.zeros(2 * states)), nn.Parameter(torch.zeros(states))
        self.input = nn.Parameter(torch.zeros(width, 2 * states))
        self.output_re, self.output_im = (nn.Parameter(torch.zeros(states, width)) for _ in range(2))
        self.through = nn.Parameter(torch.zeros(width))
        self.gate = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.scan = doubling_scan if tuned else associative_scan

    def forward(self, u, gaps):
        """Rows [B, P, H] of the next layer; gaps are [B, P]."""
        eigenvalues = torch.complex(*(SLOW * self.eigenvalues).chunk(2))
        exponents = eigenvalues * torch.exp(SLOW * self.steps) * gaps.unsqueeze(2)
        factor = torch.exp(exponents)
        driven = torch.complex(*(u @ (SLOW * self.input)).chunk(2, 2))
        _, x = self.scan((factor, (factor - 1) / eigenvalues * driven))
        y = 2 * (x.real @ self.output_re - x.imag @ self.output_im) + u * self.through
        gate = torch.sigmoid(self.gate(functional.gelu(y, approximate="tanh")))
        return self.norm(u + y * gate)

    def links(self, name):
        """Where stroock has the parameters."""
        parts = ("eigenvalues", "steps", "input", "output_re", "output_im", "through")
        links = [link for part in parts for link in same(f"{name}.{part}", getattr(self, part))]
        links += linear(name + ".gate", self.gate)
        return links + same(name + ".scale", self.norm.weight) + same(name + ".shift", self.norm.bias)


class S5(nn.Module):
    """Convolutions of frames, layers, and heads for means and variances of numbers at every frame."""

    def __init__(self, protocol, form):
        super().__init__()
        model = protocol["model"]
        observed, sizes, task = model["observation"], model["encoder"], model["task"]
        tuned = form != "plain"
        shape = (observed["channels"], observed["height"], observed["width"])
        self.frames = FrameFeatures(shape, model["frames"], tuned)
        width, outputs = sizes["width"], task["output"]["width"]
        self.front = nn.Linear(model["frames"]["features"], width)
        self.layers = nn.ModuleList(S5Layer(width, sizes["states"], tuned) for _ in range(sizes["layers"]))
        self.mean, self.variance = (Mlp(width, outputs, task["network"]) for _ in range(2))
        self.unit = sizes["unit"]

    def forward(self, batch, samples, start=None, noise=None, nudge_to=None):
        """Everything that a record has of a step; every frame is predicted at."""
        points, targets = batch.points, batch.targets
        series, width, extent = points.values.shape
        u = self.front(torch.relu(self.frames(points.values.view(-1, extent))).view(series, width, -1))
        gaps = functional.pad(points.times.diff(dim=1) / self.unit, (1, 0), value=1.0)
        for layer in self.layers:
            u = layer(u, gaps)
        asked = (targets.series, targets.places)
        mean, variance = self.mean(u)[asked], functional.elu(self.variance(u))[asked] + 1
        sums = normal_surprise(mean, variance, batch.labels, None, targets)
        return {"prediction": mean.unsqueeze(0), "task": sums / targets.points.clamp_min(1)}

    def loss(self, result, batch, weights):
        """The mean over series."""
        return weights["task"] * result["task"].mean()

    def links(self):
        """Where stroock has the parameters."""
        links = self.frames.links("frames") + linear("front", self.front)
        for i, layer in enumerate(self.layers):
            links += layer.links(f"layers.{i}")
        return within("S5", links + self.mean.links("task.network") + self.variance.links("variance"))
