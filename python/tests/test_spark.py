"""Predictions on Spark, in local mode, beside those of one process."""

import os
import shutil
import sys

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: scripts/python --with spark")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs a Java: scripts/python --with spark installs one", allow_module_level=True)

import pandas  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

import stroock  # noqa: E402
import stroock.spark  # noqa: E402

from engines import CASES, expected, long, model, same, same_scores, sites, waves  # noqa: E402


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("stroock")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "localhost",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.session.timeZone": "America/New_York",
        # Batches that end within series.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def to_spark(spark, frame):
    """A DataFrame of several partitions, with missing values as nulls, in no order."""
    frame = frame.sample(frac=1.0, random_state=1)
    return spark.createDataFrame(frame.astype(object).where(frame.notna(), None), schema=schema(frame)).repartition(3)


def schema(frame):
    kinds = {"f": "double", "i": "bigint", "M": "timestamp"}
    return ", ".join(f"`{name}` {kinds.get(kind_of(frame[name]), 'string')}" for name in frame)


def kind_of(column):
    return "M" if isinstance(column.dtype, pandas.DatetimeTZDtype) else column.dtype.kind


def to_pandas(frame):
    """The rows of a DataFrame, times as instants."""
    columns = frame.toArrow() if hasattr(frame, "toArrow") else None
    return columns.to_pandas() if columns is not None else frame.toPandas()


@pytest.mark.parametrize("case", list(CASES))
def test_rows_are_those_of_one_process(spark, case):
    name, _, method, options = CASES[case]
    data, wanted = expected(case)
    frame = to_spark(spark, data)
    answers = getattr(stroock.spark, method)(frame, model(name), partitions=3, rows=150, **options)
    assert answers.columns == list(wanted)
    same(to_pandas(answers), wanted)


def test_series_are_not_torn_apart(spark):
    data, wanted = expected("windows")
    frame = to_spark(spark, data)
    for partitions, rows in [(1, 10_000_000), (5, 1), (None, 700)]:
        options = CASES["windows"][3]
        answers = stroock.spark.impute(frame, model("sites"), partitions=partitions, rows=rows, **options)
        same(to_pandas(answers), wanted)


def test_models_travel_by_path(spark, tmp_path):
    path = tmp_path / "model.safetensors"
    model("waves").save(path)
    _, wanted = expected("gaps in closed form")
    answers = stroock.spark.impute(to_spark(spark, waves()), path, quantiles=[0.5, 1.0])
    same(to_pandas(answers), wanted)


def test_blanks_around_names_mean_nothing(spark):
    data = waves()
    data["id"] = ["\u00a0" * (row % 2) + name + " " * (row % 3) for row, name in enumerate(data["id"])]
    answers = stroock.spark.impute(to_spark(spark, data), model("waves"), rows=1)
    same(to_pandas(answers), model("waves").impute(data))


@pytest.mark.parametrize("options", [{}, {"hold_out": "random", "share": 0.3, "seed": 5}])
@pytest.mark.parametrize("name, data", [("sites", sites), ("classes", lambda: waves(classes=True))])
def test_scores_are_those_of_one_process(spark, name, data, options):
    frame = data()
    found = stroock.spark.evaluate(to_spark(spark, frame), model(name), rows=200, draws=20, **options)
    same_scores(found, model(name).evaluate(frame, draws=20, **options))


def test_columns_are_known_before_anything_runs(spark):
    frame = to_spark(spark, long())
    answers = stroock.spark.impute(frame, model("long"), wide=True)
    assert answers.dtypes == [("id", "string"), ("time", "double"), ("x", "double"), ("y", "double")]
    answers = stroock.spark.impute(to_spark(spark, sites()), model("sites"), samples=1, draws=2, quantiles=[1e-7])
    names = ["mean", "sd", "q0.0000001", "sample_1"]
    kinds = [("site", "bigint"), ("when", "timestamp"), ("variable", "string"), *[(name, "double") for name in names]]
    assert answers.dtypes == kinds
    assert answers.limit(1).collect()[0]["q0.0000001"] < 20


def test_what_parts_cannot_do_is_said(spark):
    frame = to_spark(spark, sites())
    with pytest.raises(stroock.StroockError, match="has not chosen how it forecasts"):
        stroock.spark.forecast(to_spark(spark, waves()), model("points"), 3)
    with pytest.raises(stroock.StroockError, match="how far"):
        stroock.spark.forecast(frame, model("ahead"))
    with pytest.raises(stroock.StroockError, match='hold_out="tail"'):
        stroock.spark.evaluate(frame, model("ahead"))
    with pytest.raises(stroock.StroockError, match="give id="):
        stroock.spark.impute(frame.drop("site"), model("sites"))
    with pytest.raises(stroock.StroockError, match="give time="):
        stroock.spark.impute(frame.drop("when"), model("sites"))
    with pytest.raises(stroock.StroockError, match="not learned classes"):
        stroock.spark.classify(frame, model("sites"))
    with pytest.raises(stroock.StroockError, match="no order"):
        stroock.spark.impute(frame, model("sites"), duplicates="last")
    with pytest.raises(Exception, match="between 0 and 1"):
        stroock.spark.impute(frame, model("sites"), quantiles=[2.0]).collect()
