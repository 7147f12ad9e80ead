"""Sets of series with classes, with the official splits, as they ship inside `aeon`."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import packaged

NAMES = (
    "BasicMotions",
    "JapaneseVowels",
    "PickupGestureWiimoteZ",
    "ItalyPowerDemand",
    "GunPoint",
    "ArrowHead",
    "OSULeaf",
    "ACSF1",
)


@dataclass
class Part:
    """Series, each `[channels, times]`, and their classes."""

    series: list
    classes: np.ndarray

    def table(self, with_classes):
        """A row for every time of every series."""
        rows = []
        for number, series in enumerate(self.series):
            columns = {"id": number, "time": np.arange(series.shape[1])}
            columns |= {f"v{channel + 1}": values for channel, values in enumerate(series)}
            if with_classes:
                # A class that is written as a number is a name all the same.
                columns["class"] = str(self.classes[number])
            # Rows that only pad a series to the length of the longest hold nothing.
            seen = np.isfinite(series).any(0)
            rows.append(pd.DataFrame(columns)[: np.flatnonzero(seen)[-1] + 1])
        return pd.concat(rows, ignore_index=True)


@dataclass
class Set:
    """Training and test part. Equal lengths for rivals that need them, as the publisher made them equal."""

    name: str
    train: Part
    test: Part
    equal: tuple

    @property
    def about(self):
        """Sizes."""
        lengths = [series.shape[1] for series in self.train.series]
        between = f"{min(lengths)}" if min(lengths) == max(lengths) else f"{min(lengths)} to {max(lengths)}"
        channels = len(self.train.series[0])
        return (
            f"{self.name}, {len(set(self.train.classes))} classes, {len(self.train.series)} and "
            f"{len(self.test.series)} series of {between} times, {channels} variable" + ("s" if channels > 1 else "")
        )


def read(name, part, kind=""):
    """One part of a set."""
    from aeon.datasets import load_from_ts_file

    series, classes = load_from_ts_file(str(packaged.aeon(name, f"{name}{kind}_{part}.ts")))
    return Part([np.asarray(one, float) for one in series], np.asarray(classes))


def load(name):
    """A set by its name."""
    whole = [read(name, part) for part in ("TRAIN", "TEST")]
    lengths = {series.shape[1] for part in whole for series in part.series}
    equal = whole if len(lengths) == 1 else [read(name, part, "_eq") for part in ("TRAIN", "TEST")]
    return Set(name, *whole, tuple(equal))


SETS = {name: (lambda name=name: load(name)) for name in NAMES}
