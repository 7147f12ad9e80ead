"""Tables of every kind are the same table."""

import datetime
import time as clock

import numpy as np
import pytest

import stroock
from stroock._tables import source


def columns():
    """Two series with gaps, their rows mixed."""
    return {
        "id": np.array(["a", "b", "a", "a", "b"]),
        "time": np.array([0.0, 0.5, 2.0, 1.0, 1.5]),
        "pulse": np.array([80.0, np.nan, 84.0, np.nan, 75.0]),
        "temp": np.array([36.5, 37.0, np.nan, 36.8, 37.2]),
    }


def kinds():
    """The same table, as whatever is installed has it."""
    table = columns()
    yield "dict", table
    nulls = {name: [None if x != x else x for x in values.tolist()] for name, values in table.items()}
    if "pandas" in INSTALLED:
        import pandas

        yield "pandas", pandas.DataFrame(table)
        yield "pandas nullable", pandas.DataFrame(table).convert_dtypes()
        yield "pandas index", pandas.DataFrame(table).set_index(["id", "time"])
    if "polars" in INSTALLED:
        import polars

        yield "polars", polars.DataFrame(table)
        yield "polars nulls", polars.DataFrame(nulls)
    if "pyarrow" in INSTALLED:
        import pyarrow

        yield "pyarrow", pyarrow.table(nulls)
        yield "reader", pyarrow.table(nulls).to_reader()
        yield "dictionary", pyarrow.table({**nulls, "id": pyarrow.array(nulls["id"]).dictionary_encode()})
        yield "chunks", pyarrow.concat_tables([pyarrow.table(nulls).slice(k, 1) for k in range(5)])
    if "duckdb" in INSTALLED:
        import duckdb

        frame = __import__("pyarrow").table(nulls)
        yield "duckdb", duckdb.sql("select * from frame")


def installed():
    import importlib.util

    names = ["pandas", "polars", "pyarrow", "duckdb"]
    return [name for name in names if importlib.util.find_spec(name)]


INSTALLED = installed()


def overview(table, **options):
    return stroock.describe(table, **options).data


def test_every_kind_is_the_same_table():
    expected = overview(columns())
    assert expected["series"] == 2
    for name, table in kinds():
        assert overview(table) == expected, name


def test_long_tables_and_pairs():
    wide = columns()
    rows = [
        (wide["id"][k], wide["time"][k], name, wide[name][k]) for k in range(5) for name in ("pulse", "temp")
    ]
    ids, times, variables, values = zip(*rows)
    long = {"id": list(ids), "time": list(times), "variable": list(variables), "value": list(values)}
    assert overview(long)["series"] == 2
    assert [variable["name"] for variable in overview(long)["variables"]] == ["pulse", "temp"]
    pairs = [([0.0, 1.0, 2.0], [80.0, np.nan, 84.0]), ([0.5, 1.5], [np.nan, 75.0])]
    found = overview(pairs)
    assert found["series"] == 2 and [variable["name"] for variable in found["variables"]] == ["x1"]


@pytest.mark.skipif("pandas" not in INSTALLED, reason="pandas is not installed")
def test_dates_and_zones():
    import pandas

    times = pandas.date_range("2024-03-30 12:00", periods=48, freq="h", tz="Europe/Vienna")
    values = np.arange(48.0)
    frame = pandas.DataFrame({"time": times, "load": values})
    in_zone = overview(frame)
    utc = overview(frame.assign(time=times.tz_convert("UTC")))
    objects = overview({"time": np.array(list(times.to_pydatetime()), dtype=object), "load": values})
    assert in_zone["variables"] == utc["variables"] == objects["variables"]
    text = overview({"time": [time.isoformat() for time in times], "load": values})
    assert text["variables"] == utc["variables"]
    naive = overview(frame.assign(time=times.tz_localize(None)), time_zone="Europe/Vienna", duplicates="mean")
    assert naive["series"] == 1
    index = frame.set_index("time")
    assert overview(index) == in_zone
    index.index.name = None
    assert overview(index) == in_zone
    if "polars" in INSTALLED:
        import polars

        assert overview(polars.from_pandas(frame)) == in_zone


