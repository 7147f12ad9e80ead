"""Tables of any kind: what goes into the library, and what comes back of the same kind."""

from __future__ import annotations

import datetime
import decimal
import json
import numbers
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from . import _stroock
from ._stroock import Frame, TableError

#: The name of a series where a table does not name its series; a file has its own name there.
NAME = "series"


class Source:
    """A table as the library reads it, and how results become tables of its kind."""

    def __init__(
        self,
        frame: Frame,
        back: Callable[[Frame], Any],
        filled: Callable[[Dict[str, np.ndarray]], Any],
        roles: Optional[Dict[str, Any]] = None,
    ):
        self.frame, self.back, self.filled = frame, back, filled
        #: What is known of the columns, where the caller does not say.
        self.roles = roles or {}


def read_options(roles: Dict[str, Any], options: Dict[str, Any]) -> Tuple[str, str]:
    """The name of a table and the options of reading it as the library takes them."""
    options = {**roles, **{key: value for key, value in options.items() if value is not None}}
    name = str(options.pop("name", NAME))
    target = options.pop("target", None)
    if target is not None:
        options["label"] = str(target)
    for key in ("time", "variables", "statics", "ignore", "missing"):
        value = options.get(key)
        if isinstance(value, str) or (value is not None and not hasattr(value, "__iter__")):
            value = [value]
        if value is not None:
            options[key] = [str(item) for item in value]
    for key in ("id", "variable", "value", "time_zone", "date_format", "duplicates"):
        if options.get(key) is not None:
            options[key] = str(options[key])
    known = {
        "id", "time", "variable", "value", "variables", "statics", "ignore", "label", "label_per_time", "time_zone",
        "date_format", "missing", "duplicates", "skip_bad_rows", "is_part",
    }  # fmt: skip
    for key in options:
        if key not in known:
            raise TypeError(f"there is no argument `{key}`")
    return name, json.dumps(options)


def source(data: Any) -> Source:
    """The table in `data`, of whatever kind it is."""
    if isinstance(data, Source):
        return data
    kind = f"{type(data).__module__}.{type(data).__qualname__}"
    if kind.startswith("pandas.") and hasattr(data, "columns") and hasattr(data, "index"):
        return _of_pandas(data)
    if isinstance(data, dict):
        return _of_dict(data)
    if hasattr(data, "__arrow_c_stream__"):
        return _of_arrow(data)
    if hasattr(data, "arrow") and kind.lower().startswith(("duckdb.", "_duckdb.")):
        return _of_arrow(data.arrow())
    if isinstance(data, (list, tuple)):
        return _of_pairs(data)
    raise TypeError(
        f"a {kind} is no table; give a data frame (pandas, polars, pyarrow, DuckDB), a dict of arrays, or a list of pairs of "
        "times and values"
    )


def _same(names: List[str]) -> None:
    seen = set()
    for name in names:
        if name in seen:
            raise TableError(f"two columns have the name `{name}`; rename one of them")
        seen.add(name)


# Arrow: polars, pyarrow, DuckDB, and whatever else speaks it.


def _of_arrow(data: Any) -> Source:
    kind = type(data).__module__.split(".")[0]
    stream = data
    if kind == "polars" and "Null" in map(str, getattr(data, "dtypes", [])):
        # Columns of nothing, which polars and others do not hand over in the same way.
        import polars

        stream = data.with_columns(polars.col(polars.Null).cast(polars.Float64))
    frame = Frame.from_stream(stream)

    def back(result: Frame) -> Any:
        if kind == "polars":
            import polars

            return polars.DataFrame(result)
        if kind == "pyarrow" or kind.endswith("duckdb"):
            import pyarrow

            return pyarrow.table(result)
        return result

    def filled(columns: Dict[str, np.ndarray]) -> Any:
        if kind == "polars":
            import polars

            return polars.DataFrame(data).with_columns(
                [polars.Series(name, values) for name, values in columns.items()]
            )
        import pyarrow

        table = pyarrow.table(data if kind != "duckdb" and not hasattr(data, "read_all") else frame)
        for name, values in columns.items():
            table = table.set_column(table.column_names.index(name), name, pyarrow.array(values))
        return table

    return Source(frame, back, filled)


