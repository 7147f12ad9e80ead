"""Files that ship inside packages."""

from importlib import resources

import pandas as pd


def vega(name):
    """A CSV file of `vega_datasets`."""
    return pd.read_csv(resources.files("vega_datasets") / "_data" / name)


def aeon(*path):
    """A file of `aeon`."""
    return resources.files("aeon.datasets").joinpath("data", *path)


def statsmodels(name):
    """A set of `statsmodels`."""
    import statsmodels.datasets

    return getattr(statsmodels.datasets, name).load_pandas().data
