"""Straight lines between the visible neighbours of a variable in its series."""

import numpy as np

from ..hide import groups
from ..scores import Predictions


def fill(table, visible, hidden, _seed):
    """Level beyond the ends, and the mean of the variable where a series shows nothing of it."""
    values = table.values
    filled = np.full(values.shape, np.nan)
    means = np.nanmean(np.where(visible, values, np.nan), axis=0)
    for rows in groups(table.series):
        for variable in np.flatnonzero(hidden[rows].any(0)):
            seen, asked = rows[visible[rows, variable]], rows[hidden[rows, variable]]
            if seen.size:
                at = np.interp(table.times[asked], table.times[seen], values[seen, variable])
            else:
                at = means[variable]
            filled[asked, variable] = at
    return Predictions(filled[hidden])
