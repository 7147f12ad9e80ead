"""Paths inside JAX."""

import numpy as np
import pytest

import stroock

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

import stroock.jax  # noqa: E402
from stroock.jax import geometric_em  # noqa: E402

N, SERIES, STEPS = 4, 3, 6
M = stroock.algebra_dim(N)


@pytest.fixture(autouse=True)
def double():
    jax.config.update("jax_enable_x64", True)


def problem():
    random = np.random.default_rng(0)
    point = random.normal(size=(SERIES, N))
    drift = random.normal(size=(SERIES, STEPS, M))
    return point, drift, np.linspace(0, 1, STEPS + 1), random.normal(size=(SERIES, STEPS, M))


def unit(x):
    return x / jnp.linalg.norm(x, axis=-1, keepdims=True)


def test_numbers_are_those_of_numpy_with_and_without_jit():
    point, drift, times, noise = problem()
    start = np.asarray(unit(point))
    expected = stroock.geometric_em(start, drift, 0.4, times, noise=noise)
    for run in (geometric_em, jax.jit(geometric_em)):
        states, divergence = run(start, drift, 0.4, times, noise=noise)
        np.testing.assert_array_equal(states, expected.states)
        np.testing.assert_array_equal(divergence, expected.divergence)


def test_gradients_are_those_of_differences_under_jit():
    point, drift, times, noise = problem()
    weights = np.random.default_rng(1).normal(size=(SERIES, STEPS + 1, N))

    def loss(point, drift, sigma):
        states, divergence = geometric_em(unit(point), drift, sigma, times, noise=noise)
        return (states * weights).sum() + divergence.sum()

    gradients = jax.jit(jax.grad(loss, (0, 1, 2)))(point, drift, 0.4)
    arguments = [point, drift, np.array(0.4)]
    for k, (argument, gradient) in enumerate(zip(arguments, gradients)):
        for place in [0, argument.size // 2, argument.size - 1]:
            values = []
            for sign in (1, -1):
                moved = [x.copy() for x in arguments]
                moved[k].reshape(-1)[place] += sign * 1e-6
                values.append(float(loss(*moved)))
            difference = (values[0] - values[1]) / 2e-6
            assert np.asarray(gradient).reshape(-1)[place] == pytest.approx(difference, rel=1e-6, abs=1e-6)


def test_keys_are_seeds_also_when_traced():
    point, drift, times, _ = problem()
    run = jax.jit(lambda key: geometric_em(unit(point), drift, 0.4, times, seed=key).states)
    first, again, other = [run(jax.random.key(seed)) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(first, again)
    assert np.abs(np.asarray(first) - np.asarray(other)).max() > 1e-3
    seeded = geometric_em(unit(point), drift, 0.4, times, seed=9).states
    expected = stroock.geometric_em(np.asarray(unit(point)), drift, 0.4, times, seed=9).states
    np.testing.assert_array_equal(seeded, expected)


def test_single_precision_and_polynomials():
    point, _, times, _ = problem()
    coefficients = np.random.default_rng(2).normal(size=(SERIES, M, 3)).astype(np.float32)
    start = np.asarray(unit(point), dtype=np.float32)
    loss = lambda c: geometric_em(start, c, 0.4, times, interval=(0.0, 2.0), seed=1).states.sum()  # noqa: E731
    gradient = jax.grad(loss)(coefficients)
    assert gradient.dtype == jnp.float32 and gradient.shape == coefficients.shape


def test_what_cannot_be_computed_is_said():
    point, drift, times, _ = problem()
    with pytest.raises(stroock.PathError, match="m = 6"):
        geometric_em(unit(point), drift[..., :5], 0.4, times)
