"""Predictions on Dask: the rows of one process, from as many machines as there are.

>>> import dask.dataframe as dd, stroock.dask                     # doctest: +SKIP
>>> gaps = stroock.dask.impute(dd.read_parquet("stays"), model)   # doctest: +SKIP
>>> gaps.to_parquet("gaps")                                       # doctest: +SKIP

A data frame of `dask.dataframe` goes in, and one comes back that is computed when it is asked for. Rows are brought together
by series; every process loads the model once, and answers for many series at a time. The package must be installed on the
workers.
"""

from __future__ import annotations

import sys
from typing import Any, Iterator, List, Optional

import dask
import dask.dataframe as dd
import numpy as np
import pandas
import pyarrow

from . import _parts
from ._engines import Engine
from ._parts import Work
from ._stroock import Frame
from ._tables import source

__all__ = ["classify", "evaluate", "forecast", "impute"]

#: A column of names without the blanks around them.
NAMES = "__stroock_series"


class _Dask(Engine):
    def schema(self, df: "dd.DataFrame") -> "pyarrow.Schema":
        return pyarrow.Schema.from_pandas(_with_index(df)._meta, preserve_index=False)

    def run(self, df: "dd.DataFrame", work: Work, partitions: Optional[int], rows: int) -> "dd.DataFrame":
        df, name = _with_index(df), work.id
        meta = _promised(df._meta, work)
        if not pandas.api.types.is_numeric_dtype(df._meta[name].dtype):
            # Blanks around a name mean nothing to the library.
            df, name = df.assign(**{NAMES: df[name].astype("string").str.strip()}), NAMES
        together = df.shuffle(on=name, npartitions=partitions or df.npartitions)
        return together.map_partitions(
            _answers, dask.delayed(work), name, rows, meta, meta=meta, clear_divisions=True
        )

    def sums(self, answers: "dd.DataFrame") -> List[str]:
        return list(answers.compute()["sums"])


def _with_index(df: "dd.DataFrame") -> "dd.DataFrame":
    """An index with a name is a column of the table."""
    return df if df._meta.index.name is None else df.reset_index()


def _promised(table: "pandas.DataFrame", work: Work) -> "pandas.DataFrame":
    """An answer without rows."""
    if work.is_filled:
        return table.astype({name: np.float64 for name in table if not work.keeps(name)})
    return source(pandas.DataFrame({"time": [0.0]})).back(Frame.from_stream(work.schema.empty_table()))


def _answers(table: "pandas.DataFrame", work: Work, name: str, rows: int, meta: "pandas.DataFrame") -> Any:
    """The answers about a partition, which has whole series."""
    if "distributed" in sys.modules:
        _parts.limit_threads(_threads())
    answers = (_answer(part, work) for part in _tables(table, name, rows))
    # Those without rows may have lost the types of their columns.
    answers = [answer for answer in answers if len(answer)]
    return pandas.concat(answers, ignore_index=not work.is_filled) if answers else meta


def _answer(part: "pandas.DataFrame", work: Work) -> "pandas.DataFrame":
    answer = work.answer(part)
    return answer.assign(**{name: part[name] for name in part if work.keeps(name)})


def _tables(table: "pandas.DataFrame", name: str, rows: int) -> Iterator["pandas.DataFrame"]:
    """Tables of `rows` rows or fewer, with whole series each; longer where a series is."""
    codes, _ = pandas.factorize(table[name])
    order = np.argsort(codes, kind="stable")
    # Where series begin, and the end.
    borders = np.append(np.flatnonzero(np.diff(codes[order], prepend=-2)), len(codes))
    table = table.drop(columns=NAMES, errors="ignore")
    first = 0
    while first < len(codes):
        last = borders[np.searchsorted(borders, first + rows, side="right") - 1]
        if last <= first:
            last = borders[np.searchsorted(borders, first, side="right")]
        yield table.iloc[order[first:last]]
        first = last


def _threads() -> Optional[int]:
    """The threads of this worker."""
    from distributed import get_worker

    try:
        return get_worker().state.nthreads
    except ValueError:
        # Not on a worker.
        return None


_engine = _Dask()
impute, forecast, classify, evaluate = _engine.impute, _engine.forecast, _engine.classify, _engine.evaluate
