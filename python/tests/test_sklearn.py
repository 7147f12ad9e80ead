"""Estimators in the manner of scikit-learn."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

from stroock.sklearn import StroockClassifier, StroockForecaster, StroockImputer  # noqa: E402

T = np.arange(24.0)


def series(count=24, variables=1, seed=0):
    random = np.random.default_rng(seed)
    speeds = 0.5 + 0.5 * (np.arange(count) % 2)
    X = np.stack([np.sin(T * speed + random.uniform(0, 6)) for speed in speeds])
    X = np.stack([X + 0.1 * channel for channel in range(variables)], 1)
    return X + random.normal(0, 0.05, X.shape), np.where(np.arange(count) % 2, "slow", "fast")


def test_classes_in_search_and_validation():
    X, y = series()
    scores = cross_val_score(StroockClassifier(epochs=1), X, y, cv=2)
    assert scores.mean() > 0.7
    search = GridSearchCV(StroockClassifier(epochs=1), {"seed": [1, 2]}, cv=2).fit(X[:, 0], y)
    assert set(search.predict(X[:, 0])) <= {"slow", "fast"}


def test_gaps_in_pipelines():
    X, y = series(variables=2)
    gappy = X.copy()
    gappy[np.random.default_rng(1).uniform(size=X.shape) < 0.2] = np.nan
    imputer = StroockImputer(epochs=2)
    filled = imputer.fit_transform(gappy)
    assert filled.shape == X.shape and not np.isnan(filled).any()
    np.testing.assert_array_equal(filled[~np.isnan(gappy)], gappy[~np.isnan(gappy)])
    pipeline = make_pipeline(StroockImputer(epochs=1), StroockClassifier(epochs=1)).fit(gappy, y)
    assert pipeline.predict(gappy).shape == (24,)


def test_unequal_lengths():
    X, y = series()
    ragged = [x[0, : 12 + k % 5] for k, x in enumerate(X)]
    classifier = StroockClassifier(epochs=1).fit(ragged, y)
    assert classifier.predict(ragged[:3]).shape == (3,)
    ragged[0][3] = np.nan
    filled = StroockImputer(epochs=1).fit(ragged).transform(ragged)
    assert [len(x) for x in filled] == [len(x) for x in ragged] and np.isfinite(filled[0]).all()


def test_forecasts():
    X, _ = series(variables=2)
    forecaster = StroockForecaster(horizon=3, epochs=1).fit(X)
    assert forecaster.predict(X).shape == (24, 2, 3)
    low, high = forecaster.predict_quantiles(X, [0.1, 0.9])
    assert (low < high).all()
    assert StroockForecaster(horizon=2, epochs=1).fit(X[:, 0]).predict(X[:, 0]).shape == (24, 2)


def test_estimators_are_cloned_and_pickled():
    X, y = series()
    classifier = StroockClassifier(epochs=1, seed=4)
    assert clone(classifier).get_params() == classifier.get_params()
    expected = classifier.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(classifier)).predict_proba(X), expected)


@pytest.mark.parametrize("estimator", [StroockClassifier(epochs=1), StroockImputer(epochs=1), StroockForecaster(epochs=1)])
def test_the_checks_of_scikit_learn(estimator):
    """All of them: arrays `[series, times]` are panels of series of equal length."""
    check_estimator(estimator, on_skip=None)
