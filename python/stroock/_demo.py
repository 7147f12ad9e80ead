"""A first look: series with gaps, a model, and how well it does."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np


def records(series: int = 300, seed: int = 1) -> Dict[str, np.ndarray]:
    """Records of moored buoys as a dict of columns: each instrument is read at its own irregular times.

    A swell of random phase, height and period moves a buoy; what is read has noise. Columns are `buoy`, `time` in seconds,
    `heave` in metres and `tilt` in degrees, NaN where nothing was read.

    >>> from stroock._demo import records
    >>> sorted(records(2))
    ['buoy', 'heave', 'tilt', 'time']
    """
    random = np.random.default_rng(seed)
    ids, times, heaves, tilts = [], [], [], []
    for number in range(series):
        time = np.sort(random.uniform(0.0, 30.0, 60))
        phase, height, period = random.uniform(0, 2 * np.pi), random.uniform(0.5, 1.5), random.uniform(6.0, 10.0)
        angle = 2 * np.pi * time / period + phase
        heave = height * np.sin(angle) + random.normal(0, 0.05, time.size)
        tilt = 12 * height * np.cos(angle) + random.normal(0, 0.8, time.size)
        is_heave = random.uniform(size=time.size) < 0.5
        ids.append(np.full(time.size, f"buoy {number:03d}"))
        times.append(time)
        heaves.append(np.where(is_heave, heave, np.nan))
        tilts.append(np.where(is_heave, np.nan, tilt))
    join = np.concatenate
    return {"buoy": join(ids), "time": join(times), "heave": join(heaves), "tilt": join(tilts)}


def demo(series: int = 300, epochs: int = 30, progress: Any = True) -> Any:
    """Generates records with gaps, fits a model to them, prints how well unseen values are predicted, and returns the model.

    Takes less than half a minute on two cores.
    """
    from ._model import fit

    table = records(series)
    print(f"{series} records of buoys, two instruments, each read at its own irregular times")
    model = fit(table, id="buoy", epochs=epochs, progress=progress)
    print(model.evaluate())
    gaps = model.impute({name: column[:60] for name, column in table.items()})
    print("\nthe first gaps of the first record, with their 90 % intervals:")
    for row in range(5):
        print(
            f"  {gaps['variable'][row]:<6} at {gaps['time'][row]:6.2f} s: {gaps['mean'][row]:7.2f} "
            f"({gaps['q0.05'][row]:7.2f} to {gaps['q0.95'][row]:7.2f})"
        )
    return model
