"""What the engines share: their functions, with the same arguments everywhere."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

from ._evaluation import Evaluation
from ._model import Length, Model, Time, _listed
from ._parts import Work

AnyModel = Union[Model, str, "os.PathLike[str]"]

#: Rows that a model is given at once, if nobody says.
ROWS = 100_000


class Engine:
    """An engine for tables on many machines. It says how it reads a table, and how it brings the rows of series together."""

    def schema(self, df: Any) -> Any:
        """The columns of a table in Arrow's terms."""
        raise NotImplementedError

    def run(self, df: Any, work: Work, partitions: Optional[int], rows: int) -> Any:
        """The answers about all series of a table, as a table of the engine that is not computed yet."""
        raise NotImplementedError

    def sums(self, answers: Any) -> List[str]:
        """Computes answers, and takes the column `sums` of them."""
        raise NotImplementedError

    def impute(
        self,
        df: Any,
        model: AnyModel,
        *,
        at: Optional[Iterable[Time]] = None,
        wide: bool = False,
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        draws: int = 200,
        samples: int = 0,
        seed: int = 1,
        partitions: Optional[int] = None,
        rows: int = ROWS,
        **columns: Any,
    ) -> Any:
        """What the values may be that are missing in a table: the rows of :meth:`stroock.Model.impute`, in no order.

        Parameters
        ----------
        df
            A table of the engine with a column of series, long or wide.
        model
            A model, which is sent to the workers; or the path of a model file that all of them can read.
        at, wide, quantiles, draws, samples, seed, columns
            As in :meth:`stroock.Model.impute`.
        partitions
            Into how many parts the series are dealt; as the engine does by default.
        rows
            Rows that the model is given at once: a worker holds so many, or the longest series, with the answer about them.
        """
        if wide and at is not None:
            raise TypeError("give either `at` or `wide`")
        options = {
            "at": None if at is None else _listed(at),
            "wide": wide,
            "quantiles": list(quantiles),
            "draws": draws,
            "samples": samples,
            "seed": seed,
        }
        return self._answers(df, model, "impute", options, columns, partitions, rows)

    def forecast(
        self,
        df: Any,
        model: AnyModel,
        steps: Optional[Length] = None,
        *,
        until: Optional[Time] = None,
        every: Optional[Length] = None,
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        draws: int = 200,
        samples: int = 0,
        seed: int = 1,
        partitions: Optional[int] = None,
        rows: int = ROWS,
        **columns: Any,
    ) -> Any:
        """What may come after the last time of every series: the rows of :meth:`stroock.Model.forecast`, in no order.

        `partitions` and `rows` are those of `impute`.
        """
        options = {
            "steps": steps,
            "until": until,
            "every": every,
            "quantiles": list(quantiles),
            "draws": draws,
            "samples": samples,
            "seed": seed,
        }
        return self._answers(df, model, "forecast", options, columns, partitions, rows)

    def classify(
        self,
        df: Any,
        model: AnyModel,
        *,
        draws: int = 50,
        seed: int = 1,
        partitions: Optional[int] = None,
        rows: int = ROWS,
        **columns: Any,
    ) -> Any:
        """Classes of series or of their times: the rows of :meth:`stroock.Model.classify`, in no order.

        `partitions` and `rows` are those of `impute`.
        """
        return self._answers(df, model, "classify", {"draws": draws, "seed": seed}, columns, partitions, rows)

    def evaluate(
        self,
        df: Any,
        model: AnyModel,
        *,
        hold_out: Optional[str] = None,
        share: float = 0.2,
        block: int = 6,
        draws: int = 100,
        seed: int = 1,
        partitions: Optional[int] = None,
        rows: int = ROWS,
        **columns: Any,
    ) -> Evaluation:
        """Holds values out and compares them with predictions: the scores of :meth:`stroock.Model.evaluate`, to rounding.

        This one computes at once. `hold_out` is `"random"` or `"blocks"`; `partitions` and `rows` are those of `impute`.
        """
        options = {"hold_out": hold_out, "share": share, "block": block, "draws": draws, "seed": seed}
        work = Work(model, "evaluate", options, columns, self.schema(df))
        return work.evaluation(self.sums(self.run(df, work, partitions, rows)))

    def _answers(
        self,
        df: Any,
        model: AnyModel,
        method: str,
        options: Dict[str, Any],
        columns: Dict[str, Any],
        partitions: Optional[int],
        rows: int,
    ) -> Any:
        return self.run(df, Work(model, method, options, columns, self.schema(df)), partitions, rows)
