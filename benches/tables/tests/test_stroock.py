"""How calls of the command are understood."""

import pytest

from tables.stroock import FitStopped, Stroock, StroockFailed, shown


def command(folder, body):
    """A program in the place of stroock."""
    program = folder / "stroock"
    program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo stroock 0 && exit\n{body}\n')
    program.chmod(0o755)
    stroock = Stroock(program, "a test", folder / "work")
    stroock.begin("part")
    return stroock


def test_a_stopped_fit_is_no_result(tmp_path):
    """It ends with success, and leaves no row."""
    stroock = command(tmp_path, "echo 'stopped after epoch 3; go on with: stroock fit --out run --resume'")
    with pytest.raises(FitStopped):
        stroock.measured(lambda: stroock.fit("table.csv"), print)


def test_a_failure_is_a_result(tmp_path):
    """With what the command said."""
    stroock = command(tmp_path, "echo 'error: no values' >&2; exit 1")
    found = stroock.measured(lambda: stroock.fit("table.csv"), lambda _: None)
    assert "error: no values" in found["failure"]
    assert found["commands"] == ["stroock fit table.csv --out run"]
    with pytest.raises(StroockFailed):
        stroock.begin("part")
        stroock.fit("table.csv")


def test_long_lists_of_levels_are_shortened():
    """In what is printed and kept."""
    assert shown("stroock impute run --quantiles 0.1,0.2,0.3 t.csv") == (
        "stroock impute run --quantiles 0.1,0.2,..,0.983333 t.csv"
    )
