"""Keeps the last part of series for testing, and compares forecasts with it."""

import numpy as np
from pandas.api.types import is_numeric_dtype

from ..clock import Clock
from ..data import code, fingerprint
from ..machine import versions
from ..scores import Predictions, regression, seasonal_scale
from ..stroock import StroockFailed, distribution
from . import rivals
from .rivals import RIVALS
from .sets import SETS, numbers


def run(asked, stroock, store, say):
    """Measures what is asked for."""
    for name in asked.chosen(SETS):
        say(f"forecast, {name}")
        table = SETS[name]()
        parts = table.parts()
        row = {"part": "forecast", "set": name, "about": table.about, "ahead": table.ahead, "period": table.period}
        train = np.concatenate([train[table.value].to_numpy(float) for train, _ in parts.values()])
        test = np.concatenate([test[table.value].to_numpy(float) for _, test in parts.values()])
        by = versions(["statsmodels"])
        mark = fingerprint(train, test, by, code(rivals))
        for rival, forecast in (RIVALS if asked.rivals else {}).items():
            about = row | {"contestant": rival, "seed": 0}
            if store.known(about, mark) and not asked.again:
                continue
            say(f"  {rival}")
            store.put(about | asked.machine | of_rival(forecast, table, parts) | {"fingerprint": mark, "by": by})
        if stroock:
            for seed in asked.seeds:
                about = row | {"contestant": "stroock", "seed": seed} | asked.machine
                store.put(about | stroock.measured(lambda: ours(stroock, table, parts, seed), say))


def scores(table, parts, predictions):
    """Pooled over the series: the RMSE in the units of the table, all else in units of the MASE's scale."""
    true, mean, quantiles, scale = [], [], [], []
    for name, (train, test) in parts.items():
        seen = np.isfinite(test[table.value].to_numpy(float))
        true.append(test[table.value].to_numpy(float)[seen])
        mean.append(predictions[name].mean[seen])
        quantiles.append(predictions[name].quantiles[seen])
        of_series = seasonal_scale(train[table.value], table.period)
        scale.append(np.full(seen.sum(), of_series))
    true, scale = np.concatenate(true), np.concatenate(scale)
    together = Predictions(np.concatenate(mean), np.concatenate(quantiles))
    found = regression(true, together, scale)
    return {
        "count": found["count"],
        "rmse": regression(true, together, 1.0)["rmse"],
        "mase": found["mae"],
        "crps": found["crps"],
        "in50": found["in50"],
        "in90": found["in90"],
    }


def of_rival(forecast, table, parts):
    """Forecasts of one rival for every series."""
    with Clock() as clock:
        try:
            predictions = {
                name: forecast(train[table.value].to_numpy(float), table.period, table.ahead)
                for name, (train, _) in parts.items()
            }
        except RuntimeError as fault:
            return {"failure": str(fault)}
    return scores(table, parts, predictions) | clock.as_row("fit")


def ours(stroock, table, parts, seed):
    """`fit --task forecast` on the training part, and `forecast` until the last time of the table."""
    folder = stroock.begin("forecast")
    train = table.frame.loc[[row for train, _ in parts.values() for row in train.index]]
    train.to_csv(folder / "train.csv", index=False)
    last = max((test[table.time].iloc[-1] for _, test in parts.values()), key=str)
    # The name of this column is not guessed, and the command says so.
    named = [] if table.id is None else ["--id", table.id]
    fit = stroock.fit("train.csv", "--task", "forecast", *named, "--seed", seed)
    answers, answer, notes = forecast(stroock, [*named, "train.csv"], last)
    predictions = {}
    for name, (_, test) in parts.items():
        rows = answers if table.id is None else answers[answers.iloc[:, 0].astype(str) == name]
        if rows.empty:
            raise StroockFailed(f"no forecast of {name}")
        predictions[name] = at(rows, test[table.time])
    found = scores(table, parts, predictions) | {"window": stroock.window()} | notes
    return found | fit.as_row("fit") | answer.as_row("answer")


def forecast(stroock, subject, last):
    """Until the last time as the table has it; where a year is taken for a date only, as the command asks for it."""
    written = str(last).replace(" ", "T")
    try:
        return *stroock.predictions("forecast", *subject, "--until", written), {}
    except StroockFailed as fault:
        if "is no time" not in str(fault):
            raise
        found = stroock.predictions("forecast", *subject, "--until", f"{written}-01-01")
        return *found, {"note": f"`--until {written}`, as the table has it, is refused"}


def at(answers, times):
    """Predictions at times of the test part. The default step of months is 31 days: between them, straight lines."""
    written = answers.iloc[:, 1]
    if is_numeric_dtype(times) and not is_numeric_dtype(written):
        times = times.astype(str) + "-01-01"
    given, times = numbers(written), numbers(times)
    whole = distribution(answers)
    quantiles = np.stack([np.interp(times, given, column) for column in whole.quantiles.T], axis=1)
    return Predictions(np.interp(times, given, whole.mean), quantiles)
