"""Hides values of whole tables, and compares what is filled in with them."""

import numpy as np
import pandas as pd

from ..clock import Clock
from ..data import code, fingerprint
from ..hide import PATTERNS, at_border
from ..machine import versions
from ..scores import regression
from ..stroock import StroockFailed, distribution
from . import deep, gaussian_process, kalman, lines
from .sets import SETS, seconds

# The hiding is the same for every contestant and seed.
HIDING_SEED = 1
# Of more series than this, so many are scored: every gap of the table is filled, and these tables are mostly gaps.
SCORED = 1000

# How each fills, the package that it stands on, and its code.
RIVALS = {
    "straight lines": (lines.fill, "numpy", (lines,)),
    "Gaussian processes": (gaussian_process.fill, "numba", (gaussian_process, kalman)),
}
DEEP = {"SAITS": (deep.saits, "pypots", (deep,)), "BRITS": (deep.brits, "pypots", (deep,))}


def run(asked, stroock, store, say):
    """Measures what is asked for."""
    for name in asked.chosen(SETS):
        table = SETS[name](asked.data)
        for pattern, hide in PATTERNS.items():
            if asked.hidden and pattern not in asked.hidden:
                continue
            say(f"imputation, {name}, {pattern}")
            observed = np.isfinite(table.values)
            hidden = hide(observed, table.series, HIDING_SEED)
            work = Work(table, observed & ~hidden, hidden, scored(table))
            row = {"part": "imputation", "set": name, "about": table.about, "hidden": pattern}
            row |= {"hiding_seed": HIDING_SEED, "values": int(observed.sum()), "hidden_values": int(hidden.sum())}
            if asked.rivals:
                rivals(asked, work, row, store, say)
            if stroock:
                for seed in asked.seeds:
                    about = row | {"contestant": "stroock", "seed": seed} | asked.machine
                    store.put(about | stroock.measured(lambda: ours(stroock, work, seed), say))


def scored(table):
    """The series that are scored, `[rows]`."""
    count = int(table.series.max()) + 1
    if count <= SCORED:
        return np.ones(len(table.series), bool)
    chosen = np.random.default_rng([HIDING_SEED, 5]).choice(count, size=SCORED, replace=False)
    return np.isin(table.series, chosen)


class Work:
    """A table, what of it is visible, what is hidden, and of that what is scored."""

    def __init__(self, table, visible, hidden, scored):
        self.table, self.visible, self.hidden = table, visible, hidden
        self.asked = hidden & scored[:, None]
        self.rows = scored
        self.scale = np.nanstd(table.values, axis=0)

    def scores(self, predictions):
        """Scores of predictions of `asked`, in standard deviations of the variable, with those at window borders."""
        true, scale = self.table.values[self.asked], np.broadcast_to(self.scale, self.asked.shape)[self.asked]
        found = regression(true, predictions, scale)
        table = self.table
        border = at_border(table.times, table.series, self.visible, self.asked, table.window)
        border = border[self.asked]
        if border.any():
            at = regression(true[border], predictions.take(border), scale[border])
            found["border"] = {"window": self.table.window} | at
        names = np.broadcast_to(np.arange(self.asked.shape[1]), self.asked.shape)[self.asked]
        found["variables"] = {
            name: regression(true[names == number], predictions.take(names == number), self.scale[number])["mse"]
            for number, name in enumerate(self.table.variables)
            if (names == number).any()
        }
        return found


def rivals(asked, work, row, store, say):
    """Those that are not known yet."""
    many = RIVALS | (DEEP if asked.deep else {})
    for name, (fill, package, modules) in many.items():
        if name in DEEP and work.table.step is None:
            continue
        for seed in asked.seeds if name in DEEP else [0]:
            about = row | {"contestant": name, "seed": seed}
            by = versions([package])
            mark = fingerprint(work.table.values, work.table.times, work.hidden, work.rows, by, code(*modules))
            if store.known(about, mark) and not asked.again:
                continue
            say(f"  {name}, seed {seed}")
            with Clock() as clock:
                # Learnt from the whole table. Only what is scored has to be filled, except by deep models.
                predictions = fill(work.table, work.visible, work.hidden if name in DEEP else work.asked, seed)
            if name in DEEP:
                predictions = predictions.take(work.asked[work.hidden])
            found = work.scores(predictions)
            found |= clock.as_row("fit")
            store.put(about | asked.machine | found | {"fingerprint": mark, "by": by})


def ours(stroock, work, seed):
    """`fit` on the table with blanks, and `impute` of the same."""
    folder = stroock.begin("imputation")
    blanked = work.table.frame.copy()
    values = work.table.values
    values[work.hidden] = np.nan
    blanked[work.table.variables] = values
    blanked.to_csv(folder / "table.csv", index=False)
    asked = "table.csv"
    if not work.rows.all():
        asked = "some.csv"
        blanked[work.rows].to_csv(folder / asked, index=False)
    fit = stroock.fit("table.csv", "--seed", seed)
    answers, answer = stroock.predictions("impute", asked)
    predictions = matched(answers, work)
    found = work.scores(predictions)
    found["window"] = stroock.window()
    return found | fit.as_row("fit") | answer.as_row("answer")


def matched(answers, work):
    """The predictions of the hidden values, in the order of `asked`."""
    table = work.table
    rows, columns = np.nonzero(work.asked)
    wanted = pd.DataFrame({"time": table.times[rows], "variable": np.array(table.variables)[columns]})
    time = answers.iloc[:, 1]
    found = pd.DataFrame({"time": time if is_numeric(time) else seconds(time), "variable": answers["variable"]})
    if table.id is not None:
        wanted["id"] = table.frame[table.id].to_numpy()[rows].astype(str)
        found["id"] = answers.iloc[:, 0].astype(str)
    # Times of minutes in hours come back with the last digit rounded otherwise.
    for one in (wanted, found):
        one["time"] = one["time"].astype(float).round(6)
    found["answer"] = np.arange(len(found))
    joined = wanted.merge(found, how="left", on=list(wanted.columns))
    missing = joined["answer"].isna()
    if missing.any() or len(joined) != len(wanted):
        raise StroockFailed(f"{int(missing.sum())} of {len(wanted)} hidden values have no prediction")
    return distribution(answers.iloc[joined["answer"].astype(int)])


def is_numeric(column):
    """Whether times are numbers."""
    return pd.api.types.is_numeric_dtype(column)
