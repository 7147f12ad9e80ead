"""Scores against closed forms."""

import numpy as np
import pytest
from scipy.stats import norm

from tables.scores import LEVELS, Predictions, classification, pinball, regression, seasonal_scale


def test_crps_of_a_normal_distribution():
    """Its closed form is s (z (2 F(z) - 1) + 2 f(z) - 1 / sqrt(pi))."""
    true = np.linspace(-2.0, 4.0, 25)
    mean, sd = np.full(25, 0.7), np.full(25, 1.3)
    z = (true - mean) / sd
    exact = sd * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    found = pinball(true, Predictions.gaussian(mean, sd).quantiles)
    assert found == pytest.approx(exact, abs=0.01)


def test_crps_of_a_point_is_its_absolute_error():
    """A distribution without spread."""
    true, mean = np.array([1.0, -2.0]), np.array([1.5, 1.0])
    assert pinball(true, np.repeat(mean[:, None], len(LEVELS), axis=1)) == pytest.approx([0.5, 3.0])
    assert regression(true, Predictions(mean), 1.0)["crps"] == pytest.approx(1.75)


def test_errors_are_in_units_of_the_scale():
    """Pooled squared errors of standardised values."""
    true, mean, scale = np.array([1.0, 10.0]), np.array([2.0, 30.0]), np.array([1.0, 10.0])
    found = regression(true, Predictions(mean), scale)
    assert found["mse"] == pytest.approx((1.0 + 4.0) / 2)
    assert found["mae"] == pytest.approx(1.5)
    assert "in90" not in found


def test_coverage_of_the_true_distribution():
    """Half and nine tenths of draws, within five standard errors."""
    count = 20_000
    true = np.random.default_rng(1).normal(3.0, 2.0, count)
    found = regression(true, Predictions.gaussian(np.full(count, 3.0), np.full(count, 2.0)), 2.0)
    assert found["in50"] == pytest.approx(0.5, abs=5 * np.sqrt(0.25 / count))
    assert found["in90"] == pytest.approx(0.9, abs=5 * np.sqrt(0.09 / count))
    assert found["mse"] == pytest.approx(1.0, abs=5 * np.sqrt(2.0 / count))
    assert found["crps"] == pytest.approx(1 / np.sqrt(np.pi), abs=0.015)


def test_seasonal_scale_leaves_gaps_out():
    """The mean of |y_t - y_{t-2}|."""
    assert seasonal_scale([0.0, 0.0, 1.0, 3.0, np.nan, 4.0], 2) == pytest.approx((1.0 + 3.0 + 1.0) / 3)


def test_seasonal_naive_has_mase_one_on_its_own_training_part():
    """By definition of the scale."""
    values = np.random.default_rng(2).normal(size=60)
    found = regression(values[12:], Predictions(values[:-12]), seasonal_scale(values, 12))
    assert found["mae"] == pytest.approx(1.0)


def test_classes():
    """Accuracy and log loss; who gives no probabilities has no log loss."""
    probabilities = [[0.5, 0.5, 0.0], [0.1, 0.8, 0.1], [0.9, 0.1, 0.0]]
    found = classification(["a", "b", "c"], ["a", "b", "c"], probabilities)
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["log_loss"] == pytest.approx(-(np.log(0.5) + np.log(0.8) + np.log(1e-6)) / 3)
    assert classification(["a", "b"], ["a", "b"], np.array([0, 0])) == {"count": 2, "accuracy": 0.5}


def test_levels_have_the_ends_of_the_intervals():
    """Coverage is read off single levels."""
    assert {0.05, 0.25, 0.75, 0.95} <= set(LEVELS)
    assert np.mean(LEVELS) == pytest.approx(0.5)
