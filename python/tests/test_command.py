"""The command and the package give the same numbers, to the last bit.

The environment variable `STROOCK_COMMAND` names the command; without it these tests are skipped.
"""

import csv
import json
import os
import subprocess

import numpy as np
import pytest

import stroock

from test_model import table

COMMAND = os.environ.get("STROOCK_COMMAND")
pytestmark = pytest.mark.skipif(not COMMAND, reason="STROOCK_COMMAND does not name the command")


def run(*arguments):
    return subprocess.run([COMMAND, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True).stdout


def write(path, columns):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in zip(*columns.values()):
            writer.writerow(["" if isinstance(cell, float) and cell != cell else repr(cell) if isinstance(cell, float) else cell for cell in row])


def read(text):
    header, *rows = csv.reader(text.splitlines())
    return {name: [row[k] for row in rows] for k, name in enumerate(header)}


def same(found, expected):
    assert list(found) == list(expected)
    for name, values in expected.items():
        if found[name].dtype.kind == "f":
            np.testing.assert_array_equal(found[name], np.array([float(value) for value in values]))
        else:
            assert [str(value) for value in found[name]] == values


# Forecasts are tested on the last part of series; the command is told so.
HELD = {"impute": [], "classify": [], "forecast": ["--hold-out", "tail"]}


@pytest.mark.parametrize("task", ["impute", "forecast", "classify"])
def test_bits_are_those_of_the_command(task, tmp_path):
    data = {name: values.tolist() for name, values in table(classes=True).items()}
    path, folder = tmp_path / "data.csv", tmp_path / "run"
    write(path, data)
    target = ["--target", "class"] if task == "classify" else ["--ignore", "class"]
    run("fit", path, "--out", folder, "--task", task, "--epochs", 2, "--seed", 5, *target)
    options = {"target": "class"} if task == "classify" else {"ignore": ["class"]}
    model = stroock.fit(table(classes=True), task=task, epochs=2, seed=5, progress=False, **options)
    loaded = stroock.Model.load(folder)
    for fitted in (model, loaded):
        same(fitted.impute(data), read(run("impute", folder, path)))
        same(fitted.forecast(data, 3), read(run("forecast", folder, path, "--for", 3)))
        same(fitted.sample(data, count=2), read(run("sample", folder, path, "--count", 2)))
        if task == "classify":
            same(fitted.classify(data), read(run("classify", folder, path)))
    assert loaded.evaluate().data == json.loads(run("evaluate", folder, "--json", *HELD[task]))
    run("report", folder, "--output", tmp_path / "page.html", "--series", 2)
    assert loaded.report(series=2).html == (tmp_path / "page.html").read_text(encoding="utf-8")
    saved = tmp_path / "model.safetensors"
    model.save(saved)
    assert run("impute", saved, path) == run("impute", folder, path)
