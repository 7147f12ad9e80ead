"""Paths on homogeneous spaces, on NumPy arrays; `stroock.torch` and `stroock.jax` are made of the same parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Sequence, Tuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

from . import _stroock


class Path(NamedTuple):
    """Simulated paths: states at the times, and the divergence of every path from the driftless prior."""

    states: np.ndarray
    divergence: np.ndarray


def algebra_dim(n: int, space: str = "sphere", scheme: str = "geometric-euler") -> int:
    """How many numbers a drift has in ambient dimension `n`.

    >>> import stroock
    >>> stroock.algebra_dim(16)
    120
    """
    return _stroock.drift_len(space, scheme, n)


def triangle(n: int) -> Tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the strictly lower triangle, row by row: where the coefficients of a skew matrix stand."""
    return np.tril_indices(n, -1)


class Extents(NamedTuple):
    """What the shapes of the arguments say."""

    samples: Optional[int]
    series: int
    dim: int
    times: int
    steps: int

    def states(self, at: Optional[Sequence[int]]) -> Tuple[int, ...]:
        """The shape of the states."""
        count = self.times if at is None else len(at)
        shape = (self.series, count, self.dim)
        return shape if self.samples is None else (self.samples, *shape)

    def divergence(self) -> Tuple[int, ...]:
        """The shape of the divergences."""
        return (self.series,) if self.samples is None else (self.samples, self.series)


def extents(
    start: Any,
    drift: Any,
    times: Any,
    noise: Any,
    interval: Optional[Tuple[float, float]],
    space: str,
    scheme: str,
) -> Extents:
    """Checks the shapes of arguments, which may be arrays of any framework."""
    if start.ndim not in (2, 3):
        raise _stroock.PathError(
            f"`start` is {tuple(start.shape)}, but it must be [series, n] or [samples, series, n]"
        )
    samples = start.shape[0] if start.ndim == 3 else None
    series, dim = start.shape[-2:]
    if times.ndim != 1 or times.shape[0] < 1:
        raise _stroock.PathError(f"`times` is {tuple(times.shape)}, but it must be a list of at least one time")
    steps = times.shape[0] - 1
    numbers = _stroock.drift_len(space, scheme, dim)
    wanted = (series, numbers, None) if interval is not None else (series, steps, numbers)
    words = "[series, m, polynomials]" if interval is not None else "[series, steps, m] (or of matrices)"
    fits = drift.ndim == 3 and all(w is None or w == d for w, d in zip(wanted, drift.shape))
    if not fits:
        raise _stroock.PathError(
            f"`drift` is {tuple(drift.shape)}, but it must be {words}, with {series} series, {steps} steps and m = {numbers}"
        )
    if noise is not None:
        normals = dim if scheme != "geometric-euler" else numbers
        shape = (series, steps, normals) if samples is None else (samples, series, steps, normals)
        if tuple(noise.shape) != shape:
            raise _stroock.PathError(f"`noise` is {tuple(noise.shape)}, but it must be {shape}")
    return Extents(samples, series, dim, times.shape[0], steps)


def whole_seed(seed: int) -> int:
    """A seed that fits into 64 bits."""
    if not 0 <= int(seed) < 2**64:
        raise _stroock.PathError(f"`seed` is {seed}, but it must be a whole number from 0 below 2**64")
    return int(seed)


def geometric_em(
    start: "ArrayLike",
    drift: "ArrayLike",
    sigma: float,
    times: "ArrayLike",
    *,
    interval: Optional[Tuple[float, float]] = None,
    noise: Optional["ArrayLike"] = None,
    seed: int = 0,
    at: Optional[Sequence[int]] = None,
    space: str = "sphere",
    scheme: str = "geometric-euler",
) -> Path:
    r"""Paths by the geometric Euler-Maruyama scheme, `z_{j+1} = exp(K_j dt_j + sigma sqrt(dt_j) xi_j) z_j`.

    Parameters
    ----------
    start
        Points on the space, `[series, n]` or `[samples, series, n]`; float32 or float64 decides for everything.
    drift
        The drift `K` at the start of every step, `[series, steps, m]` in coefficients over the basis of the Lie algebra
        (on the sphere the strictly lower triangle row by row) or as skew matrices `[series, steps, n, n]`. With
        `interval`, coefficients `[series, m, polynomials]` of Chebyshev polynomials of time on that interval.
    sigma
        Scale of the diffusion.
    times
        Increasing times, `[steps + 1]`.
    noise
        Standard normals `[series, steps, m]` (with samples `[samples, series, steps, m]`); without them the noise is a
        function of `seed`, the series, the sample and the step.
    at
        Indices of times at which states are wanted; all by default.
    space
        `"sphere"`, `"general-linear"` or `"hyperbolic"`.
    scheme
        `"geometric-euler"`, or `"tangent-noise"` with `n` normals a step.

    Returns
    -------
    Path
        `states` `[series, times, n]` and `divergence` `[series]`, with a first axis of samples if `start` has one.

    >>> import numpy as np, stroock
    >>> times = np.linspace(0.0, 1.0, 11)
    >>> start = np.array([[1.0, 0.0, 0.0]])
    >>> turn = np.zeros((1, 10, 3)); turn[..., 0] = np.pi / 2        # about the third axis
    >>> states, divergence = stroock.geometric_em(start, turn, 1e-9, times)
    >>> np.round(states[0, -1], 6) + 0.0
    array([0., 1., 0.])
    """
    dtype = np.float32 if np.asarray(start).dtype == np.float32 else np.float64

    def array(x: "ArrayLike") -> np.ndarray:
        return np.require(x, dtype, ["C", "A"])

    points, grid = array(start), array(times)
    normals = None if noise is None else array(noise)
    turns = array(coefficients(array(drift), grid.shape[0] - 1, space))
    shapes = extents(points, turns, grid, normals, interval, space, scheme)
    wanted = None if at is None else [int(index) for index in at]
    is_reversible = scheme == "geometric-euler"
    states, divergence, _ = _stroock.path_forward(
        points, turns, grid, normals, float(sigma), interval, whole_seed(seed), wanted, space, scheme, is_reversible
    )
    return Path(states.reshape(shapes.states(wanted)), divergence.reshape(shapes.divergence()))


def coefficients(drift: Any, steps: int, space: str) -> Any:
    """The coefficients of drifts that are matrices; others stay as they are. For arrays of any framework.

    The published code has a matrix at every time; that of the last one moves nothing.
    """
    if drift.ndim != 4:
        return drift
    if drift.shape[-1] != drift.shape[-2]:
        raise _stroock.PathError(f"`drift` is {tuple(drift.shape)}, but matrices must be square")
    drift = drift[:, :steps]
    if space == "general-linear":
        return drift.reshape(*drift.shape[:2], -1)
    if space != "sphere":
        raise _stroock.PathError("matrices as `drift` are for the sphere and for GL(n); give coefficients")
    rows, columns = triangle(drift.shape[-1])
    # Half the difference: the gradient is a skew matrix, as the drift is.
    return 0.5 * (drift[..., rows, columns] - drift[..., columns, rows])
