"""mTAND-SDE and CNN-SDE: the latent SDE in R^n of Li et al. (2020), whose context is the representation of a series.

`plain` is written as torchsde's example of a latent SDE is: one network for every coordinate of the diffusion, and
`sdeint` with the divergence beside the state. `best` has a loop of its own with the backward pass of `euler_adjoint`;
the divergence is computed for all steps at once.
"""

import torch
from torch import nn
from torch.nn import functional

from . import euler_adjoint, normal_start
from .images import Mlp
from .latent import PathModel, Paths
from .links import linear, same, within
from .rival_latent_ode import with_mean

# Smallest diffusion that a difference of drifts is divided by.
FLOOR = 1e-7


class CoordinateNetworks(nn.Module):
    """The diffusion as a list of networks."""

    def __init__(self, dim, hidden):
        super().__init__()
        self.networks = nn.ModuleList(
            nn.Sequential(nn.Linear(1, hidden), nn.Softplus(), nn.Linear(hidden, 1), nn.Sigmoid()) for _ in range(dim)
        )

    def forward(self, z):
        columns = torch.split(z, 1, dim=1)
        return torch.cat([network(column) for network, column in zip(self.networks, columns)], 1)

    def links(self, name):
        """Where stroock has the parameters."""

        def part(parameter, of_part, row):
            return [(f"{name}.{of_part}", parameter, lambda of: of(f"{name}.{of_part}")[row].view(parameter.shape))]

        links = []
        for row, (inner, _, outer, _) in enumerate(self.networks):
            links += part(inner.weight, "weight", row) + part(inner.bias, "bias", row)
            links += part(outer.weight, "outer_weight", row) + part(outer.bias, "outer_bias", row)
        return links


class StackedNetworks(nn.Module):
    """The same networks side by side, of states [.., n]."""

    def __init__(self, dim, hidden):
        super().__init__()
        self.weight, self.bias, self.outer_weight = (nn.Parameter(torch.zeros(dim, hidden)) for _ in range(3))
        self.outer_bias = nn.Parameter(torch.zeros(dim))

    def forward(self, z):
        units = functional.softplus(torch.addcmul(self.bias, z.unsqueeze(-1), self.weight))
        return torch.sigmoid((units * self.outer_weight).sum(-1) + self.outer_bias)

    def links(self, name):
        """Where stroock has the parameters."""
        parts = ("weight", "bias", "outer_weight", "outer_bias")
        return [link for part in parts for link in same(f"{name}.{part}", getattr(self, part))]


class NeuralSde(PathModel):
    """Paths in R^n that are driven by diagonal noise."""

    # As torchsde asks for it.
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self, protocol, form):
        super().__init__(protocol, form)
        latent, width, n = protocol["model"]["latent"], self.encoder.width, self.dim
        layers = {"hidden": latent["hidden"], "activation": "softplus"}
        self.mean, self.ln_scale_of = nn.Linear(width, n), nn.Linear(width, n)
        self.drift, self.prior = Mlp(n + width, n, layers), Mlp(n, n, layers)
        self.diffusion = (StackedNetworks if self.sparse else CoordinateNetworks)(n, latent["diffusion_hidden"])
        self.prior_mean, self.prior_ln_scale = (nn.Parameter(torch.zeros(n)) for _ in range(2))
        self.context = None

    def paths(self, h, batch, samples, start=None, noise=None):
        """Paths from normal start points."""
        mean, ln_scale = self.mean(h), self.ln_scale_of(h)
        z = normal_start.points(mean, ln_scale, samples, start).flatten(0, 1)
        noise = None if noise is None else noise.flatten(0, 1)
        walk = self.own_loop if self.sparse else self.by_torchsde
        states, kl_path = walk(z, h.repeat(samples, 1) if samples > 1 else h, batch, noise)
        kl_start = normal_start.divergence(mean, ln_scale, self.prior_mean, self.prior_ln_scale)
        return Paths(states.transpose(0, 1), kl_start, kl_path)

    def f(self, t, z):
        """Drift of the posterior."""
        return self.drift(torch.cat([z, self.context], 1))

    def h(self, t, z):
        """Drift of the prior."""
        return self.prior(z)

    def g(self, t, z):
        """Diffusion of both."""
        return self.diffusion(z)

    def by_torchsde(self, z, context, batch, noise):
        """States [T + 1, M, n] and divergences [M] by torchsde."""
        import torchsde

        self.context = context
        grid = batch.grid
        begin, end = float(grid[0]), float(grid[-1])
        dt = (end - begin) / (len(grid) - 1)
        # The divergence is one more coordinate, with noise that is not used.
        size = (len(z), self.dim + 1)
        if noise is None:
            motion = torchsde.BrownianInterval(begin, end, size=size, dt=dt)
        else:
            motion = replayed_motion(grid, noise)
        states, divergence = torchsde.sdeint(self, z, grid, bm=motion, method="euler", dt=dt, logqp=True)
        return states, divergence.sum(0)

    def own_loop(self, z, context, batch, noise):
        """The same in a loop of our own."""
        steps = torch.diff(batch.times)
        noise = torch.randn(len(steps), *z.shape) if noise is None else noise.transpose(0, 1)
        increments = noise * steps.sqrt()[:, None, None]
        first = self.drift[0]
        of_state, of_context = first.weight.split((self.dim, context.shape[1]), 1)
        offsets = functional.linear(context, of_context, first.bias)
        driving = (self.diffusion, increments)
        states = euler_adjoint.path("softplus", self.drift, steps, z, offsets, of_state, driving)
        before = states[:-1]
        drift = self.drift.after_first(functional.linear(before, of_state) + offsets)
        ratio = (drift - self.prior(before)) / self.diffusion(before).clamp_min(FLOOR)
        return states, 0.5 * torch.mv(ratio.square().sum(2).T, steps)

    def forward(self, *arguments):
        return with_mean(super().forward(*arguments), self.is_gaussian)

    def links(self):
        """Where stroock has the parameters."""
        links = super().links() + self.diffusion.links("process.diffusion")
        links += linear("process.mean", self.mean) + linear("process.ln_scale", self.ln_scale_of)
        links += self.drift.links("process.drift") + self.prior.links("process.prior")
        links += same("process.prior_mean", self.prior_mean) + same("process.prior_ln_scale", self.prior_ln_scale)
        return within("NeuralSde", links)


def replayed_motion(grid, noise):
    """A Brownian motion through given normals [M, T, n] on a grid, straight between its points."""
    steps = torch.diff(grid)
    increments = noise.double() * steps.sqrt()[:, None]
    path = functional.pad(increments.cumsum(1), (0, 1, 1, 0))

    class Replayed:
        dtype, device, shape = torch.float32, torch.device("cpu"), torch.Size((len(noise), noise.shape[2] + 1))
        levy_area_approximation = "none"

        def __call__(self, ta, tb=None, return_U=False, return_A=False):
            return (self.at(float(tb)) - self.at(float(ta))).float()

        def at(self, t):
            j = min(max(int(torch.searchsorted(grid, t, right=True)) - 1, 0), len(steps) - 1)
            share = (t - float(grid[j])) / float(steps[j])
            return torch.lerp(path[:, j], path[:, j + 1], share)

    return Replayed()