# NumPy: a dict of arrays.


def _of_dict(data: Dict[str, Any]) -> Source:
    if not data:
        raise TableError("the table has no columns")
    names = [str(name) for name in data]
    _same(names)
    frame = Frame.from_columns([column(name, values) for name, values in zip(names, data.values())])

    def filled(columns: Dict[str, np.ndarray]) -> Dict[str, np.ndarray]:
        return {name: columns.get(str(name), np.asarray(values)) for name, values in data.items()}

    return Source(frame, as_dict, filled)


def as_dict(frame: Frame) -> Dict[str, np.ndarray]:
    """A result as a dict of NumPy arrays; times are datetime64 in UTC where they have a zone."""
    columns = {}
    for name, kind, _, values in frame.columns():
        if kind == "text":
            columns[name] = np.array(values, dtype=object)
        elif kind in ("number", "integer"):
            columns[name] = values
        else:
            columns[name] = values.view(f"datetime64[{kind}]") if kind != "D" else values.astype("datetime64[D]")
    return columns


def column(name: str, values: Any, zone: Optional[str] = None) -> Tuple[str, str, Optional[str], Any]:
    """A column for the library: its name, what it is made of, its zone, its contents."""
    try:
        array = np.ma.filled(values, np.nan) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    except ValueError:
        # Entries of different shapes: objects, of which it is said what they are.
        array = np.empty(len(values), dtype=object)
        array[:] = values
    if array.ndim != 1:
        raise TableError(f"column `{name}` has {array.ndim} axes, but a column has one")
    if array.dtype.kind == "b":
        return name, "bool", None, _plain(array, np.bool_)
    if array.dtype.kind in "iu":
        if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
            return name, "number", None, array.astype(np.float64)
        return name, "integer", None, _plain(array, np.int64)
    if array.dtype.kind == "f":
        return name, "number", None, _plain(array, np.float64)
    if array.dtype.kind == "M":
        unit, count = np.datetime_data(array.dtype)
        unit = unit if count == 1 and unit in ("s", "ms", "us", "ns") else "us"
        return name, unit, zone, _plain(array, f"datetime64[{unit}]").view(np.int64)
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    if array.dtype.kind == "U":
        return name, "text", None, array.tolist()
    if array.dtype.kind == "O":
        return _of_objects(name, array)
    raise TableError(f"column `{name}` is made of {array.dtype}, which is neither numbers nor texts nor times")


def _plain(array: np.ndarray, dtype: Any) -> np.ndarray:
    """Numbers of a type one after the other, as a processor reads them: a slice of bytes need not begin where it should."""
    return np.require(array, dtype, ["C", "A"])


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)
    except (ArithmeticError, TypeError, ValueError):
        # An array in a cell, or a number that refuses to be compared.
        return False


