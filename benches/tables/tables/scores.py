"""Scores of predictions, the same for every contestant."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

# The middles of 30 equal parts of [0, 1]. The ends of the intervals that hold 50 % and 90 % are among them.
LEVELS = tuple(round((2 * k + 1) / 60, 6) for k in range(30))
INTERVALS = {"in50": (0.25, 0.75), "in90": (0.05, 0.95)}
# The least probability that a class is taken to have.
LEAST = 1e-6


@dataclass
class Predictions:
    """Means `[n]`, and quantiles `[n, LEVELS]` where there is a distribution."""

    mean: np.ndarray
    quantiles: np.ndarray | None = None

    @classmethod
    def gaussian(cls, mean, sd):
        """Normal distributions."""
        mean, sd = np.asarray(mean, float), np.asarray(sd, float)
        return cls(mean, mean[:, None] + sd[:, None] * norm.ppf(LEVELS)[None, :])

    def take(self, rows):
        """Some of them."""
        return Predictions(self.mean[rows], None if self.quantiles is None else self.quantiles[rows])


def pinball(true, quantiles):
    """The mean pinball loss over LEVELS, twice: the CRPS of the distribution, by the midpoint rule. `[n]`."""
    levels = np.asarray(LEVELS)
    above = quantiles - true[:, None]
    return 2.0 * np.mean(np.where(above > 0, 1.0 - levels, -levels) * above, axis=1)


def regression(true, predictions, scale):
    """Errors in units of `scale` `[n]`, pooled over all values. Without a distribution the CRPS is the MAE."""
    true, scale = np.asarray(true, float), np.broadcast_to(np.asarray(scale, float), np.shape(true))
    error = (predictions.mean - true) / scale
    found = {
        "count": int(true.size),
        "mse": float(np.mean(error**2)),
        "rmse": float(np.sqrt(np.mean(error**2))),
        "mae": float(np.mean(np.abs(error))),
    }
    if predictions.quantiles is None:
        return found | {"crps": found["mae"]}
    found["crps"] = float(np.mean(pinball(true, predictions.quantiles) / scale))
    for name, ends in INTERVALS.items():
        low, high = (predictions.quantiles[:, LEVELS.index(end)] for end in ends)
        found[name] = float(np.mean((low <= true) & (true <= high)))
    return found


def seasonal_scale(train, period):
    """The mean absolute error of the seasonal naive forecast in the training part: the scale of the MASE.

    Gaps (NaN) are left out.
    """
    train = np.asarray(train, float)
    return float(np.nanmean(np.abs(train[period:] - train[:-period])))


def classification(true, classes, probabilities):
    """Accuracy and log loss. `probabilities [n, classes]` or, of who only names classes, indices `[n]`."""
    index = {name: number for number, name in enumerate(classes)}
    true = np.array([index[name] for name in true])
    if np.ndim(probabilities) == 1:
        return {"count": len(true), "accuracy": float(np.mean(probabilities == true))}
    probabilities = np.asarray(probabilities, float)
    of_true = np.maximum(probabilities[np.arange(len(true)), true], LEAST)
    return {
        "count": len(true),
        "accuracy": float(np.mean(probabilities.argmax(1) == true)),
        "log_loss": float(-np.mean(np.log(of_true))),
    }
