"""The whole latent SDE in PyTorch, in three forms.

`plain` is the model as the paper's listing and the usual attention code have it, with matrix exponentials sliced in a
loop. `tuned` is the same model with less around it: the loop unbound, faster layers and optimiser. `best` also takes
over what stroock does otherwise: short padding, states decoded where there are targets only, only frames that are seen
encoded, and no matrix exponentials but Taylor terms of their action on the state.
"""

import torch
from torch import nn

from . import power_spherical
from .latent import PathModel, Paths
from .links import linear, same
from .path_listing import ListingPath
from .path_tuned import ActionPath, TunedPath

PATHS = {"plain": ListingPath, "tuned": TunedPath, "best": ActionPath}


class LatentSde(PathModel):
    """Paths on the sphere."""

    def __init__(self, protocol, form):
        super().__init__(protocol, form)
        latent = protocol["model"]["latent"]
        drift, n = latent["drift"], self.dim
        self.terms = drift["terms"]
        self.mu = nn.Linear(self.encoder.width, n)
        self.kappa = nn.Linear(self.encoder.width, 1)
        self.drift = nn.Linear(self.encoder.width, n * (n - 1) // 2 * self.terms)
        self.sigma = nn.Parameter(torch.tensor([latent["sigma"]]))
        self.path = PATHS[form](n, self.terms, drift["interval"])

    def paths(self, h, batch, samples, start=None, noise=None):
        """Paths from start points of the power spherical distribution."""
        mu = nn.functional.normalize(self.mu(h), dim=1)
        kappa = (100 * self.kappa(h).square()).clamp_max(50_000.0).squeeze(1)
        drift = self.drift(h).view(len(h), -1, self.terms)
        beside = {"h": h, "mu": mu, "kappa": kappa}
        kl_start = power_spherical.divergence(kappa, self.dim)
        if samples > 1:
            mu, kappa, drift = mu.repeat(samples, 1), kappa.repeat(samples), drift.repeat(samples, 1, 1)
        if start is None:
            start = power_spherical.draw(mu, kappa)
        else:
            start = power_spherical.replay(mu, kappa, start.flatten(0, 1))
        noise = None if noise is None else noise.flatten(0, 1)
        states, kl_path = self.path(start, drift, self.sigma.abs().clamp_min(1e-4), batch.times, noise)
        return Paths(states, kl_start, kl_path, beside)

    def links(self):
        """Where stroock has the parameters."""
        links = super().links() + same("process.sigma", self.sigma)
        for name in ("mu", "kappa", "drift"):
            links += linear("process." + name, getattr(self, name))
        return links
