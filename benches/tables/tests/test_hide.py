"""What is hidden."""

import numpy as np
import pytest

from tables.hide import PATTERNS, RUN, at_border, groups


def some_table(seed=0):
    """Sixty series of 1 to 80 rows, 5 variables, two fifths of the values missing; one variable is never missing."""
    draw = np.random.default_rng(seed)
    series = np.repeat(np.arange(60), draw.integers(1, 80, 60))
    observed = draw.random((series.size, 5)) < 0.6
    observed[:, 4] = True
    return observed, series


@pytest.mark.parametrize("pattern", PATTERNS)
def test_hiding_is_seeded(pattern):
    """The same seed hides the same values, another one others."""
    observed, series = some_table()
    first, again, other = (PATTERNS[pattern](observed, series, seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_only_observed_values_and_never_all_of_them(pattern):
    """Every series and every variable keeps something."""
    observed, series = some_table()
    hidden = PATTERNS[pattern](observed, series, 1)
    visible = observed & ~hidden
    assert hidden.any() and not (hidden & ~observed).any()
    assert visible.any(0).all()
    assert all(visible[rows].any() for rows in groups(series))


def test_a_series_with_one_value_keeps_it():
    """Even where every value would be chosen."""
    observed, series = np.ones((400, 1), bool), np.arange(400)
    assert not PATTERNS["single"](observed, series, 1).any()
    assert not PATTERNS["runs"](observed, series, 1).any()


def test_single_values_are_a_fifth_of_every_variable():
    """To the value."""
    observed, series = np.ones((1000, 3), bool), np.zeros(1000, int)
    assert (PATTERNS["single"](observed, series, 1).sum(0) == 200).all()


def test_runs_are_six_observed_values_with_a_visible_one_between():
    """Whatever lies between observed values."""
    observed, series = some_table()
    hidden = PATTERNS["runs"](observed, series, 3)
    lengths = []
    for rows in groups(series):
        for variable in range(observed.shape[1]):
            of_seen = hidden[rows[observed[rows, variable]], variable]
            edges = np.flatnonzero(np.diff(np.concatenate([[0], of_seen, [0]]).astype(int)))
            lengths += list(edges[1::2] - edges[::2])
    assert lengths and set(lengths) == {RUN}


def test_runs_are_about_a_fifth():
    """Of a long series, to the rounding of one run."""
    observed, series = np.ones((5003, 2), bool), np.zeros(5003, int)
    share = PATTERNS["runs"](observed, series, 1).sum(0)
    assert np.abs(share - 0.2 * 5003).max() <= RUN


def test_gaps_at_borders():
    """Windows of ten; the gap 8, 9 touches a border, 13 and 14 do not, 10 does since its neighbour 9 is hidden."""
    times, series = np.arange(20.0), np.zeros(20, int)
    hidden = np.zeros((20, 1), bool)
    hidden[[8, 9, 13, 14, 0]] = True
    border = at_border(times, series, ~hidden, hidden, 10.0)
    assert np.flatnonzero(border[:, 0]).tolist() == [8, 9]
    assert not at_border(times, series, ~hidden, hidden, None).any()
    hidden[10] = True
    border = at_border(times, series, ~hidden, hidden, 10.0)
    assert np.flatnonzero(border[:, 0]).tolist() == [8, 9, 10]


def test_borders_of_other_series_do_not_count():
    """The neighbour is one of the same series."""
    times, series = np.array([0.0, 1.0, 25.0, 26.0]), np.array([0, 0, 1, 1])
    hidden = np.array([[False], [True], [False], [True]])
    assert not at_border(times, series, ~hidden, hidden, 10.0).any()
