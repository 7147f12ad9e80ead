"""Tables in parts, for engines that have them on many machines.

A part has all rows of each of its series. What a model says about a series does not depend on the others of its table, so
that the answers about the parts are the answer about the whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import threading
from typing import Any, Dict, Iterator, List, Optional, Sequence, Union

import numpy as np
import pyarrow
import pyarrow.compute

from . import _stroock
from ._evaluation import Evaluation
from ._model import Model, _warn
from ._stroock import Frame, ModelError, TableError
from ._tables import read_options, source

#: Models that a worker keeps in memory.
KEPT = 4

_kept: Dict[str, Model] = {}
_lock = threading.Lock()


class Travelling:
    """A model on its way to workers: all of it, or the path of a file that every worker can read."""

    def __init__(self, model: Union[Model, str, "os.PathLike[str]"]):
        if isinstance(model, Model):
            self.path, self.content = None, pickle.dumps(model)
            self.key = hashlib.sha256(self.content).hexdigest()
        else:
            self.path, self.content = os.path.abspath(os.fspath(model)), None
            about = os.stat(self.path) if os.path.exists(self.path) else None
            self.key = f"{self.path} {about and (about.st_mtime_ns, about.st_size)}"

    def load(self) -> Model:
        """The model, which is loaded once in every process."""
        with _lock:
            model = _kept.get(self.key)
            if model is None:
                # A broadcast of Spark has its content in `value`.
                content = getattr(self.content, "value", self.content)
                model = Model.load(self.path) if content is None else pickle.loads(content)
                while len(_kept) >= KEPT:
                    _kept.pop(next(iter(_kept)))
                _kept[self.key] = model
            return model

    def __dask_tokenize__(self) -> str:
        return self.key


class Work:
    """What is to be done with every part of a table: a method of a model, with its arguments."""

    def __init__(
        self,
        model: Union[Model, str, "os.PathLike[str]"],
        method: str,
        options: Dict[str, Any],
        columns: Dict[str, Any],
        schema: "pyarrow.Schema",
    ):
        self.model, self.method, self.options = Travelling(model), method, options
        self.facts = (model if isinstance(model, Model) else self.model.load()).facts
        self.columns = said(self.facts, schema.names, columns)
        self.id, self.time = self.columns["id"], self.columns["time"]
        # What is wrong is said here, and not by a worker.
        read_options({}, self.columns)
        self._check()
        #: Whether the answer is the table itself with its gaps filled.
        self.is_filled = bool(options.get("wide")) and not is_long(self.facts, schema.names, self.columns)
        #: The columns of the answer.
        self.schema = self._promised(schema)

    def keeps(self, name: str) -> bool:
        """Whether a column of the table comes back as it was."""
        return self.is_filled and name not in self.facts["variables"]

    def _check(self) -> None:
        if self.columns.get("duplicates") == "last":
            raise TableError('duplicates="last": rows have no order here; "mean" takes the mean of the values')
        if self.method == "classify" and not self.facts["classes"]:
            raise ModelError("this model has not learned classes")
        if self.method == "forecast" and not self.facts["forecasts"]:
            raise ModelError(
                "the model has not chosen how it forecasts, and would choose anew on every part of the table: fit it to the end, "
                "on series of two times and more"
            )
        if self.method == "forecast" and (self.options["steps"] is None) == (self.options["until"] is None):
            raise ModelError("how far? give a number of steps, a length of time, or until=...")
        if self.method == "evaluate":
            self.options["hold_out"] = self.options["hold_out"] or self.facts["hold_out"]
            if self.options["hold_out"] == "tail":
                raise ModelError(
                    'hold_out="tail": methods of forecasts are compared on all series together; give a sample of the series to '
                    'Model.evaluate, or hold out "blocks" or "random" here'
                )

    def _promised(self, schema: "pyarrow.Schema") -> "pyarrow.Schema":
        number, text = pyarrow.float64(), pyarrow.string()
        if self.method == "evaluate":
            return pyarrow.schema([("sums", text)])
        if self.is_filled:
            return pyarrow.schema([field if self.keeps(field.name) else field.with_type(number) for field in schema])
        facts, times = self.facts, self.facts["time_columns"]
        series = (facts["id"] or "id", id_type(schema.field(self.id).type))
        time = (times[0] if len(times) == 1 else "time", time_type(facts, schema, self.time))
        if self.method == "classify":
            fields = [series, *([time] if facts["is_per_time"] else []), ("class", text)]
            numbers = [f"p_{name}" for name in facts["classes"]]
        elif self.options.get("wide"):
            fields, numbers = [series, time], [*facts["variables"], *facts["statics"]]
        else:
            # As the library writes them: all digits, and no exponent.
            levels = [np.format_float_positional(float(level), trim="-") for level in self.options["quantiles"]]
            samples = [f"sample_{number + 1}" for number in range(self.options["samples"])]
            fields, numbers = [series, time, ("variable", text)], ["mean", "sd", *[f"q{level}" for level in levels], *samples]
        return pyarrow.schema(fields + [(name, number) for name in numbers])

    def answer(self, part: Any) -> Any:
        """What the model says about a part, as a table of the same kind."""
        model, table = self.model.load(), source(part)
        if self.method == "evaluate":
            given = (table.frame, *read_options(table.roles, self.columns))
            options = [self.options[name] for name in ("hold_out", "share", "block", "draws", "seed")]
            sums = pyarrow.table({"sums": [model._model.evaluate_part(given, *options)]})
            return table.back(Frame.from_stream(sums))
        try:
            answer = getattr(model, self.method)(table, **self.options, **self.columns)
        except _stroock.NothingAhead:
            # Other parts may have series that end before what is to be forecast.
            answer = table.back(Frame.from_stream(self.schema.empty_table()))
        return self._as_promised(part, answer) if isinstance(answer, pyarrow.Table) else answer

    def _as_promised(self, part: "pyarrow.Table", answer: "pyarrow.Table") -> "pyarrow.Table":
        columns = {}
        for field in self.schema:
            name, found = field.name, answer[field.name]
            if pyarrow.types.is_date(field.type) and not pyarrow.types.is_date(found.type):
                raise TableError(
                    f"column `{name}` has days, and there are predictions between them: make it a column of timestamps"
                )
            columns[name] = part[name] if self.keeps(name) else found.cast(field.type)
        return pyarrow.table(columns)

    def evaluation(self, parts: Sequence[str]) -> Evaluation:
        """The scores of all parts together."""
        words, values = self.model.load()._model.evaluation(list(parts))
        evaluation = Evaluation(words, json.loads(values))
        _warn(evaluation.data["warnings"])
        return evaluation


def said(facts: Dict[str, Any], names: Sequence[str], columns: Dict[str, Any]) -> Dict[str, Any]:
    """Which column is what, series and times being said: no part may guess otherwise than another."""
    id, known = columns.get("id") or facts["id"], ", ".join(f"`{name}`" for name in names)
    if id is None or id not in names:
        missing = "the model knows no column of series" if id is None else f"there is no column `{id}`"
        raise TableError(f"{missing}: give id=..., the column of the names of the series; there are {known}")
    times = columns.get("time") or facts["time_columns"]
    times = [times] if isinstance(times, str) else list(times)
    for time in times:
        if time not in names:
            raise TableError(f"there is no column `{time}`: give time=..., the column of the times; there are {known}")
    return {**columns, "id": id, "time": times, "is_part": True}


def is_long(facts: Dict[str, Any], names: Sequence[str], columns: Dict[str, Any]) -> bool:
    """Whether a table has a row for every value, as the library finds it out."""
    if columns.get("variable") or columns.get("value"):
        return True
    if facts["long"] and all(name in names for name in facts["long"]):
        return True
    return not any(name in names for name in facts["variables"])


def id_type(kind: "pyarrow.DataType") -> "pyarrow.DataType":
    """What the names of series come back as."""
    return pyarrow.int64() if pyarrow.types.is_integer(kind) else pyarrow.string()


def time_type(facts: Dict[str, Any], schema: "pyarrow.Schema", times: Sequence[str]) -> "pyarrow.DataType":
    """What times come back as."""
    if not facts["is_dated"]:
        return pyarrow.float64()
    kind = schema.field(times[0]).type if len(times) == 1 else pyarrow.string()
    if pyarrow.types.is_timestamp(kind):
        return kind
    return pyarrow.date32() if pyarrow.types.is_date(kind) else pyarrow.string()


def is_text(kind: "pyarrow.DataType") -> bool:
    """Whether names of series are texts: blanks around them mean nothing."""
    return pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)


def parts(batches: Iterator["pyarrow.RecordBatch"], id: str, rows: int) -> Iterator["pyarrow.Table"]:
    """Tables of `rows` rows or a little more, with whole series each, of batches that are sorted by series.

    >>> import pyarrow
    >>> batch = pyarrow.record_batch({"id": ["a", "a", "b", "b", "b", "c"]})
    >>> [part["id"].to_pylist() for part in parts(iter([batch.slice(0, 4), batch.slice(4)]), "id", 3)]
    [['a', 'a'], ['b', 'b', 'b'], ['c']]
    """
    held: List["pyarrow.RecordBatch"] = []
    # Rows that are held, those of them before the last series, and its name.
    count, border, last = 0, 0, None
    for batch in batches:
        if batch.num_rows == 0:
            continue
        names = batch.column(batch.schema.get_field_index(id))
        if is_text(names.type):
            names = pyarrow.compute.utf8_trim_whitespace(names)
        name = names[-1]
        first = pyarrow.compute.index(names, name).as_py() if name.is_valid else 0
        if first > 0 or (count > 0 and name != last):
            border = count + first
        held.append(batch)
        count, last = count + batch.num_rows, name
        if count >= rows and border > 0:
            table = pyarrow.Table.from_batches(held)
            yield table.slice(0, border)
            held = table.slice(border).to_batches()
            count, border = count - border, 0
    if held:
        yield pyarrow.Table.from_batches(held)


def limit_threads(count: Optional[int]) -> None:
    """Lets the library use so many threads in this process, if it has none yet, and nobody has said otherwise."""
    if count is not None:
        os.environ.setdefault("RAYON_NUM_THREADS", str(max(1, int(count))))