BAD = [
    ({}, "no columns"),
    ({"time": [], "x": []}, "no row"),
    ({"time": [0.0, 1.0], "x": [1.0]}, "entries"),
    ({"time": [0.0, np.nan], "x": [1.0, 2.0]}, "column `time` is empty"),
    ({"time": [0.0, np.inf], "x": [1.0, 2.0]}, "time"),
    ({"time": [0.0, 1.0], "x": [1.0, np.inf]}, "finite"),
    ({"time": [0.0, 0.0], "x": [1.0, 2.0]}, 'duplicates="mean"'),
    ({"time": [0.0, 1.0], "x": [{}, []]}, "mixture of dict, list"),
    ({"time": [0.0, 1.0], "x": np.zeros((2, 2))}, "2 axes"),
    ({"time": [0.0, 1.0], "x": np.array([1j, 2j])}, "complex"),
    ({"x": [1.0, 2.0], "y": ["a", "b"]}, "time="),
    (
        {"time": np.array([datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc)]), "x": [1.0, 2.0]},
        "with and without a zone",
    ),
    ([], "no series"),
    ([([0.0, 1.0], [1.0])], "series 0 has times"),
    ([([0.0], [[1.0, 2.0]]), ([0.0], [1.0])], "1 variables, but the first has 2"),
]


@pytest.mark.parametrize("table, words", BAD, ids=[words for _, words in BAD])
def test_bad_tables_are_refused_in_a_sentence(table, words):
    with pytest.raises(stroock.StroockError, match=words):
        stroock.describe(table)


def test_what_is_no_table_is_refused():
    for wrong in (3, "file.csv", None, np.zeros(3), [1, 2]):
        with pytest.raises((TypeError, stroock.StroockError)):
            stroock.describe(wrong)
    with pytest.raises(TypeError, match="there is no argument `colour`"):
        stroock.describe(columns(), colour="red")
    with pytest.raises(stroock.TableError, match="did you mean `pulse`.*check variables="):
        stroock.describe(columns(), variables=["puls"])


@pytest.mark.skipif("pandas" not in INSTALLED, reason="pandas is not installed")
def test_duplicated_columns_of_pandas():
    import pandas

    frame = pandas.DataFrame(np.zeros((3, 3)), columns=["time", "x", "x"])
    with pytest.raises(stroock.TableError, match="two columns have the name `x`"):
        stroock.describe(frame)


def test_arrays_may_be_strided_read_only_or_of_any_number():
    expected = overview(columns())
    table = columns()
    table["time"] = np.repeat(table["time"], 2)[::2].astype(np.float32)
    table["pulse"] = np.ma.masked_invalid(table["pulse"])
    table["temp"].flags.writeable = False
    assert overview(table)["variables"] == expected["variables"]
    whole = {"time": np.arange(5, dtype=np.uint8), "x": np.arange(5, dtype=np.int16), "y": np.arange(5) > 2}
    assert overview(whole)["series"] == 1


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_million_observations_are_handed_over_quickly(kind):
    module = pytest.importorskip(kind)
    rows, series = 1_000_000, 1000
    table = {
        "id": np.repeat(np.arange(series), rows // series),
        "time": np.tile(np.arange(rows // series, dtype=float), series),
        "x": np.random.default_rng(0).normal(size=rows),
    }
    frame = module.table(table) if kind == "pyarrow" else module.DataFrame(table)
    best = np.inf
    for _ in range(3):
        begun = clock.perf_counter()
        source(frame)
        best = min(best, clock.perf_counter() - begun)
    print(f"{kind}: a million rows handed over in {1e3 * best:.1f} ms")
    assert best < 0.3
