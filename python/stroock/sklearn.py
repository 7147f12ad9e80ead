"""Estimators in the manner of scikit-learn: a classifier, an imputer and a forecaster of series.

`X` is a panel: an array `[series, times]` or `[series, variables, times]` with NaN where nothing is observed (as aeon and
sktime have it), or a list of series of unequal lengths, each an array `[times]` or `[variables, times]`, or a list of pairs of
times and values as :func:`stroock.fit` takes it. Times are 0, 1, 2, ... where they are not given.

>>> import numpy as np
>>> from stroock.sklearn import StroockClassifier
>>> t = np.arange(20.0)
>>> X = np.stack([np.sin(t * (1 + k % 2) + k) for k in range(24)])
>>> y = np.arange(24) % 2
>>> classifier = StroockClassifier(epochs=2).fit(X[:16], y[:16])
>>> classifier.predict(X[16:]).shape, classifier.predict_proba(X[16:]).shape
((8,), (8, 2))
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d

from . import _model, _stroock

__all__ = ["StroockClassifier", "StroockForecaster", "StroockImputer"]

Panel = List[Tuple[np.ndarray, np.ndarray]]
Settings = Dict[str, Any]
Arrange = Callable[[np.ndarray], np.ndarray]


def panel(X: Any) -> Tuple[Panel, str]:
    """Series as pairs of times `[T]` and values `[T, C]`, and the shape that they had: `2d`, `3d`, `list` or `pairs`."""
    if isinstance(X, (list, tuple)) and len(X) and not np.isscalar(X[0]):
        if all(isinstance(item, tuple) and len(item) == 2 for item in X):
            return [(np.asarray(t, dtype=float), _columns(np.asarray(v, dtype=float))) for t, v in X], "pairs"
        lengths = {np.shape(item)[-1] if np.ndim(item) else -1 for item in X}
        if len(lengths) > 1 and -1 not in lengths:
            series = [np.atleast_2d(np.asarray(item, dtype=float)).T for item in X]
            return [(np.arange(len(values), dtype=float), values) for values in series], "list"
    array = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan", allow_nd=True)
    if array.ndim == 2:
        array, shape = array[:, None, :], "2d"
    elif array.ndim == 3:
        shape = "3d"
    else:
        raise ValueError(f"Found array with dim {array.ndim}, but a panel is [series, times] or [series, variables, times]")
    if np.isinf(array).any():
        raise ValueError("Input X contains infinity; a value is a finite number, or NaN where it is missing")
    times = np.arange(array.shape[2], dtype=float)
    return [(times, values.T) for values in array], shape


def _columns(values: np.ndarray) -> np.ndarray:
    return values[:, None] if values.ndim == 1 else values


def _table(series: Panel) -> Dict[str, np.ndarray]:
    """The columns of a long list of series; their names are their numbers."""
    names = [f"x{channel + 1}" for channel in range(series[0][1].shape[1])]
    for number, (_, values) in enumerate(series):
        if values.shape[1] != len(names):
            raise ValueError(f"series {number} has {values.shape[1]} variables, but the first has {len(names)}")
    table = {
        "id": np.concatenate([np.full(len(times), number) for number, (times, _) in enumerate(series)]),
        "time": np.concatenate([times for times, _ in series]),
    }
    values = np.concatenate([values for _, values in series])
    return {**table, **{name: values[:, channel] for channel, name in enumerate(names)}}


class _Estimator(BaseEstimator):
    """What all of them share."""

    def __init__(
        self,
        epochs: Optional[int] = None,
        seed: int = 1,
        settings: Optional[Settings] = None,
        progress: bool = False,
    ) -> None:
        self.epochs = epochs
        self.seed = seed
        self.settings = settings
        self.progress = progress

    def _fit(self, series: Panel, shape: str, task: str, labels: Optional[List[str]] = None) -> None:
        table = _table(series)
        options: Dict[str, Any] = {}
        if labels is not None:
            table["class"] = np.concatenate([np.full(len(t), str(label)) for (t, _), label in zip(series, labels)])
            options["target"] = "class"
        self.model_ = _model.fit(
            table,
            task=task,
            id="id",
            time="time",
            variables=[name for name in table if name.startswith("x")],
            epochs=self.epochs,
            seed=self.seed,
            settings=self.settings,
            window="none" if labels is not None else None,
            progress=self.progress,
            **options,
        )
        if shape == "2d":
            self.n_features_in_ = len(series[0][0])
        self.variables_in_ = series[0][1].shape[1]

    def _checked(self, X: Any) -> Tuple[Panel, str]:
        check_is_fitted(self, "model_")
        series, shape = panel(X)
        expected = getattr(self, "n_features_in_", None)
        if shape == "2d" and expected is not None and len(series[0][0]) != expected:
            name = type(self).__name__
            raise ValueError(
                f"X has {len(series[0][0])} features, but {name} is expecting {expected} features as input"
            )
        if series and series[0][1].shape[1] != self.variables_in_:
            raise ValueError(f"X has {series[0][1].shape[1]} variables, but {self.variables_in_} were fitted")
        return series, shape

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.three_d_array = True
        return tags


class StroockClassifier(ClassifierMixin, _Estimator):
    """Classes of whole series.

    Parameters
    ----------
    epochs
        Passes over the training series; chosen from the data by default.
    seed
        Seed of the training.
    settings
        Single settings of the fit, as in :func:`stroock.fit`.
    progress
        Whether to show a bar.
    draws
        Draws that probabilities are averaged over.
    """

    def __init__(
        self,
        epochs: Optional[int] = None,
        seed: int = 1,
        settings: Optional[Settings] = None,
        progress: bool = False,
        draws: int = 50,
    ) -> None:
        super().__init__(epochs, seed, settings, progress)
        self.draws = draws

    def fit(self, X: Any, y: Any) -> "StroockClassifier":
        """Learns the classes `y` of the series `X`."""
        series, shape = panel(X)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if len(y) != len(series):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{len(series)}, {len(y)}]")
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: {self.classes_.tolist()}")
        # Codes of one width keep their order as texts.
        width = len(str(len(self.classes_)))
        self._fit(series, shape, "classify", [f"c{code:0{width}d}" for code in codes])
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class, `[series, classes]`."""
        series, _ = self._checked(X)
        columns = self.model_.classify(_table(series), draws=self.draws)
        width = len(str(len(self.classes_)))
        names = [f"p_c{code:0{width}d}" for code in range(len(self.classes_))]
        return np.stack([columns[name] for name in names], 1)

    def predict(self, X: Any) -> np.ndarray:
        """The likeliest class of every series."""
        check_is_fitted(self, "model_")
        return self.classes_[self.predict_proba(X).argmax(1)]


