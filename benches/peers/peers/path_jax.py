"""The path in JAX: one compiled scan over the steps, forward and backward.

The exponential is never built. A step is a Taylor series of matrix-vector products, with as many terms as a bound of
the norm of all increments asks for.
"""

import jax
import jax.numpy as jnp
import numpy

from . import lie_algebra
from .path_tuned import taylor_terms


class JaxPath:
    """Geometric Euler-Maruyama on the sphere: value and gradients by start, drift and sigma."""

    def __init__(self, dim, terms, interval, times, taylor):
        times = numpy.asarray(times)
        import torch

        polynomials = lie_algebra.chebyshev(torch.from_numpy(times[:-1]), terms, interval)
        self.polynomials = jnp.asarray(polynomials.numpy())
        self.basis = jnp.asarray(lie_algebra.basis(dim).flatten(1).numpy())
        self.steps = jnp.asarray(numpy.diff(times))
        self.dim, self.taylor = dim, taylor
        self.pull_back = jax.jit(jax.value_and_grad(self.loss, argnums=(0, 1, 2), has_aux=True))
        self.draw_and_pull_back = jax.jit(self.with_noise)

    def simulate(self, start, drift, sigma, noise):
        """States [T + 1, B, n] and divergences [B]; noise is [T, B, m]."""
        coefficients = jnp.einsum("tk,bmk->tbm", self.polynomials, drift)
        dt = self.steps[:, None, None]
        increments = (coefficients * dt + noise * (jnp.sqrt(dt) * sigma)) @ self.basis
        shape = (len(start), self.dim, self.dim)

        # Computing a step again in the backward pass is cheaper than reading back all that it made.
        @jax.checkpoint
        def step(z, inputs):
            omega, k, dt = inputs
            omega = omega.reshape(shape)
            speed = jnp.sum(jnp.square(apply(k.reshape(shape), z)), -1) * dt
            term = total = z
            for degree in range(1, self.taylor + 1):
                term = apply(omega, term) / degree
                total = total + term
            return total, (total, speed)

        _, (states, speeds) = jax.lax.scan(step, start, (increments, coefficients @ self.basis, self.steps))
        return jnp.concatenate([start[None], states]), speeds.sum(0) / (2 * sigma**2)

    def loss(self, start, drift, sigma, noise, of_states):
        """<of_states, states> + sum of divergences, and both."""
        states, kl = self.simulate(start, drift, sigma, noise)
        return jnp.vdot(of_states, states) + kl.sum(), (states, kl)

    def with_noise(self, key, start, drift, sigma, of_states):
        """Fresh noise, then the gradients."""
        shape = (len(self.steps), len(start), len(self.basis))
        noise = jax.random.normal(key, shape, dtype=jnp.float32)
        (loss, _), gradients = jax.value_and_grad(self.loss, argnums=(0, 1, 2), has_aux=True)(
            start, drift, sigma, noise, of_states
        )
        return loss, gradients


def apply(matrix, vector):
    """Matrix times vector for every series."""
    return jnp.einsum("bij,bj->bi", matrix, vector)


def terms_for(record):
    """Taylor terms for the increments of a record."""
    import torch

    settings, times = record.setting("path"), record["grid.times"]
    polynomials = lie_algebra.chebyshev(times[:-1], settings["terms"], settings["interval"])
    dt = times.diff()[None, :, None]
    drift = torch.einsum("bmk,tk->btm", record["drift"], polynomials)
    omega = drift * dt + settings["sigma"] * dt.sqrt() * record["noise"][0]
    # |Omega|_F^2 = 2 sum of squares of the coefficients; other noise may be somewhat longer.
    return taylor_terms(1.1 * float((2 * omega.square().sum(2)).amax().sqrt()))
