"""Tables and models that engines are tested with, and what one process says about them."""

import functools

import numpy as np
import pandas

import stroock

from test_model import table


def waves(classes=False):
    """A wide table with names of series that are texts."""
    return pandas.DataFrame(table(classes=classes))


def long():
    """The same with a row for every value."""
    rows = waves().melt(id_vars=["id", "time"], var_name="variable", value_name="value")
    rows = rows[rows["value"].notna() | (rows["variable"] == "x")]
    # A series of which the model knows no variable.
    other = pandas.DataFrame({"id": "z", "time": [1.0, 4.0], "variable": "other", "value": [1.0, 2.0]})
    return pandas.concat([rows, other], ignore_index=True)


def sites():
    """Loads by the hour: names of series are numbers, times have a zone, series end at different times."""
    random = np.random.default_rng(3)
    frames = []
    for site in range(6):
        hours = 24 * (20 + 2 * site)
        times = pandas.date_range("2024-03-10", periods=hours, freq="h", tz="Europe/Vienna").as_unit("us")
        hour = np.arange(hours)
        load = 10 + site + np.sin(hour * 2 * np.pi / 24) + random.normal(0, 0.1, hours)
        wind = 3 - np.cos(hour * 2 * np.pi / 24) + random.normal(0, 0.1, hours)
        load[random.uniform(size=hours) < 0.1] = np.nan
        wind[random.uniform(size=hours) < 0.1] = np.nan
        frames.append(pandas.DataFrame({"site": 7 * site, "when": times, "load": load, "wind": wind, "area": 2.0 + site}))
    return pandas.concat(frames, ignore_index=True)


@functools.lru_cache(maxsize=None)
def model(name):
    """A fitted model: `waves`, `long`, `sites`, `ahead`, `points` or `classes`."""
    if name == "classes":
        return stroock.fit(waves(classes=True), task="classify", target="class", epochs=1, progress=False)
    of_sites = {"id": "site", "statics": ["area"]}
    data, options = {
        "waves": (waves, {}),
        "long": (long, {"variables": ["x", "y"]}),
        "sites": (sites, of_sites),
        "ahead": (sites, {**of_sites, "task": "forecast"}),
        # Of series of one time each nobody knows how they go on.
        "points": (lambda: {"id": ["a", "b"], "time": [0.0, 1.0], "x": [1.0, 2.0]}, {}),
    }[name]
    return stroock.fit(data(), epochs=1, progress=False, **options)


#: Name of the model, of the table, of the method, and its arguments.
CASES = {
    "gaps": ("waves", waves, "impute", {"quantiles": [0.1, 0.9], "draws": 20, "samples": 2}),
    "gaps in closed form": ("waves", waves, "impute", {"quantiles": [0.5, 1.0]}),
    "times of choice": ("waves", waves, "impute", {"at": [1.0, 2.5], "draws": 20}),
    "a long table": ("long", long, "impute", {"draws": 20}),
    "a long table filled": ("long", long, "impute", {"wide": True}),
    "a wide table filled": ("waves", waves, "impute", {"wide": True}),
    "windows": ("sites", sites, "impute", {"draws": 20, "samples": 1}),
    "windows filled": ("sites", sites, "impute", {"wide": True}),
    "dates of choice": ("sites", sites, "impute", {"at": "2024-04-01T06:30:00Z", "draws": 20}),
    "forecasts": ("ahead", sites, "forecast", {"steps": 5, "draws": 20, "samples": 2}),
    "forecasts of a model of gaps": ("waves", waves, "forecast", {"steps": 3, "samples": 1}),
    "forecasts of some": ("ahead", sites, "forecast", {"until": "2024-04-05T00:00:00Z", "draws": 20}),
    "classes": ("classes", waves, "classify", {}),
}


def expected(case):
    """What one process says, and the table."""
    name, data, method, options = CASES[case]
    frame = data()
    return frame, getattr(model(name), method)(frame, **options)


def ordered(frame):
    """Rows in an order of their own, and times as instants."""
    frame = frame.copy()
    for name in frame:
        if isinstance(frame[name].dtype, pandas.DatetimeTZDtype):
            frame[name] = frame[name].dt.tz_convert("UTC").dt.as_unit("us")
    keys = [name for name in frame if name in ("id", "site", "time", "when", "variable")]
    return frame.sort_values(keys).reset_index(drop=True)


def same(found, wanted):
    """Whether two tables have the same columns and rows, numbers to the last bit."""
    found, wanted = ordered(found), ordered(wanted)
    assert list(found) == list(wanted) and len(found) == len(wanted) > 0
    for name in wanted:
        one, other = found[name], wanted[name]
        if one.dtype.kind in "fi":
            np.testing.assert_array_equal(one.to_numpy(), other.to_numpy(), err_msg=name)
        else:
            assert list(one) == list(other), name


def same_scores(found, wanted):
    """Whether two evaluations are the same but for rounding."""
    assert found.about == wanted.about and str(found) == str(wanted)
    assert found.data["series"] == wanted.data["series"]

    def compare(one, other):
        if isinstance(other, dict):
            assert set(one) == set(other)
            [compare(one[key], other[key]) for key in other]
        elif isinstance(other, list):
            assert len(one) == len(other)
            [compare(a, b) for a, b in zip(one, other)]
        elif isinstance(other, float):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
        else:
            assert one == other

    compare(found.data, wanted.data)
