"""The rivals of our own writing against direct computations."""

import numpy as np
import pandas as pd
import pytest

from tables.imputation import gaussian_process, lines
from tables.imputation.kalman import log_density, smoothed
from tables.imputation.sets import Table


def kernel(times, smooth, theta):
    """The covariance of the process at all pairs of times."""
    a, l, b, m, _ = theta
    gap = np.abs(times[:, None] - times[None, :])
    quick = a * (1 + np.sqrt(3) * gap / l) * np.exp(-np.sqrt(3) * gap / l) if smooth else a * np.exp(-gap / l)
    return quick + b * np.exp(-gap / m)


@pytest.mark.parametrize("smooth", [False, True])
def test_filter_and_smoother_are_the_gaussian_process(smooth):
    """Likelihood, means and variances by the covariance matrix."""
    draw = np.random.default_rng(1)
    times, values = np.sort(draw.random(40) * 10), draw.normal(size=40)
    theta = np.array([0.7, 0.8, 0.5, 6.0, 0.1])
    whole = kernel(times, smooth, theta) + 0.1 * np.eye(40)
    _, logs = np.linalg.slogdet(whole)
    exact = -0.5 * (values @ np.linalg.solve(whole, values) + logs + 40 * np.log(2 * np.pi))
    starts = np.array([0, 40])
    assert log_density(times, values, starts, smooth, theta) == pytest.approx(exact, rel=1e-9)

    hidden = draw.random(40) < 0.3
    known = np.where(hidden, np.nan, values)
    mean, variance = smoothed(times, known, smooth, theta)
    across, within = kernel(times, smooth, theta)[np.ix_(hidden, ~hidden)], whole[np.ix_(~hidden, ~hidden)]
    assert mean[hidden] == pytest.approx(across @ np.linalg.solve(within, values[~hidden]), abs=1e-6)
    left = np.diag(whole[np.ix_(hidden, hidden)] - across @ np.linalg.solve(within, across.T))
    assert variance[hidden] == pytest.approx(left, abs=1e-6)


def test_series_are_independent():
    """Their log densities add up."""
    draw = np.random.default_rng(2)
    times, values = np.concatenate([np.arange(9.0), np.arange(5.0)]), draw.normal(size=14)
    theta = np.array([0.7, 0.8, 0.5, 6.0, 0.1])
    both = log_density(times, values, np.array([0, 9, 14]), True, theta)
    first = log_density(times[:9], values[:9], np.array([0, 9]), True, theta)
    second = log_density(times[9:], values[9:], np.array([0, 5]), True, theta)
    assert both == pytest.approx(first + second)


def walk(count):
    """An Ornstein-Uhlenbeck process of unit variance and scale 10, with values on even rows hidden."""
    draw = np.random.default_rng(3)
    keep = np.exp(-0.1)
    values = [draw.normal()]
    for _ in range(count - 1):
        values.append(keep * values[-1] + np.sqrt(1 - keep**2) * draw.normal())
    frame = pd.DataFrame({"time": np.arange(count), "x": values})
    table = Table("walk", "", frame, ["x"], np.zeros(count, int), np.arange(count, dtype=float), 1.0)
    hidden = (np.arange(count) % 2 == 0)[:, None]
    return table, ~hidden, hidden, np.array(values)


def test_gaussian_process_finds_what_the_data_are():
    """The error of the best prediction of an OU process between two neighbours is (1 - k^2) / (1 + k^2)."""
    table, visible, hidden, values = walk(4000)
    found = gaussian_process.fill(table, visible, hidden, 1)
    least = (1 - np.exp(-0.2)) / (1 + np.exp(-0.2))
    error = np.mean((found.mean - values[hidden[:, 0]]) ** 2)
    assert error == pytest.approx(least, rel=0.15)


def test_lines():
    """Between neighbours, and level at the ends."""
    frame = pd.DataFrame({"x": [1.0, 9.0, 3.0, 9.0]})
    table = Table("", "", frame, ["x"], np.zeros(4, int), np.array([0.0, 1.0, 4.0, 5.0]), None)
    hidden = np.array([[False], [True], [False], [True]])
    assert lines.fill(table, ~hidden, hidden, 1).mean.tolist() == [1.5, 3.0]
