"""What people classify series with. Each takes a set and a seed: probabilities `[n, classes]` or indices `[n]`."""

import os

import numpy as np


def threads():
    """As many as everyone has."""
    return int(os.environ.get("OMP_NUM_THREADS", "1"))


def cube(part):
    """Series of equal lengths, `[n, channels, times]`."""
    return np.stack(part.series)


def nearest(data, classes, _seed):
    """The class of the nearest training series by dynamic time warping, at their own lengths."""
    from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier

    model = KNeighborsTimeSeriesClassifier(n_neighbors=1, distance="dtw", n_jobs=threads())
    model.fit(data.train.series, data.train.classes)
    return indices(model.predict(data.test.series), classes)


def mini_rocket(data, classes, seed):
    """Random convolutions and a ridge (Dempster, Schmidt and Webb 2021)."""
    from aeon.classification.convolution_based import MiniRocketClassifier

    train, test = data.equal
    model = MiniRocketClassifier(random_state=seed, n_jobs=threads())
    model.fit(cube(train), train.classes)
    return indices(model.predict(cube(test)), classes)


def forest(data, classes, seed):
    """A random forest on summaries of every channel."""
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(500, random_state=seed, n_jobs=threads())
    model.fit(summaries(data.train), data.train.classes)
    order = [list(model.classes_).index(name) for name in classes]
    return model.predict_proba(summaries(data.test))[:, order]


def indices(names, classes):
    """Numbers of classes."""
    return np.array([classes.index(name) for name in names])


def summaries(part):
    """Features of every series."""
    return np.array([np.concatenate([[one.shape[1]], *(of_channel(values) for values in one)]) for one in part.series])


def of_channel(values):
    """Level, spread, quantiles, trend, roughness, memory, extremes and the means of eight parts of one channel."""
    steps = np.diff(values)
    centred = values - values.mean()
    variance = max(float(np.mean(centred**2)), 1e-12)
    memory = [np.mean(centred[lag:] * centred[:-lag]) / variance if len(values) > lag else 0.0 for lag in (1, 2, 5, 10)]
    time = np.linspace(-1.0, 1.0, len(values))
    return [
        values.mean(),
        values.std(),
        *np.quantile(values, (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)),
        np.mean(centred * time) / np.mean(time**2),
        np.mean(np.abs(steps)),
        steps.std(),
        np.mean(centred**3) / variance**1.5,
        np.mean(centred**4) / variance**2,
        *memory,
        np.mean(np.diff(np.sign(centred)) != 0),
        values.argmax() / len(values),
        values.argmin() / len(values),
        values[0],
        values[-1],
        *(piece.mean() if len(piece) else values.mean() for piece in np.array_split(values, 8)),
    ]


# How each classifies, and whether it depends on a seed.
RIVALS = {"1-NN DTW": (nearest, False), "MiniRocket": (mini_rocket, True), "random forest": (forest, True)}
