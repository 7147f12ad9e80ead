"""SAITS and BRITS, as `pypots` has them, on windows of 48 rows of a regular grid."""

import contextlib
import io

import numpy as np

from ..hide import groups
from ..scores import Predictions

LENGTH = 48
EPOCHS, PATIENCE = 100, 10


def saits(table, visible, hidden, seed):
    """Self-attention (Du, Cote and Liu 2023), with the settings that the authors publish for PhysioNet."""
    from pypots.imputation import SAITS

    def make(shape, **common):
        return SAITS(
            *shape, n_layers=2, d_model=256, n_heads=4, d_k=64, d_v=64, d_ffn=128, dropout=0.1, **common
        )

    return fill(make, table, visible, hidden, seed)


def brits(table, visible, hidden, seed):
    """Recurrent in both directions (Cao and others 2018), with the width of the authors."""
    from pypots.imputation import BRITS

    return fill(lambda shape, **common: BRITS(*shape, rnn_hidden_size=108, **common), table, visible, hidden, seed)


def fill(make, table, visible, hidden, seed):
    """Trains on the visible values of a table; a tenth of those in a tenth of the windows says when to stop."""
    import torch

    torch.manual_seed(seed)
    values = np.where(visible, table.values, np.nan)
    centre, scale = np.nanmean(values, 0), np.maximum(np.nanstd(values, 0), 1e-9)
    place, count = windows(table)
    cube = np.full((count, LENGTH, values.shape[1]), np.nan)
    cube[place[:, 0], place[:, 1]] = (values - centre) / scale
    draw = np.random.default_rng([seed, 4])
    kept = draw.permutation(count)
    kept, judged = kept[count // 10 :], kept[: max(count // 10, 1)]
    whole = cube[judged]
    blanked = np.where(draw.random(whole.shape) < 0.1, np.nan, whole)
    with contextlib.redirect_stdout(io.StringIO()):
        model = make(
            (LENGTH, values.shape[1]), epochs=EPOCHS, patience=PATIENCE, batch_size=32, device="cpu", verbose=False
        )
        model.fit({"X": cube[kept]}, {"X": blanked, "X_ori": whole})
        filled = np.asarray(model.impute({"X": cube}))
    filled = filled.reshape(cube.shape)[place[:, 0], place[:, 1]] * scale + centre
    return Predictions(filled[hidden])


def windows(table):
    """The window and the place in it of every row, and how many windows there are."""
    place = np.zeros((len(table.times), 2), int)
    count = 0
    for rows in groups(table.series):
        step = np.rint((table.times[rows] - table.times[rows[0]]) / table.step).astype(int)
        if table.id is not None:
            step = np.rint(table.times[rows] / table.step).astype(int)
        window, within = np.divmod(step, LENGTH)
        names, number = np.unique(window, return_inverse=True)
        place[rows, 0], place[rows, 1] = count + number, within
        count += len(names)
    return place, count