def _of_objects(name: str, array: np.ndarray) -> Tuple[str, str, Optional[str], Any]:
    """A column of Python objects, which must be of one kind, but for those that are missing."""
    values = array.tolist()
    if set(map(type, values)) <= {str}:
        return name, "text", None, values
    present = [value for value in values if not _is_missing(value)]
    if all(isinstance(value, (str, bytes)) for value in present):
        texts = [value.decode(errors="replace") if isinstance(value, bytes) else value for value in values]
        return name, "text", None, [None if _is_missing(text) else text for text in texts]
    if all(isinstance(value, (numbers.Real, decimal.Decimal, np.bool_)) for value in present):
        try:
            return name, "number", None, np.array([np.nan if _is_missing(v) else float(v) for v in values])
        except (OverflowError, ValueError) as error:
            raise TableError(f"column `{name}`: {error}") from None
    if all(isinstance(value, (datetime.datetime, datetime.date, np.datetime64)) for value in present):
        zones = {value.tzinfo for value in present if isinstance(value, datetime.datetime)}
        if len(zones) > 1 and None in zones:
            raise TableError(f"column `{name}` has times with and without a zone: give all of them one")
        # Instants; those of several zones are in UTC.
        is_aware = bool(zones - {None})
        utc = datetime.timezone.utc

        def micros(value: Any) -> np.datetime64:
            if _is_missing(value):
                return np.datetime64("NaT", "us")
            if is_aware:
                value = value.astimezone(utc).replace(tzinfo=None)
            return np.datetime64(value, "us")

        zone = None if not is_aware else (zone_name(next(iter(zones))) if len(zones) == 1 else "UTC")
        return name, "us", zone, np.array([micros(value) for value in values], dtype="datetime64[us]").view(np.int64)
    kinds = sorted({type(value).__name__ for value in present})
    raise TableError(f"column `{name}` has a mixture of {', '.join(kinds)}; make it numbers, texts or times")


def zone_name(zone: Any) -> str:
    """The name of a time zone, or its offset from UTC."""
    for attribute in ("key", "zone"):
        if getattr(zone, attribute, None):
            return str(getattr(zone, attribute))
    offset = zone.utcoffset(None)
    if offset is None:
        return str(zone)
    minutes = round(offset.total_seconds() / 60)
    return "UTC" if minutes == 0 else f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


# pandas.


def _of_pandas(data: Any) -> Source:
    import pandas

    if not isinstance(data, pandas.DataFrame):
        raise TypeError(f"a {type(data).__name__} is no table: give a data frame, as in series.to_frame().reset_index()")
    table = data
    names = [str(name) for name in table.columns]
    index = table.index
    if index.nlevels > 1 or index.name is not None or isinstance(index, (pandas.DatetimeIndex, pandas.PeriodIndex)):
        # Series or times in the index are columns of the table.
        if index.nlevels == 1 and index.name is None:
            index = index.rename("time" if "time" not in names else "index")
        table = table.set_axis(index, axis=0).reset_index()
        names = [str(name) for name in table.columns]
    _same(names)
    if not names:
        raise TableError("the table has no columns")
    frame = _fast(table)
    if frame is None:
        frame = Frame.from_columns([_pandas_column(name, table.iloc[:, place]) for place, name in enumerate(names)])

    # From version 3 on pandas has a type of its own for texts.
    texts = "str" if int(pandas.__version__.split(".")[0]) > 2 else object

    def back(result: Frame) -> Any:
        series = {}
        for name, kind, zone, values in result.columns():
            if kind == "text":
                series[name] = pandas.Series(values, dtype=texts)
            elif kind == "D":
                series[name] = pandas.Series(values.astype("datetime64[D]").astype("datetime64[s]"))
            elif kind in ("number", "integer"):
                series[name] = pandas.Series(values)
            else:
                times = pandas.Series(values.view(f"datetime64[{kind}]"))
                series[name] = times if zone is None else times.dt.tz_localize("UTC").dt.tz_convert(zone)
        return pandas.DataFrame(series)

    def filled(values: Dict[str, np.ndarray]) -> Any:
        result = data.copy()
        for place, name in enumerate(data.columns):
            if str(name) in values:
                result.isetitem(place, values[str(name)])
        return result

    return Source(frame, back, filled)


#: Rows from which on texts go through pyarrow, if it is installed: one by one they take longer than all the rest.
MANY = 10_000