class StroockImputer(TransformerMixin, _Estimator):
    """Fills the gaps of series by predictive means.

    Parameters are those of :class:`StroockClassifier`, but for the classes.
    """

    def __init__(
        self,
        epochs: Optional[int] = None,
        seed: int = 1,
        settings: Optional[Settings] = None,
        progress: bool = False,
    ) -> None:
        super().__init__(epochs, seed, settings, progress)

    def fit(self, X: Any, y: Any = None) -> "StroockImputer":
        """Learns what series are like."""
        self._fit(*panel(X), "impute")
        return self

    def transform(self, X: Any) -> Any:
        """The same series without gaps, in the shape that they have."""
        series, shape = self._checked(X)
        table = _table(series)
        columns = self.model_.impute(table, wide=True)
        names = [name for name in table if name.startswith("x")]
        values = np.stack([columns[name] for name in names], 1)
        parts = np.split(values, np.cumsum([len(times) for times, _ in series])[:-1])
        if shape == "pairs":
            return [(times, part) for (times, _), part in zip(series, parts)]
        if shape == "list":
            return [part[:, 0] if part.shape[1] == 1 else part.T for part in parts]
        filled = np.stack([part.T for part in parts])
        return filled[:, 0] if shape == "2d" else filled


class StroockForecaster(_Estimator):
    """What comes after the last times of series.

    Parameters are those of :class:`StroockClassifier`, but for the classes; `horizon` is the number of steps.
    """

    def __init__(
        self,
        horizon: int = 1,
        epochs: Optional[int] = None,
        seed: int = 1,
        settings: Optional[Settings] = None,
        progress: bool = False,
    ) -> None:
        super().__init__(epochs, seed, settings, progress)
        self.horizon = horizon

    def fit(self, X: Any, y: Any = None) -> "StroockForecaster":
        """Learns how series go on."""
        self._fit(*panel(X), "forecast")
        return self

    def _ahead(self, X: Any, quantiles: Sequence[float]) -> Tuple[Dict[str, np.ndarray], Arrange]:
        series, shape = self._checked(X)
        table = _table(series)
        columns = self.model_.forecast(table, int(self.horizon), quantiles=quantiles)
        names = [name for name in table if name.startswith("x")]
        shape_of_all = (len(series), int(self.horizon), len(names))
        if len(columns["mean"]) != int(np.prod(shape_of_all)):
            raise _stroock.ModelError("a series without any value has no forecast")

        def arrange(values: np.ndarray) -> np.ndarray:
            return _flat(values.reshape(shape_of_all).transpose(0, 2, 1), shape)

        return columns, arrange

    def predict(self, X: Any) -> np.ndarray:
        """Predictive means, `[series, horizon]` or `[series, variables, horizon]`."""
        columns, arrange = self._ahead(X, [])
        return arrange(columns["mean"])

    def predict_quantiles(self, X: Any, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles: a first axis of levels before the shape of :meth:`predict`."""
        columns, arrange = self._ahead(X, list(quantiles))
        return np.stack([arrange(columns[f"q{float(level):g}"]) for level in quantiles])


def _flat(values: np.ndarray, shape: str) -> np.ndarray:
    return values[:, 0] if shape in ("2d", "list") and values.shape[1] == 1 else values
