"""Rivals in R^n with the paper's drift: a latent SDE by torchsde or diffrax, a latent ODE by torchdiffeq.

They are other models, so there are no numbers to agree on; steps, series, dimension and the gradient of every state are
the same. The drift is the paper's: three layers with ELU and 32 hidden units. The SDE has a diagonal diffusion and a
driftless prior, and its divergence is integrated beside the state.
"""

import torch
from torch import nn

HIDDEN = 32
SIGMA = 0.1


class Drift(nn.Module):
    """The drift of a latent ODE."""

    def __init__(self, dim):
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(dim, HIDDEN), nn.ELU(), nn.Linear(HIDDEN, HIDDEN), nn.ELU(), nn.Linear(HIDDEN, dim)
        )

    def forward(self, t, y):
        return self.network(y)


class LatentSde(Drift):
    """Posterior drift f, prior drift h and diffusion g, as torchsde asks for them."""

    noise_type, sde_type = "diagonal", "ito"

    def __init__(self, dim):
        super().__init__(dim)
        self.sigma = nn.Parameter(torch.full((dim,), SIGMA))

    def f(self, t, y):
        return self.network(y)

    def h(self, t, y):
        return torch.zeros_like(y)

    def g(self, t, y):
        return self.sigma.expand_as(y)


def torchsde_pass(start, times, of_states):
    """Forward and backward by torchsde's Euler scheme, with the divergence of the path."""
    import torchsde

    sde = LatentSde(start.shape[1])
    dt = float(times[1] - times[0])

    def run():
        sde.zero_grad(set_to_none=True)
        z = start.detach().requires_grad_()
        # The divergence is one more coordinate, with noise that is not used.
        size = (len(z), z.shape[1] + 1)
        motion = torchsde.BrownianInterval(float(times[0]), float(times[-1]), size=size, dt=dt)
        states, log_ratio = torchsde.sdeint(sde, z, times, bm=motion, method="euler", dt=dt, logqp=True)
        ((states * of_states).sum() + log_ratio.sum()).backward()

    return run


def torchdiffeq_pass(start, times, of_states):
    """Forward and backward by torchdiffeq's Euler scheme, through the operations of the solver."""
    from torchdiffeq import odeint

    drift = Drift(start.shape[1])

    def run():
        drift.zero_grad(set_to_none=True)
        z = start.detach().requires_grad_()
        (odeint(drift, z, times, method="euler") * of_states).sum().backward()

    return run


def diffrax_pass(start, times, of_states):
    """Forward and backward by diffrax's Euler scheme, compiled."""
    import diffrax
    import equinox
    import jax
    import jax.numpy as jnp
    import lineax

    steps, (series, dim) = len(times) - 1, start.shape
    # As coarse as the scheme allows: the tree is refined to the steps and no further.
    tol = 0.5 * float(times[1] - times[0])
    start, of_states, times = (jnp.asarray(x.numpy()) for x in (start, of_states, times))
    network = equinox.nn.MLP(dim, dim, HIDDEN, 2, jax.nn.elu, key=jax.random.key(0))
    parameters = (network, jnp.full((dim,), SIGMA), start)

    def loss(parameters, key):
        network, sigma, z = parameters

        def drift(t, state, _):
            f = jax.vmap(network)(state[:, :dim])
            return jnp.concatenate([f, 0.5 * jnp.square(f / sigma).sum(1, keepdims=True)], 1)

        # The divergence is one more coordinate, without noise.
        scale = jnp.broadcast_to(jnp.append(sigma, 0.0), (series, dim + 1))
        noise = diffrax.VirtualBrownianTree(times[0], times[-1], tol, (series, dim + 1), key)
        diffusion = diffrax.ControlTerm(lambda t, state, _: lineax.DiagonalLinearOperator(scale), noise)
        terms = diffrax.MultiTerm(diffrax.ODETerm(drift), diffusion)
        solution = diffrax.diffeqsolve(
            terms,
            diffrax.Euler(),
            times[0],
            times[-1],
            None,
            jnp.concatenate([z, jnp.zeros((series, 1))], 1),
            stepsize_controller=diffrax.StepTo(times),
            saveat=diffrax.SaveAt(ts=times),
            max_steps=steps,
            adjoint=diffrax.RecursiveCheckpointAdjoint(checkpoints=steps),
        )
        states = solution.ys
        return jnp.vdot(states[:, :, :dim], of_states) + states[-1, :, dim].sum()

    step = equinox.filter_jit(equinox.filter_grad(loss))
    keys = iter(range(1 << 30))

    def run():
        jax.block_until_ready(jax.tree.leaves(step(parameters, jax.random.key(next(keys)))))

    return run
