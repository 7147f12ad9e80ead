"""mTAND-ODE and CNN-ODE: a normal start point, and a path by the drift of a network.

`plain` calls torchdiffeq's Euler scheme, with gradients through its operations. `best` has a loop of its own with the
backward pass of `euler_adjoint`, beside the shorter encoder and decoder.
"""

import torch
from torch import nn

from . import euler_adjoint, normal_start
from .images import Mlp
from .latent import PathModel, Paths
from .links import linear, within


class LatentOde(PathModel):
    """Paths in R^n without noise."""

    def __init__(self, protocol, form):
        super().__init__(protocol, form)
        latent, width = protocol["model"]["latent"], self.encoder.width
        self.mean = nn.Linear(width, self.dim)
        self.ln_variance = nn.Linear(width, self.dim)
        self.drift = Mlp(self.dim, self.dim, {"hidden": latent["hidden"], "activation": "elu"})

    def paths(self, h, batch, samples, start=None, noise=None):
        """Paths from normal start points."""
        mean, ln_scale = self.mean(h), 0.5 * self.ln_variance(h)
        z = normal_start.points(mean, ln_scale, samples, start).flatten(0, 1)
        states = self.flow(z, batch.times).transpose(0, 1)
        kl_start = normal_start.divergence_from_standard(mean, ln_scale)
        return Paths(states, kl_start, torch.zeros(len(z)))

    def flow(self, z, times):
        """States [T + 1, M, n] from z [M, n]."""
        if self.sparse:
            first = self.drift[0]
            offsets = first.bias.expand(len(z), -1)
            return euler_adjoint.path("elu", self.drift, torch.diff(times), z, offsets, first.weight)
        from torchdiffeq import odeint

        return odeint(lambda t, z: self.drift(z), z, times, method="euler")

    def forward(self, *arguments):
        return with_mean(super().forward(*arguments), self.is_gaussian)

    def links(self):
        """Where stroock has the parameters."""
        links = super().links() + self.drift.links("process.drift")
        links += linear("process.mean", self.mean) + linear("process.ln_variance", self.ln_variance)
        return within("LatentOde", links)


def with_mean(result, is_gaussian):
    """A result under the names of the records of rivals, which have means of observations."""
    output = result.pop("output")
    result["mean"] = output if is_gaussian else torch.sigmoid(output.detach())
    return result