def _fast(table: Any) -> Optional[Frame]:
    """A large table with texts by way of pyarrow; `None` where that is of no use."""
    kinds = {column_kind for column_kind in map(str, table.dtypes)}
    if len(table) < MANY or not kinds & {"object", "str", "string", "category"}:
        return None
    if any(kind.startswith(("period", "interval", "Sparse")) for kind in kinds):
        return None
    try:
        import pyarrow
    except ImportError:
        return None
    try:
        return Frame.from_stream(pyarrow.Table.from_pandas(table, preserve_index=False))
    except (pyarrow.ArrowException, TypeError):
        # Columns of several kinds of objects: what is wrong with them is said elsewhere.
        return None


def _pandas_column(name: str, values: Any) -> Tuple[str, str, Optional[str], Any]:
    import pandas

    dtype = values.dtype
    if isinstance(dtype, pandas.PeriodDtype):
        values = values.dt.to_timestamp()
        dtype = values.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        values = values.astype(dtype.categories.dtype if values.notna().all() else object)
        dtype = values.dtype
    zone = getattr(dtype, "tz", None)
    if zone is not None:
        return column(name, values.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(), zone_name(zone))
    if getattr(dtype, "pyarrow_dtype", None) is not None or pandas.api.types.is_extension_array_dtype(dtype):
        if pandas.api.types.is_bool_dtype(dtype) or pandas.api.types.is_numeric_dtype(dtype):
            if not values.hasnans and not values.isna().any() and pandas.api.types.is_integer_dtype(dtype):
                return column(name, values.to_numpy(dtype=np.int64))
            return column(name, values.to_numpy(dtype=np.float64, na_value=np.nan))
        if pandas.api.types.is_datetime64_any_dtype(dtype):
            return column(name, values.to_numpy(dtype="datetime64[us]"))
        if pandas.api.types.is_string_dtype(dtype):
            missing = values.isna().to_numpy()
            texts = values.to_numpy(dtype=object).tolist()
            return name, "text", None, [None if gone else str(text) for text, gone in zip(texts, missing)]
        return column(name, values.to_numpy(dtype=object))
    return column(name, values.to_numpy())


# Lists of pairs.


def _of_pairs(data: Any) -> Source:
    """Pairs of times `[T]` and values `[T]` or `[T, C]`, a series each."""
    ids, times, values, lengths = [], [], [], []
    width = None
    is_flat = True
    for number, pair in enumerate(data):
        try:
            time, value = pair
        except (TypeError, ValueError):
            raise TypeError(f"entry {number} of the list is no pair of times and values") from None
        time, value = np.asarray(time), np.asarray(value, dtype=np.float64)
        is_flat = is_flat and value.ndim == 1
        value = value[:, None] if value.ndim == 1 else value
        if time.ndim != 1 or value.ndim != 2 or len(time) != len(value):
            raise TableError(
                f"series {number} has times {np.shape(pair[0])} and values {np.shape(pair[1])}: they must be [T] and [T] or [T, C]"
            )
        if width is not None and value.shape[1] != width:
            raise TableError(f"series {number} has {value.shape[1]} variables, but the first has {width}")
        width = value.shape[1]
        ids.append(np.full(len(time), number))
        times.append(time)
        values.append(value)
        lengths.append(len(time))
    if width is None:
        raise TableError("the list has no series")
    names = [f"x{channel + 1}" for channel in range(width)]
    table = np.concatenate(values)
    columns = [column("id", np.concatenate(ids)), column("time", np.concatenate(times))]
    columns += [column(name, table[:, channel]) for channel, name in enumerate(names)]
    frame = Frame.from_columns(columns)

    def filled(result: Dict[str, np.ndarray]) -> List[Tuple[np.ndarray, np.ndarray]]:
        all_values = np.stack([result.get(name, table[:, c]) for c, name in enumerate(names)], 1)
        parts = np.split(all_values, np.cumsum(lengths)[:-1])
        return [(time, part[:, 0] if is_flat else part) for time, part in zip(times, parts)]

    return Source(frame, as_dict, filled, {"id": "id", "time": ["time"], "variables": names})
