"""Learns classes on the official training part, and compares those of the test part."""

import numpy as np
import pandas as pd

from ..clock import Clock
from ..data import code, fingerprint
from ..machine import versions
from ..scores import classification
from ..stroock import StroockFailed
from . import rivals
from .rivals import RIVALS
from .sets import SETS


def run(asked, stroock, store, say):
    """Measures what is asked for."""
    for name in asked.chosen(SETS):
        say(f"classification, {name}")
        data = SETS[name]()
        classes = sorted(set(data.train.classes))
        row = {"part": "classification", "set": name, "about": data.about}
        by = versions(["aeon", "scikit-learn"])
        arrays = [np.concatenate([one.ravel() for one in part.series]) for part in (data.train, data.test)]
        mark = fingerprint(*arrays, " ".join([*data.train.classes, *data.test.classes]), by, code(rivals))
        for rival, (classify, is_random) in (RIVALS if asked.rivals else {}).items():
            for seed in asked.seeds if is_random else [0]:
                about = row | {"contestant": rival, "seed": seed}
                if store.known(about, mark) and not asked.again:
                    continue
                say(f"  {rival}, seed {seed}")
                with Clock() as clock:
                    answer = classify(data, classes, seed)
                found = classification(data.test.classes, classes, answer) | clock.as_row("fit")
                store.put(about | asked.machine | found | {"fingerprint": mark, "by": by})
        if stroock:
            for seed in asked.seeds:
                about = row | {"contestant": "stroock", "seed": seed} | asked.machine
                store.put(about | stroock.measured(lambda: ours(stroock, data, classes, seed), say))


def ours(stroock, data, classes, seed):
    """`fit --task classify` on the training part, and `classify` of the test part, which has no column of classes."""
    folder = stroock.begin("classification")
    data.train.table(True).to_csv(folder / "train.csv", index=False)
    data.test.table(False).to_csv(folder / "test.csv", index=False)
    fit = stroock.fit("train.csv", "--task", "classify", "--target", "class", "--seed", seed)
    answer = stroock.call("classify", "run", "test.csv", "--output", "classes.csv")
    answers = pd.read_csv(folder / "classes.csv")
    answers.index = answers.iloc[:, 0].astype(int)
    if len(answers) != len(data.test.series):
        raise StroockFailed(f"{len(answers)} classes of {len(data.test.series)} series")
    ordered = answers.loc[range(len(answers)), [f"p_{name}" for name in classes]].to_numpy(float)
    found = classification(data.test.classes, classes, ordered)
    return found | fit.as_row("fit") | answer.as_row("answer")
