"""A Gaussian process for each variable, with parameters of the greatest likelihood of the visible values."""

import numpy as np
from scipy.optimize import minimize

from ..hide import groups
from ..scores import Predictions
from .kalman import log_density, smoothed

# So many visible values are enough for five parameters; they are drawn as pieces of at most so many.
ENOUGH, PIECE = 16_000, 256


def fill(table, visible, hidden, seed):
    """Normal distributions of hidden values, given the visible ones of the variable in the series."""
    values = table.values
    mean, sd = np.full(values.shape, np.nan), np.full(values.shape, np.nan)
    rows_of = groups(table.series)
    for variable in np.flatnonzero(hidden.any(0)):
        seen = values[visible[:, variable], variable]
        centre, scale = seen.mean(), max(seen.std(), 1e-9)
        standard = (values[:, variable] - centre) / scale
        pieces = [rows[visible[rows, variable]] for rows in rows_of]
        smooth, theta = fit(table.times, standard, pieces, seed)
        for rows in rows_of:
            if not hidden[rows, variable].any():
                continue
            rows = rows[visible[rows, variable] | hidden[rows, variable]]
            known = np.where(visible[rows, variable], standard[rows], np.nan)
            at, variance = smoothed(table.times[rows], known, smooth, theta)
            asked = hidden[rows, variable]
            mean[rows[asked], variable] = centre + scale * at[asked]
            sd[rows[asked], variable] = scale * np.sqrt(variance[asked])
    return Predictions.gaussian(mean[hidden], sd[hidden])


def fit(times, values, pieces, seed):
    """Smoothness and parameters of the greatest likelihood."""
    draw = np.random.default_rng([seed, 3])
    short = [piece[first : first + PIECE] for piece in pieces for first in range(0, piece.size, PIECE)]
    short = [short[number] for number in draw.permutation(len(short)) if short[number].size]
    sizes = np.cumsum([piece.size for piece in short])
    short = short[: int(np.searchsorted(sizes, ENOUGH)) + 1]
    rows = np.concatenate(short)
    starts = np.concatenate([[0], np.cumsum([piece.size for piece in short])])
    gaps = np.concatenate([np.diff(times[piece]) for piece in short] or [np.ones(1)])
    gap = float(np.median(gaps)) if gaps.size else 1.0
    best = None
    for smooth in (False, True):

        def loss(logs):
            return -log_density(times[rows], values[rows], starts, smooth, np.exp(logs)) / rows.size

        begin = np.log([0.5, 5 * gap, 0.5, 100 * gap, 0.05])
        low = np.log([1e-4, 0.05 * gap, 1e-4, 0.5 * gap, 1e-6])
        high = np.log([1e2, 1e4 * gap, 1e2, 1e5 * gap, 1e1])
        found = minimize(
            loss, begin, method="L-BFGS-B", bounds=list(zip(low, high)), options={"maxiter": 40, "maxfun": 300}
        )
        if best is None or found.fun < best[0]:
            best = (found.fun, smooth, np.exp(found.x))
    return best[1], best[2]
