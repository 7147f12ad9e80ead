"""A thousand calls leave nothing behind, whether they succeed or fail."""

import gc

import numpy as np
import pytest

import stroock

from test_bad_input import resident
from test_model import table
from test_tables import INSTALLED

ROWS = 2000
# What a leak of one column of one call in each of a thousand would be, in megabytes, and half of that.
LEAK = 1000 * ROWS * 8 / 1e6
TOLERATED = LEAK / 2


def grown(call, calls=1000, before=200):
    """Megabytes that the process has grown by in `calls` calls, after some to warm up."""

    def run(count):
        for number in range(count):
            call(number)
        gc.collect()
        return resident()

    begun = run(before)
    return run(calls) - begun


def columns():
    return {
        "id": np.repeat(np.arange(10), ROWS // 10),
        "time": np.tile(np.arange(ROWS / 10), 10),
        "x": np.random.default_rng(0).normal(size=ROWS),
    }


@pytest.mark.parametrize("kind", ["dict", "pairs", "pandas", "polars", "pyarrow", "duckdb"])
def test_tables(kind):
    if kind == "dict":
        frame = columns()
    elif kind == "pairs":
        frame = [(np.arange(ROWS / 10), np.arange(ROWS / 10)) for _ in range(10)]
    else:
        module = pytest.importorskip(kind)
        arrow = columns() if kind != "duckdb" else pytest.importorskip("pyarrow").table(columns())
        if kind == "duckdb":
            frame = module.sql("select * from arrow")
        else:
            frame = module.table(arrow) if kind == "pyarrow" else module.DataFrame(arrow)
    assert grown(lambda _: stroock.describe(frame)) < TOLERATED


@pytest.mark.skipif("pandas" not in INSTALLED, reason="pandas is not installed")
def test_texts_and_dates_of_pandas():
    import pandas

    frame = pandas.DataFrame(
        {
            "id": np.repeat([f"series {k}" for k in range(10)], ROWS // 10),
            "time": pandas.date_range("2024-01-01", periods=ROWS, freq="min", tz="UTC"),
            "x": columns()["x"],
        }
    )
    assert grown(lambda _: stroock.describe(frame), calls=300, before=50) < 0.3 * TOLERATED


def test_failures():
    bad = columns()
    bad["x"] = bad["x"].copy()
    bad["x"][-1] = np.inf

    def call(_):
        with pytest.raises(stroock.TableError):
            stroock.describe(bad)

    assert grown(call) < TOLERATED


def problem(samples=8, steps=60):
    """A path whose states are as large as a column of the tables."""
    start = np.zeros((samples, 4))
    start[:, 0] = 1.0
    return start, np.full((samples, steps, 6), 0.1), np.linspace(0, 1, steps + 1)


def test_paths_of_numpy():
    start, drift, times = problem()
    assert grown(lambda seed: stroock.geometric_em(start, drift, 0.3, times, seed=seed)) < TOLERATED

    def fails(_):
        with pytest.raises(stroock.PathError):
            stroock.geometric_em(start, drift, -1.0, times)

    assert grown(fails) < TOLERATED


def test_paths_of_torch():
    torch = pytest.importorskip("torch")
    import stroock.torch

    start, drift, times = (torch.from_numpy(x) for x in problem())
    drift.requires_grad_()

    def call(seed):
        drift.grad = None
        states, divergence = stroock.torch.geometric_em(start, drift, 0.3, times, seed=seed)
        (states.sum() + divergence.sum()).backward()

    assert grown(call) < TOLERATED
    # Tapes of graphs that nobody goes back through.
    assert grown(lambda seed: stroock.torch.geometric_em(start, drift, 0.3, times, seed=seed)) < TOLERATED


def test_paths_of_jax():
    jax = pytest.importorskip("jax")
    import stroock.jax

    start, drift, times = problem()
    loss = lambda drift, seed: stroock.jax.geometric_em(start, drift, 0.3, times, seed=seed).states.sum()  # noqa: E731
    gradient = jax.jit(jax.grad(loss))
    assert grown(lambda seed: gradient(drift, jax.random.key(seed)).block_until_ready()) < TOLERATED


@pytest.fixture(scope="module")
def model():
    return stroock.fit(table(), epochs=1, progress=False)


def some():
    return {name: values[:48] for name, values in table().items()}


def test_predictions(model):
    few = some()
    assert grown(lambda seed: model.impute(few, draws=20, seed=seed)) < TOLERATED
    assert grown(lambda _: model.facts) < TOLERATED


def test_other_answers(model):
    few = some()

    def call(seed):
        model.impute(few, wide=True, draws=20)
        model.forecast(few, 3, draws=20, seed=seed)
        model.sample(count=2, seed=seed)
        model.figure(few, series=1, draws=20)

    assert grown(call, calls=100, before=20) < TOLERATED


def test_fits():
    few = {name: values[: 24 * 12] for name, values in table().items()}
    assert grown(lambda seed: stroock.fit(few, epochs=1, seed=seed, progress=False), calls=50, before=10) < TOLERATED
