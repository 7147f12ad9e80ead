"""Models of tables, from fit to scores."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time as clock

import numpy as np
import pytest

import stroock

from test_tables import INSTALLED

SERIES, POINTS = 40, 24


def table(seed=0, classes=False):
    """Sines with gaps in two variables."""
    random = np.random.default_rng(seed)
    ids, times, values, labels = [], [], [], []
    for number in range(SERIES):
        time = np.sort(random.uniform(0, 12, POINTS)).round(3)
        speed = 1.0 if number % 2 else 2.0
        angle = speed * time + random.uniform(0, 6)
        ids.append(np.full(POINTS, f"s{number:02d}"))
        times.append(time)
        values.append(np.stack([np.sin(angle), 3 + 2 * np.cos(angle)], 1) + random.normal(0, 0.05, (POINTS, 2)))
        labels.append(np.full(POINTS, "slow" if number % 2 else "fast"))
    values = np.concatenate(values)
    values[random.uniform(size=values.shape) < 0.3] = np.nan
    columns = {"id": np.concatenate(ids), "time": np.concatenate(times), "x": values[:, 0], "y": values[:, 1]}
    return {**columns, "class": np.concatenate(labels)} if classes else columns


@pytest.fixture(scope="module")
def model():
    return stroock.fit(table(), epochs=4, seed=3, progress=False)


def test_gaps_have_distributions(model):
    gaps = model.impute(table(), quantiles=[0.1, 0.9], samples=2, draws=50)
    assert list(gaps) == ["id", "time", "variable", "mean", "sd", "q0.1", "q0.9", "sample_1", "sample_2"]
    data = table()
    assert len(gaps["mean"]) == np.isnan(data["x"]).sum() + np.isnan(data["y"]).sum()
    assert np.all(gaps["q0.1"] < gaps["q0.9"]) and np.all(gaps["sd"] > 0)


def test_filled_tables_keep_what_was_there(model):
    data = table()
    filled = model.impute(data, wide=True)
    assert list(filled) == list(data)
    for name in ("x", "y"):
        there = ~np.isnan(data[name])
        np.testing.assert_array_equal(filled[name][there], data[name][there])
        assert not np.isnan(filled[name]).any()
    gaps = model.impute(data, quantiles=[])
    x = gaps["variable"] == "x"
    keys = {(i, t): m for i, t, m in zip(gaps["id"][x], gaps["time"][x], gaps["mean"][x])}
    missing = np.isnan(data["x"])
    for i, t, value in zip(data["id"][missing], data["time"][missing], filled["x"][missing]):
        assert keys[i, t] == value


def test_times_of_choice(model):
    found = model.impute(table(), at=[1.0, 2.5], quantiles=[0.5])
    assert len(found["mean"]) == SERIES * 2 * 2
    assert set(found["time"]) == {1.0, 2.5}


def test_forecasts(model):
    ahead = model.forecast(table(), 3)
    assert len(ahead["mean"]) == SERIES * 3 * 2
    until = model.forecast(table(), until=14.0, every=1.0)
    assert until["time"].max() <= 14.0
    with pytest.raises(stroock.StroockError, match="how far"):
        model.forecast(table())


def test_samples(model):
    new = model.sample(count=3, seed=5)
    assert set(np.unique(np.asarray(new["id"]).astype(str))) == {"sample 1", "sample 2", "sample 3"}
    courses = model.sample(table(), count=2, every=2.0)
    assert set(courses["draw"]) == {1, 2}


def test_scores(model):
    scores = model.evaluate()
    assert set(scores.variables) == {"x", "y"} and scores.overall["rmse"] > 0
    assert "kept for testing" in str(scores) and "<table>" in scores._repr_html_()
    given = model.evaluate(table(1), hold_out="random", share=0.1)
    assert given.about == "the given series" and given.data["series"] == SERIES
    tails = model.evaluate(hold_out="tail")
    assert tails.overall["count"] > 0


def test_reports(model, tmp_path):
    page = model.report(tmp_path / "report.html", series=2)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text == page.html and text.startswith("<!doctype html>")
    assert sum(f'"s{number:02d}"' in text for number in range(SERIES)) == 2
    assert page._repr_html_().startswith("<iframe")


def test_reports_of_models_that_were_loaded(model, tmp_path):
    path = tmp_path / "model.safetensors"
    model.save(path)
    alone = stroock.Model.load(path)
    with pytest.raises(stroock.StroockError, match="a model file holds the model, but not the data"):
        alone.report()
    page = alone.report(data=table(1), series=2).html
    assert "the given series" not in page and "calibration" in page.lower()
    assert "[fit.training]" not in page and "Seed" not in page
    tails = alone.report(data=table(1), series=2, hold_out="tail").html
    assert tails != page

    stroock.fit(table(), epochs=2, seed=3, out=tmp_path / "run", progress=False)
    run = stroock.Model.load(tmp_path / "run")
    assert run.facts["epochs"] == 2 and "[fit.training]" in run.config
    for call in (run.report, run.evaluate):
        with pytest.raises(stroock.StroockError, match="in memory.*give the data"):
            call()
    assert "[fit.training]" in run.report(data=table(1), series=2).html


def test_figures(model, tmp_path):
    figure = model.figure(table(), series=["s03", "s11"], variables="x", ahead=3)
    assert figure.svg.startswith("<svg") and "s03" in figure.svg and "s11" in figure.svg
    assert figure._repr_svg_() == figure.svg
    figure.save(tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").read_text(encoding="utf-8") == figure.svg
    assert model.figure(table(), series=["s03", "s11"], variables="x", ahead=3).svg == figure.svg
    part = model.figure(table(), series=1, since=3.0, until=6.0).svg
    assert "s00" in part and "s01" not in part
    with pytest.raises(stroock.StroockError, match="no series `s99`"):
        model.figure(table(), series="s99")
    with pytest.raises(stroock.StroockError, match="no variable `z`"):
        model.figure(table(), variables=["z"])


def test_files_and_pickles_hold_the_model(model, tmp_path):
    expected = model.impute(table(2))
    path = tmp_path / "model.safetensors"
    model.save(path)
    for other in (stroock.Model.load(path), pickle.loads(pickle.dumps(model))):
        found = other.impute(table(2))
        for name in expected:
            np.testing.assert_array_equal(found[name], expected[name])
    with pytest.raises(stroock.StroockError, match="give the data"):
        stroock.Model.load(path).evaluate()
    with pytest.raises(stroock.StroockError):
        stroock.Model.load(tmp_path / "none.safetensors")


def test_models_show_themselves(model):
    assert repr(model) == "Model(latent-sde, variables=['x', 'y'], epochs=4)"
    assert "<li>variables: x, y</li>" in model._repr_html_()
    assert "[fit.training]" in model.config


def test_classes():
    data = table(classes=True)
    model = stroock.fit(data, task="classify", target="class", epochs=3, progress=False)
    classes = model.classify(data)
    assert list(classes) == ["id", "class", "p_fast", "p_slow"]
    np.testing.assert_allclose(classes["p_fast"] + classes["p_slow"], 1, atol=1e-9)
    truth = np.array(["slow" if number % 2 else "fast" for number in range(SERIES)])
    assert (classes["class"] == truth).mean() > 0.8
    assert model.evaluate().classes["scores"]["count"] > 0
    with pytest.raises(stroock.StroockError, match="target="):
        stroock.fit(data, task="classify", progress=False)


def test_the_same_seed_gives_the_same_bits(model):
    again = stroock.fit(table(), epochs=4, seed=3, progress=False)
    np.testing.assert_array_equal(again.impute(table(2))["mean"], model.impute(table(2))["mean"])
    other = stroock.fit(table(), epochs=4, seed=4, progress=False)
    assert np.abs(other.impute(table(2))["mean"] - model.impute(table(2))["mean"]).max() > 0


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_what_comes_back_is_of_the_kind_that_went_in(model, kind):
    module = pytest.importorskip(kind)
    data = table(2)
    frame = module.table(data) if kind == "pyarrow" else module.DataFrame(data)
    expected = model.impute(data)
    found = model.impute(frame)
    assert type(found) is type(frame)
    for name in expected:
        values = np.asarray(found[name])
        np.testing.assert_array_equal(values.astype(expected[name].dtype), expected[name])
    filled = model.impute(frame, wide=True)
    assert type(filled) is type(frame)
    np.testing.assert_array_equal(np.asarray(filled["y"]), model.impute(data, wide=True)["y"])
    assert type(stroock.fit(frame, epochs=1, progress=False).sample(count=1)) is type(frame)


@pytest.mark.skipif("pandas" not in INSTALLED, reason="pandas is not installed")
def test_dates_come_back_in_their_zone():
    import pandas

    hours = 24 * 40
    times = pandas.date_range("2024-03-10", periods=hours, freq="h", tz="Europe/Vienna")
    random = np.random.default_rng(0)
    load = 10 + np.sin(np.arange(hours) * 2 * np.pi / 24) + random.normal(0, 0.1, hours)
    load[random.uniform(size=hours) < 0.1] = np.nan
    frame = pandas.DataFrame({"site": 7, "when": times, "load": load})
    model = stroock.fit(frame, id="site", epochs=2, progress=False)
    gaps = model.impute(frame)
    assert str(gaps["when"].dtype.tz) == "Europe/Vienna" and gaps["site"].dtype == np.int64
    assert set(gaps["when"]) == set(times[np.isnan(load)])
    ahead = model.forecast(frame, "6h")
    assert list(ahead["when"]) == list(pandas.date_range(times[-1], periods=7, freq="h")[1:])
    assert ahead.attrs["notes"]
    naive = frame.assign(when=times.tz_convert("UTC").tz_localize(None))
    gaps = model.impute(naive, time_zone="UTC")
    assert gaps["when"].dtype.kind == "M" and set(gaps["when"]) == set(naive["when"][np.isnan(load)])


def test_progress_is_told_and_may_fail():
    told = []
    stroock.fit(table(), epochs=2, progress=lambda *moment: told.append(moment))
    assert [moment[0] for moment in told if moment[4]][:2] == [1, 2]
    assert told[-1][2] == 1.0 and "loss" in told[0][3]

    def fails(*moment):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        stroock.fit(table(), epochs=50, progress=fails)


def test_other_threads_run_during_a_fit():
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(clock.perf_counter())
            clock.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begun = clock.perf_counter()
    stroock.fit(table(), epochs=3, progress=False)
    ended = clock.perf_counter()
    stop.set()
    thread.join()
    within = [t for t in ticks if begun < t < ended]
    assert len(within) > 5


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
def test_ctrl_c_leaves_a_usable_model():
    program = """
        import sys, warnings
        sys.path.insert(0, sys.argv[1])
        import numpy as np, stroock
        from test_model import table
        def show(epoch, epochs, share, text, is_mark):
            if is_mark:
                print("epoch", epoch, flush=True)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model = stroock.fit(table(), epochs=100000, settings={"training.patience": 0}, progress=show)
        assert any("stopped after epoch" in str(warning.message) for warning in said)
        assert model.facts["is_stopped"] and model.facts["is_finished"]
        assert np.isfinite(model.impute(table())["mean"]).all()
        print("usable")
    """
    arguments = [sys.executable, "-c", textwrap.dedent(program), os.path.dirname(__file__)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            if line.startswith("epoch 2"):
                process.send_signal(signal.SIGINT)
                break
        out, error = process.communicate(timeout=240)
    finally:
        process.kill()
    assert process.returncode == 0 and out.endswith("usable\n"), error


def test_runs_in_folders_can_be_resumed(tmp_path):
    run = tmp_path / "run"
    first = stroock.fit(table(), epochs=2, out=run, progress=False)
    assert (run / "config.toml").exists()
    assert stroock.Model.load(run).facts["variables"] == ["x", "y"]
    with pytest.raises(stroock.StroockError):
        stroock.fit(table(), epochs=2, out=run, progress=False)
    more = stroock.fit(table(), epochs=3, out=run, resume=True, progress=False)
    assert (first.facts["epochs"], more.facts["epochs"]) == (2, 3)
    with pytest.raises(stroock.StroockError, match="data have changed"):
        stroock.fit(table(1), out=run, resume=True, progress=False)


def test_settings_and_their_mistakes():
    model = stroock.fit(table(), epochs=1, settings={"training.batch_size": 7}, progress=False)
    assert "batch_size = 7" in model.config
    with pytest.raises(stroock.StroockError, match="batch_size"):
        stroock.fit(table(), settings={"training.batch_sise": 7}, progress=False)
    with pytest.raises(stroock.StroockError, match='task="dream"'):
        stroock.fit(table(), task="dream", progress=False)
    with pytest.raises(stroock.StroockError, match="none of the variables"):
        stroock.fit(table(), epochs=1, progress=False).impute({"time": [0.0], "z": [1.0]})


def test_the_demo_runs(capsys):
    stroock.demo(series=20, epochs=2, progress=False)
    assert "90 % intervals" in capsys.readouterr().out


def test_models_of_ones_own_choice():
    time = np.arange(20.0)
    series = [(time, np.sin(time / 3 + phase)) for phase in np.linspace(0, 6, 30)]
    model = stroock.fit(series, model="latent-ode", epochs=2, progress=False)
    assert model.facts["model"] == "latent-ode"
    with pytest.raises(stroock.StroockError, match="knot-sde"):
        stroock.fit(series, model="oracle", epochs=2, progress=False)
