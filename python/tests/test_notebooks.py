"""The tutorial notebooks run from the first cell to the last, and show what their text promises."""

import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"


def stored(name):
    return nbformat.read(FOLDER / name, as_version=4)


def outputs(name, folder):
    """What all cells show, after a run in `folder`."""
    notebook = stored(name)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def shown(found, kind):
    return [output["data"][kind] for output in found if kind in output.get("data", {})]


def printed(found):
    texts = [output["text"] for output in found if output.output_type == "stream" and output.name == "stdout"]
    return "".join(texts)


def numbers(pattern, text):
    return [float(number) for number in re.findall(pattern, text)]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.name)
def test_notebooks_are_stored_without_outputs(path):
    for cell in stored(path.name).cells:
        assert cell.cell_type != "code" or (cell.outputs == [] and cell.execution_count is None)


def test_from_a_data_frame_to_intervals(tmp_path):
    pytest.importorskip("pandas")
    found = outputs("data-frame.ipynb", tmp_path)
    assert len(shown(found, "image/svg+xml")) == 2
    pages = "".join(shown(found, "text/html"))
    # The bar of the fit, the model, the scores.
    assert "<progress" in pages and "temperature" in pages and "in 90 %" in pages
    assert shown(found, "text/plain")[-1] == "True"
    assert (tmp_path / "stations.safetensors").exists()


def test_series_in_scikit_learn(tmp_path):
    pytest.importorskip("sklearn")
    text = printed(outputs("scikit-learn.ipynb", tmp_path))
    accuracies = numbers(r"accuracy (?:of .*: )?(\d\.\d+)", text)
    assert len(accuracies) == 2 and min(accuracies) > 0.75
    assert len(numbers(r"worn with probability (\d\.\d+)", text)) == 6
    assert len(numbers(r"between +(-?\d\.\d+)", text)) == 6


def test_paths_in_pytorch(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed (scripts/python --with torch)")
    text = printed(outputs("pytorch.ipynb", tmp_path))
    assert numbers(r"largest difference: (\S+)", text)[0] < 1e-4
    away = numbers(r"paths +(\d+\.\d) degrees", text)
    assert away[0] > 30 and away[-1] < 10
    bounds = numbers(r"bound +(-?\d+\.\d)", text)
    assert bounds[-1] > bounds[0]
