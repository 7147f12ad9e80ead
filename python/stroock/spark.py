"""Predictions on Spark: the rows of one process, from as many machines as there are.

>>> import stroock.spark                                          # doctest: +SKIP
>>> gaps = stroock.spark.impute(df, "model.safetensors")          # doctest: +SKIP
>>> gaps.write.parquet("gaps")                                    # doctest: +SKIP

A DataFrame goes in, and one comes back whose columns are known before anything runs. Rows are brought together by series;
every Python worker loads the model once, and answers for many series at a time. The package must be installed on the
workers.
"""

from __future__ import annotations

from typing import Iterator, List, Optional

import pyarrow
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.utils import is_remote

from . import _parts
from ._engines import Engine
from ._parts import Work

__all__ = ["classify", "evaluate", "forecast", "impute"]

#: Rows of a batch that goes back to Spark.
BATCH = 50_000

#: What columns of series, times and numbers are in Arrow's terms; everything else is passed on as it is.
KINDS = [
    (T.StringType(), pyarrow.string()),
    (T.LongType(), pyarrow.int64()),
    (T.DoubleType(), pyarrow.float64()),
    (T.TimestampType(), pyarrow.timestamp("us", tz="UTC")),
    (T.TimestampNTZType(), pyarrow.timestamp("us")),
    (T.DateType(), pyarrow.date32()),
]


class _Spark(Engine):
    def schema(self, df: DataFrame) -> "pyarrow.Schema":
        return pyarrow.schema([(field.name, _to_arrow(field.dataType)) for field in df.schema])

    def run(self, df: DataFrame, work: Work, partitions: Optional[int], rows: int) -> DataFrame:
        spark = df.sparkSession
        name = F.col(_quoted(work.id))
        if isinstance(df.schema[work.id].dataType, T.StringType):
            # Blanks around a name mean nothing to the library.
            name = F.regexp_replace(name, r"(?U)^\s+|\s+$", "")
        times = [F.col(_quoted(time)) for time in work.time]
        # Spark keeps to a number that it is given, also where bytes are few: the work is in the series.
        count = partitions or int(spark.conf.get("spark.sql.shuffle.partitions"))
        together = df.repartition(count, name).sortWithinPartitions(name, *times)
        if work.model.content is not None and not is_remote():
            work.model.content = spark.sparkContext.broadcast(work.model.content)

        def answers(batches: Iterator["pyarrow.RecordBatch"]) -> Iterator["pyarrow.RecordBatch"]:
            context = TaskContext.get()
            _parts.limit_threads(context.cpus() if context is not None else 1)
            for part in _parts.parts(batches, work.id, rows):
                yield from work.answer(part).to_batches(max_chunksize=BATCH)

        return together.mapInArrow(answers, _promised(df, work))

    def sums(self, answers: DataFrame) -> List[str]:
        return [row["sums"] for row in answers.collect()]


def _to_arrow(kind: T.DataType) -> "pyarrow.DataType":
    if isinstance(kind, T.IntegralType):
        return pyarrow.int64()
    return next((arrow for spark, arrow in KINDS if isinstance(kind, type(spark))), pyarrow.null())


def _promised(df: DataFrame, work: Work) -> T.StructType:
    """The columns of the answer; those of the table that are passed on are as they were."""
    kept = {field.name: field for field in df.schema if work.keeps(field.name)}
    kinds = {arrow: spark for spark, arrow in KINDS}
    return T.StructType([kept.get(field.name) or T.StructField(field.name, kinds[field.type]) for field in work.schema])


def _quoted(name: str) -> str:
    """A name of a column that may have dots in it."""
    return "`" + name.replace("`", "``") + "`"


_engine = _Spark()
impute, forecast, classify, evaluate = _engine.impute, _engine.forecast, _engine.classify, _engine.evaluate
