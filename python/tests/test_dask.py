"""Predictions on Dask, beside those of one process."""

import pytest

pytest.importorskip("dask.dataframe", reason="dask is not installed: scripts/python --with dask")

import dask  # noqa: E402
import dask.dataframe as dd  # noqa: E402

import stroock  # noqa: E402
import stroock.dask  # noqa: E402

from engines import CASES, expected, model, same, same_scores, sites, waves  # noqa: E402


def to_dask(frame, partitions=3):
    """A table of several partitions, in no order."""
    return dd.from_pandas(frame.sample(frac=1.0, random_state=1), npartitions=partitions, sort=False)


@pytest.mark.parametrize("case", list(CASES))
def test_rows_are_those_of_one_process(case):
    name, _, method, options = CASES[case]
    data, wanted = expected(case)
    answers = getattr(stroock.dask, method)(to_dask(data), model(name), partitions=4, rows=150, **options)
    found = answers.compute()
    assert list(answers.columns) == list(wanted)
    for column in wanted:
        # Texts may be of one of several kinds.
        if wanted[column].dtype.kind in "fiM":
            assert answers.dtypes[column] == found[column].dtype == wanted[column].dtype
    same(found, wanted)


def test_other_processes_give_the_same_rows():
    _, wanted = expected("gaps")
    answers = stroock.dask.impute(to_dask(waves()), model("waves"), **CASES["gaps"][3])
    with dask.config.set(scheduler="processes", num_workers=2):
        same(answers.compute(), wanted)


def test_a_cluster_gives_the_same_rows():
    distributed = pytest.importorskip("distributed", reason="distributed is not installed: scripts/python --with dask")
    _, wanted = expected("windows")
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster):
        answers = stroock.dask.impute(to_dask(sites()), model("sites"), rows=1000, **CASES["windows"][3])
        same(answers.compute(), wanted)


def test_filled_tables_keep_their_index():
    data = waves()
    filled = stroock.dask.impute(to_dask(data), model("waves"), wide=True, rows=100).compute()
    wanted = model("waves").impute(data, wide=True)
    assert filled.sort_index()[["time", "x", "y"]].equals(wanted[["time", "x", "y"]])


def test_series_may_be_in_the_index():
    _, wanted = expected("gaps in closed form")
    data = dd.from_pandas(waves().set_index("id"), npartitions=3)
    same(stroock.dask.impute(data, model("waves"), quantiles=[0.5, 1.0]).compute(), wanted)


def test_models_travel_by_path(tmp_path):
    path = tmp_path / "model.safetensors"
    model("waves").save(path)
    _, wanted = expected("gaps in closed form")
    same(stroock.dask.impute(to_dask(waves()), path, quantiles=[0.5, 1.0]).compute(), wanted)


def test_blanks_around_names_mean_nothing():
    data = waves()
    data["id"] = ["\u00a0" * (row % 2) + name + " " * (row % 3) for row, name in enumerate(data["id"])]
    same(stroock.dask.impute(to_dask(data), model("waves"), rows=1).compute(), model("waves").impute(data))


@pytest.mark.parametrize("options", [{}, {"hold_out": "random", "share": 0.3, "seed": 5}])
@pytest.mark.parametrize("name, data", [("sites", sites), ("classes", lambda: waves(classes=True))])
def test_scores_are_those_of_one_process(name, data, options):
    frame = data()
    found = stroock.dask.evaluate(to_dask(frame), model(name), rows=200, draws=20, **options)
    same_scores(found, model(name).evaluate(frame, draws=20, **options))


def test_what_parts_cannot_do_is_said():
    frame = to_dask(sites())
    with pytest.raises(stroock.StroockError, match="has not chosen how it forecasts"):
        stroock.dask.forecast(to_dask(waves()), model("points"), 3)
    with pytest.raises(TypeError, match="no argument `tme`"):
        stroock.dask.impute(frame, model("sites"), tme="when")
    with pytest.raises(stroock.StroockError, match='hold_out="tail"'):
        stroock.dask.evaluate(frame, model("ahead"))
    with pytest.raises(stroock.StroockError, match="give id="):
        stroock.dask.impute(frame.drop(columns="site"), model("sites"))
