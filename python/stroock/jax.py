"""Paths on homogeneous spaces as an operation of JAX, under `jit` and `grad`.

>>> import jax, jax.numpy as jnp, stroock.jax
>>> times = jnp.linspace(0.0, 1.0, 11)
>>> start = jnp.eye(3)[:1]
>>> def loss(drift, sigma):
...     states, divergence = stroock.jax.geometric_em(start, drift, sigma, times, seed=3)
...     return states[:, -1, 0].sum() + divergence.sum()
>>> gradient = jax.jit(jax.grad(loss))(jnp.ones((1, 10, 3)), 0.2)
>>> gradient.shape
(1, 10, 3)
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Optional, Sequence, Tuple, Union

import jax
import jax.numpy as jnp
import numpy as np

from . import _path, _stroock

if TYPE_CHECKING:
    from jax.typing import ArrayLike

__all__ = ["Path", "geometric_em"]


class Path(NamedTuple):
    """Simulated paths: states at the times, and the divergence of every path from the driftless prior."""

    states: jax.Array
    divergence: jax.Array


class _Settings(NamedTuple):
    """What is known when a function is traced; it can be hashed."""

    interval: Optional[Tuple[float, float]]
    at: Optional[Tuple[int, ...]]
    space: str
    scheme: str
    shapes: _path.Extents


def _arguments(settings: _Settings, start, drift, sigma, times, noise, seed):
    """Arrays as the library wants them, and what else it is told."""
    dtype = np.asarray(start).dtype
    array = lambda x: None if x is None else np.ascontiguousarray(x, dtype=dtype)  # noqa: E731
    low, high = (int(x) for x in np.asarray(seed))
    at = None if settings.at is None else list(settings.at)
    arrays = (array(start), array(drift), array(times), array(noise))
    rest = (float(sigma), settings.interval, low + (high << 32), at, settings.space, settings.scheme, False)
    return arrays + rest


def _forward(settings, *arguments):
    states, divergence, _ = _stroock.path_forward(*_arguments(settings, *arguments))
    return states.reshape(settings.shapes.states(settings.at)), divergence.reshape(settings.shapes.divergence())


def _backward(settings, of_states, of_divergence, *arguments):
    arguments = _arguments(settings, *arguments)
    start, drift = arguments[:2]
    cotangents = [np.ascontiguousarray(x, dtype=start.dtype) for x in (of_states, of_divergence)]
    of_start, of_drift, of_sigma = _stroock.path_pull_back(*arguments, *cotangents)
    return of_start.reshape(start.shape), of_drift.reshape(drift.shape), np.asarray(of_sigma, dtype=start.dtype)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _path_of(settings, start, drift, sigma, times, noise, seed):
    dtype = start.dtype
    shapes = settings.shapes
    results = (
        jax.ShapeDtypeStruct(shapes.states(settings.at), dtype),
        jax.ShapeDtypeStruct(shapes.divergence(), dtype),
    )
    return jax.pure_callback(partial(_forward, settings), results, start, drift, sigma, times, noise, seed)


def _path_forward(settings, *arguments):
    return _path_of(settings, *arguments), arguments


def _path_backward(settings, arguments, cotangents):
    start, drift, sigma, times, noise, seed = arguments
    results = tuple(jax.ShapeDtypeStruct(x.shape, start.dtype) for x in (start, drift, sigma))
    # The tape cannot leave the callback: the path is computed once more.
    gradients = jax.pure_callback(partial(_backward, settings), results, *cotangents, *arguments)
    zeros = [None if x is None else jnp.zeros_like(x) for x in (times, noise)]
    return (*gradients, *zeros, np.zeros(seed.shape, dtype=jax.dtypes.float0))


_path_of.defvjp(_path_forward, _path_backward)


def geometric_em(
    start: "ArrayLike",
    drift: "ArrayLike",
    sigma: "ArrayLike",
    times: "ArrayLike",
    *,
    interval: Optional[Tuple[float, float]] = None,
    noise: Optional["ArrayLike"] = None,
    seed: Union[int, jax.Array] = 0,
    at: Optional[Sequence[int]] = None,
    space: str = "sphere",
    scheme: str = "geometric-euler",
) -> Path:
    """Paths by the geometric Euler-Maruyama scheme, differentiable once in `start`, `drift` and `sigma`.

    The arguments are those of :func:`stroock.geometric_em`. `seed` is a whole number, or a key of `jax.random`, which may
    be traced; everything else but the arrays must be known when a function is compiled. The path itself runs on the CPU,
    called back from the compiled program. Under `vmap` paths are not batched: give all series in one call instead.
    """
    start = jnp.asarray(start)
    if start.dtype not in (jnp.float32, jnp.float64):
        start = start.astype(jnp.result_type(float))
    array = lambda x: jnp.asarray(x, dtype=start.dtype)  # noqa: E731
    drift, sigma, times = array(drift), array(sigma), array(times)
    if sigma.size != 1:
        raise _stroock.PathError(f"`sigma` is {tuple(sigma.shape)}, but it must be one number")
    noise = None if noise is None else jax.lax.stop_gradient(array(noise))
    times = jax.lax.stop_gradient(times)
    drift = _path.coefficients(drift, times.shape[0] - 1, space)
    shapes = _path.extents(start, drift, times, noise, interval, space, scheme)
    if isinstance(seed, (int, np.integer)):
        seed = _path.whole_seed(seed)
        words = np.array([seed & 0xFFFFFFFF, seed >> 32], dtype=np.uint32)
    else:
        words = seed
        if jnp.issubdtype(words.dtype, jax.dtypes.prng_key):
            words = jax.random.key_data(words)
        words = words.reshape(-1)[-2:].astype(jnp.uint32)
    interval = None if interval is None else (float(interval[0]), float(interval[1]))
    at = None if at is None else tuple(int(index) for index in at)
    settings = _Settings(interval, at, space, scheme, shapes)
    return Path(*_path_of(settings, start, drift, sigma, times, noise, jnp.asarray(words)))
