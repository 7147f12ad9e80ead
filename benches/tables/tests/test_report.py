"""Tests of the page."""

from tables.report import means, ratio


def row(name, contestant, seed, accuracy):
    return {
        "part": "classification",
        "set": name,
        "contestant": contestant,
        "seed": seed,
        "accuracy": accuracy,
        "count": 100,
    }


def test_means_are_over_sets_of_means_over_seeds():
    rows = [row("a", "stroock", 1, 0.8), row("a", "stroock", 2, 1.0), row("b", "stroock", 1, 0.5)]
    # Who did not take part everywhere has no mean.
    rows.append(row("a", "other", 1, 1.0))
    lines = means(rows, "classification")
    assert lines[0] == "Means over all 2 rows of this part:"
    assert [line for line in lines if line.startswith("| stroock")] == ["| stroock | 0.7 |  |"]
    assert not any("other" in line for line in lines)


def test_mistakes_are_compared():
    worse, best = ratio(
        "classification",
        {"stroock": [row("a", "stroock", 1, 0.9)], "other": [row("a", "other", 1, 0.95)]},
    )
    assert best == "other" and abs(worse - 10.5 / 5.5) < 1e-9
