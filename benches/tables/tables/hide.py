"""Which observed values of a table are hidden."""

import numpy as np

SHARE = 0.2
RUN = 6


def single(observed, series, seed):
    """A fifth of the observed values of every variable, one by one.

    `observed [rows, variables]`, `series [rows]` the number of the series of every row. A variable keeps more than it
    loses, and every series keeps a value.
    """
    draw = np.random.default_rng([seed, 1])
    hidden = np.zeros_like(observed)
    for variable in range(observed.shape[1]):
        rows = np.flatnonzero(observed[:, variable])
        chosen = draw.choice(rows, size=int(SHARE * rows.size), replace=False)
        hidden[chosen, variable] = True
    return keep_one(observed, hidden, series)


def runs(observed, series, seed):
    """About a fifth of the observed values, in runs of six in a row of one variable of one series.

    There is a visible value between two runs. A variable with fewer than seven values in a series keeps them all.
    """
    draw = np.random.default_rng([seed, 2])
    hidden = np.zeros_like(observed)
    for rows in groups(series):
        for variable in range(observed.shape[1]):
            seen = rows[observed[rows, variable]]
            wished = SHARE * seen.size / RUN
            count = int(wished) + int(draw.random() < wished - int(wished))
            count = min(count, seen.size // (RUN + 1))
            if count == 0:
                continue
            # Distinct places among what remains when every run is a point; six later for every run before.
            first = np.sort(draw.choice(seen.size - RUN * count + 1, size=count, replace=False))
            first = first + RUN * np.arange(count)
            hidden[seen[(first[:, None] + np.arange(RUN)).ravel()], variable] = True
    return keep_one(observed, hidden, series)


PATTERNS = {"single": single, "runs": runs}


def groups(series):
    """The rows of every series, which follow each other."""
    if len(series) == 0:
        return []
    starts = np.flatnonzero(np.diff(series)) + 1
    return np.split(np.arange(len(series)), starts)


def keep_one(observed, hidden, series):
    """Shows one value of every series that would have none."""
    for rows in groups(series):
        if hidden[rows].any() and not (observed[rows] & ~hidden[rows]).any():
            row, variable = np.argwhere(hidden[rows])[0]
            hidden[rows[row], variable] = False
    return hidden


def at_border(times, series, visible, hidden, window):
    """Whether a hidden value has its visible neighbour, before or after, in another window; `[rows, variables]`.

    Windows begin at multiples of their length. A side without any visible value does not count.
    """
    border = np.zeros_like(hidden)
    if window is None:
        return border
    number = np.floor(np.asarray(times, float) / window)
    for rows in groups(series):
        for variable in np.flatnonzero(hidden[rows].any(0)):
            seen = rows[visible[rows, variable]]
            if seen.size == 0:
                continue
            asked = rows[hidden[rows, variable]]
            after = np.searchsorted(seen, asked)
            before = np.where(after > 0, number[seen[np.maximum(after - 1, 0)]], number[asked])
            later = np.where(after < seen.size, number[seen[np.minimum(after, seen.size - 1)]], number[asked])
            border[asked, variable] = (before != number[asked]) | (later != number[asked])
    return border
