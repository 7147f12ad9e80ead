"""Whatever is handed in gives the right answer or a sentence: never a panic, a crash or a riddle."""

import datetime
import os
import time as clock
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import stroock

from test_tables import INSTALLED, overview

needs_pandas = pytest.mark.skipif("pandas" not in INSTALLED, reason="pandas is not installed")
needs_polars = pytest.mark.skipif("polars" not in INSTALLED, reason="polars is not installed")
needs_pyarrow = pytest.mark.skipif("pyarrow" not in INSTALLED, reason="pyarrow is not installed")

VIENNA, TOKYO, UTC = ZoneInfo("Europe/Vienna"), ZoneInfo("Asia/Tokyo"), datetime.timezone.utc
# More rows than are handed over one text at a time.
MANY = 12_000


def objects(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def refused(table, words, **options):
    with pytest.raises(stroock.StroockError, match=words):
        stroock.describe(table, **options)


# Columns of objects.


@pytest.mark.parametrize(
    "values",
    [
        objects(1, 2.5, None),
        objects(Decimal("1"), Decimal("2.5"), None),
        objects(Fraction(1), Fraction(5, 2), float("nan")),
        objects(np.float32(1), np.int8(2), np.float64(2.5)),
        objects(True, 2.5, None),
        objects("1", "2.5", None),
        objects(b"1", b"2.5", b""),
    ],
    ids=str,
)
def test_objects_of_one_kind_are_numbers(values):
    found = overview({"time": [0.0, 1.0, 2.0], "x": values})
    assert found["variables"][0]["name"] == "x" and found["account"]["rows"] == 3


@pytest.mark.parametrize(
    "values, words",
    [
        (objects(1, "two", 3), "mixture of int, str"),
        (objects({}, {}, {}), "mixture of dict"),
        (objects([1], [2], [3]), "mixture of list"),
        (objects(object(), None, None), "mixture of object"),
        (objects(1 + 2j, 1.0, 2.0), "mixture of complex, float"),
        (objects(datetime.timedelta(1), None, None), "mixture of timedelta"),
        (objects("1.0", "\ud800", "2"), "column `x`"),
        (objects(10**400, 1, 2), "column `x`"),
    ],
    ids=["texts and numbers", "dicts", "lists", "objects", "complex", "lengths", "half a character", "too large"],
)
def test_objects_of_no_kind_are_refused(values, words):
    refused({"time": [0.0, 1.0, 2.0], "x": values}, words)


@needs_pandas
def test_objects_in_large_frames_are_refused_in_the_same_words():
    import pandas

    frame = pandas.DataFrame({"time": np.arange(float(MANY)), "x": objects(*[1, "two"] * (MANY // 2))})
    refused(frame, "mixture of int, str")
    refused(frame.assign(x=objects(*[[1, 2]] * MANY)), "mixture of list|nested")


# Zones.


def test_times_of_several_zones_are_instants():
    noon = datetime.datetime(2024, 6, 1, 12, tzinfo=VIENNA)
    same = [noon, noon.astimezone(TOKYO) + datetime.timedelta(hours=1), noon.astimezone(UTC) + datetime.timedelta(hours=2)]
    mixed = overview({"time": objects(*same), "x": [1.0, 2.0, 3.0]})
    plain = overview({"time": np.array(["2024-06-01T10", "2024-06-01T11", "2024-06-01T12"], "datetime64[s]"), "x": [1.0, 2.0, 3.0]})
    assert mixed["range"] == plain["range"] and mixed["variables"] == plain["variables"]


def test_times_with_and_without_a_zone_are_refused():
    noon = datetime.datetime(2024, 6, 1, 12)
    refused({"time": objects(noon, noon.replace(day=2, tzinfo=UTC)), "x": [1.0, 2.0]}, "with and without a zone")


@needs_pandas
def test_zones_of_every_kind_in_pandas():
    import pandas

    naive = pandas.date_range("2024-06-01", periods=5, freq="h")
    zones = ["Europe/Vienna", VIENNA, UTC, datetime.timezone(datetime.timedelta(hours=5, minutes=30))]
    for zone in zones:
        found = overview(pandas.DataFrame({"time": naive.tz_localize(zone), "x": np.arange(5.0)}))
        assert found["series"] == 1 and found["account"]["rows"] == 5, zone
    mixed = pandas.Series([naive.tz_localize("Europe/Vienna")[0], naive.tz_localize("Asia/Tokyo")[3]], dtype=object)
    assert overview(pandas.DataFrame({"time": mixed, "x": [1.0, 2.0]}))["account"]["rows"] == 2
    half = pandas.Series([naive[0], naive.tz_localize("UTC")[1]], dtype=object)
    refused(pandas.DataFrame({"time": half, "x": [1.0, 2.0]}), "with and without a zone")
    refused(pandas.DataFrame({"time": naive, "x": np.arange(5.0)}), "time_zone=", time_zone="Mars/Olympus")


# Columns twice.


def test_columns_that_are_there_twice_are_refused():
    refused({1: [0.0, 1.0], "1": [1.0, 2.0]}, "two columns have the name `1`")
    refused({"time": [0.0, 1.0], "x": [1.0, 2.0], " x": [1.0, 2.0]}, "`x`")


@needs_pyarrow
def test_columns_of_arrow_that_are_there_twice_are_refused():
    import pyarrow

    column = pyarrow.array([0.0, 1.0])
    refused(pyarrow.table([column, column, column], names=["time", "x", "x"]), "`x`")


# Nothing.


def nothing():
    yield {"time": [], "x": []}
    yield {"time": np.empty(0), "x": np.empty(0)}
    if "pandas" in INSTALLED:
        import pandas

        yield pandas.DataFrame()
        yield pandas.DataFrame({"time": [], "x": []})
        yield pandas.DataFrame(index=range(3))
        yield pandas.DataFrame({"id": ["a"], "time": [0.0], "x": [1.0]}).iloc[:0]
    if "polars" in INSTALLED:
        import polars

        yield polars.DataFrame()
        yield polars.DataFrame({"time": [], "x": []})
        yield polars.DataFrame({"time": [], "x": []}, schema={"time": polars.Float64, "x": polars.Float64})
    if "pyarrow" in INSTALLED:
        import pyarrow

        yield pyarrow.table({})
        yield pyarrow.table({"time": pyarrow.array([], pyarrow.float64()), "x": pyarrow.array([], pyarrow.float64())})
        yield pyarrow.table({"time": [0.0], "x": [1.0]}).slice(0, 0).to_reader()


@pytest.mark.parametrize("table", list(nothing()), ids=lambda table: type(table).__module__.split(".")[0])
def test_tables_without_anything_are_refused(table):
    refused(table, "no columns|no row")
    with pytest.raises(stroock.StroockError, match="no columns|no row"):
        stroock.fit(table, progress=False)


def test_tables_without_values_are_refused():
    refused({"time": [0.0, 1.0]}, "variables=")
    with pytest.raises(stroock.StroockError, match="no value to learn from"):
        stroock.fit({"time": [0.0, 1.0], "x": [np.nan, np.nan]}, progress=False, variables=["x"])


# Times that are none.


def timeless():
    yield {"time": [0.0, np.nan], "x": [1.0, 2.0]}
    yield {"time": objects(0.0, None), "x": [1.0, 2.0]}
    yield {"time": np.array(["2024-01-01", "NaT"], "datetime64[s]"), "x": [1.0, 2.0]}
    yield {"time": np.ma.masked_array([0.0, 1.0], [False, True]), "x": [1.0, 2.0]}
    if "pandas" in INSTALLED:
        import pandas

        yield pandas.DataFrame({"time": [pandas.Timestamp(0), pandas.NaT], "x": [1.0, 2.0]})
        yield pandas.DataFrame({"time": pandas.array([0, None], "Int64"), "x": [1.0, 2.0]})
        yield pandas.DataFrame({"x": [1.0, 2.0]}, index=pandas.DatetimeIndex(["2024-01-01", None]))
    if "polars" in INSTALLED:
        import polars

        yield polars.DataFrame({"time": [0.0, None], "x": [1.0, 2.0]})
        yield polars.DataFrame({"time": [datetime.datetime(2024, 1, 1), None], "x": [1.0, 2.0]})


@pytest.mark.parametrize("table", list(timeless()), ids=lambda table: type(table).__module__.split(".")[0])
def test_rows_without_a_time_are_refused_or_left_out(table):
    refused(table, "row 2.*column `time` is empty.*skip_bad_rows=True")
    assert overview(table, skip_bad_rows=True)["account"]["rows"] == 2


# Arrays of any layout and number.


def layouts():
    x = np.array([3.0, 1.0, 4.0, 1.0, 5.0])
    frozen = x.copy()
    frozen.flags.writeable = False
    yield "reversed", x[::-1].copy()[::-1]
    yield "strided", np.repeat(x, 3)[::3]
    yield "column", np.asfortranarray(np.stack([x, x], 1).T)[0]
    yield "frozen", frozen
    yield "other byte order", x.astype(">f8")
    yield "half", x.astype(np.float16)
    yield "long", x.astype(np.longdouble)
    yield "unsigned", x.astype(np.uint64)
    yield "big-endian integers", x.astype(">i4")
    yield "unaligned", np.frombuffer(b"\0" + x.tobytes(), dtype=np.uint8)[1:].view(np.float64)


@pytest.mark.parametrize("name, values", list(layouts()), ids=[name for name, _ in layouts()])
def test_arrays_of_any_layout_are_the_same_numbers(name, values):
    expected = overview({"time": np.arange(5.0), "x": [3.0, 1.0, 4.0, 1.0, 5.0]})
    assert overview({"time": np.arange(5.0), "x": values})["variables"] == expected["variables"]
    if "pandas" in INSTALLED:
        import pandas

        if values.dtype != np.longdouble:
            frame = pandas.DataFrame({"time": np.arange(5.0), "x": values})
            assert overview(frame)["variables"] == expected["variables"]


def test_a_number_that_is_there_once_for_all_rows():
    broadcast = np.broadcast_to(np.float64(2.0), 5)
    assert overview({"time": np.arange(5.0), "x": broadcast, "y": np.arange(5.0)})["account"]["rows"] == 5


# Types that are none of ours.


@pytest.mark.parametrize(
    "values, words",
    [
        (np.array([1, 2], "timedelta64[s]"), "timedelta64"),
        (np.zeros(2, dtype=[("a", "f8")]), "neither numbers nor texts nor times"),
        (np.array([b"\x00\x01", b"\x02"], dtype="V2"), "neither numbers nor texts nor times"),
        (np.array(1.0), "0 axes"),
        (np.array([1.0, -np.inf]), "finite"),
    ],
    ids=["lengths", "records", "bytes", "one number", "infinite"],
)
def test_types_that_are_none_of_ours_are_refused(values, words):
    refused({"time": [0.0, 1.0], "x": values}, words)


@needs_pandas
def test_types_of_pandas():
    import pandas

    frame = pandas.DataFrame({"time": np.arange(4.0)})
    number = [1.0, 2.0, None, 4.0]
    expected = overview(frame.assign(x=number))["variables"]
    same = [
        pandas.array(number, "Float32"),
        pandas.array(number, "Float64"),
        pandas.array([1, 2, None, 4], "Int16"),
        pandas.Categorical(number),
        pandas.arrays.SparseArray([1.0, 2.0, np.nan, 4.0]),
        pandas.Series(["1", "2", None, "4"], dtype="string"),
        pandas.Series(["1", "2", None, "4"], dtype="category"),
    ]
    if "pyarrow" in INSTALLED:
        import pyarrow

        same.append(pandas.Series(number, dtype=pandas.ArrowDtype(pyarrow.float32())))
        same.append(pandas.Series([Decimal(1), Decimal(2), None, Decimal(4)], dtype=pandas.ArrowDtype(pyarrow.decimal128(5, 1))))
    for values in same:
        assert overview(frame.assign(x=values), variables=["x"])["variables"] == expected, values.dtype
    for values in (pandas.interval_range(0, 4), pandas.to_timedelta([1, 2, 3, 4], unit="s")):
        refused(frame.assign(x=values), "column `x`|variables=", variables=["x"])
    periods = frame.assign(time=pandas.period_range("2024-01", periods=4, freq="M"), x=number)
    assert overview(periods)["variables"][0]["summary"] == expected[0]["summary"]


@needs_pyarrow
def test_types_of_arrow():
    import pyarrow

    time = pyarrow.array([0.0, 1.0, 2.0, 3.0])
    expected = overview(pyarrow.table({"time": time, "x": [1.0, 2.0, None, 4.0]}))["variables"]
    whole = pyarrow.array([1, 2, None, 4])
    for kind in (pyarrow.int8(), pyarrow.uint64(), pyarrow.float32(), pyarrow.decimal128(21, 1), pyarrow.string(), pyarrow.large_string()):
        assert overview(pyarrow.table({"time": time, "x": whole.cast(kind)}))["variables"] == expected, kind
    for values in ([[1], [2], [3], [4]], [{"a": 1}] * 4):
        refused(pyarrow.table({"time": time, "x": values}), "`x`.*nested|variables=", variables=["x"])
    for values in (pyarrow.array([1, 2, 3, 4], pyarrow.duration("s")), pyarrow.array([1, 2, 3, 4], pyarrow.time32("s"))):
        refused(pyarrow.table({"time": time, "x": values}), "`x`|variables=", variables=["x"])


@needs_pyarrow
def test_streams_that_break_say_why():
    import pyarrow

    schema = pyarrow.schema([("time", pyarrow.float64()), ("x", pyarrow.float64())])

    def batches():
        yield pyarrow.record_batch([[0.0, 1.0], [1.0, 2.0]], schema=schema)
        raise ValueError("the line was cut")

    refused(pyarrow.RecordBatchReader.from_batches(schema, batches()), "the line was cut")


class Impostor:
    """Says that it speaks Arrow, and does not."""

    def __init__(self, answer):
        self.answer = answer

    def __arrow_c_stream__(self, requested_schema=None):
        return self.answer


def test_impostors_are_refused():
    for answer in (None, 3, "stream"):
        with pytest.raises((TypeError, ValueError)):
            stroock.describe(Impostor(answer))


def test_names_of_columns_and_series_of_any_kind():
    table = {None: [0.0, 1.0, 2.0], ("a", 1): [1.0, 2.0, 3.0], "ß\n\t😀": [1.0, 2.0, 3.0]}
    found = overview(table, time="None")
    assert [variable["name"] for variable in found["variables"]] == ["('a', 1)", "ß\n\t😀"]
    refused({"id": objects("a", None), "time": [0.0, 1.0], "x": [1.0, 2.0]}, "column `id`", id="id")
    refused({"id": [1.0, np.nan], "time": [0.0, 1.0], "x": [1.0, 2.0]}, "column `id`", id="id")


# Very many series.


def test_a_million_series_of_one_point():
    """Ten million with `STROOCK_MANY_SERIES=10000000`; time and memory grow with their number alone."""
    count = int(os.environ.get("STROOCK_MANY_SERIES", 1_000_000))
    table = {
        "id": np.arange(count),
        "time": np.random.default_rng(0).uniform(0, 1, count),
        "x": np.random.default_rng(1).normal(size=count),
    }
    before, begun = resident(), clock.process_time()
    found = overview(table, id="id")
    seconds = clock.process_time() - begun
    assert found["series"] == count and found["account"]["rows"] == count
    print(f"{count} series of one point: {seconds:.2f} s, {peak() - before:.0f} MB")
    # Less than a kilobyte for each.
    assert peak() - before < 100 + count / 1000


def resident():
    """Megabytes of memory that the process has."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6
    except OSError:
        pytest.skip("the memory of the process is read from /proc")


def peak():
    """The most that it has had."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
