"""Latent stochastic differential equations on homogeneous spaces, for irregularly sampled time series.

>>> import stroock
>>> model = stroock.fit(df)                      # doctest: +SKIP
>>> filled = model.impute(df, wide=True)         # doctest: +SKIP
>>> ahead = model.forecast(df, 24)               # doctest: +SKIP

A data frame of pandas, polars, pyarrow or DuckDB goes in, and one of the same kind comes back. `stroock.torch` and
`stroock.jax` have the paths of the model as operations of these frameworks, `stroock.sklearn` has estimators,
`stroock.spark` and `stroock.dask` have predictions on these engines.
"""

from ._demo import demo
from ._evaluation import Evaluation
from ._model import Description, Figure, Model, Report, describe, fit
from ._path import Path, algebra_dim, geometric_em
from ._stroock import ModelError, PathError, StroockError, TableError, __version__

__all__ = [
    "Description",
    "Evaluation",
    "Figure",
    "Model",
    "ModelError",
    "Path",
    "PathError",
    "Report",
    "StroockError",
    "TableError",
    "__version__",
    "algebra_dim",
    "demo",
    "describe",
    "fit",
    "geometric_em",
]
