"""What was found out about a model."""

from __future__ import annotations

import html
from typing import Any, Dict, List, Optional, Tuple


class Evaluation:
    """Scores of predictions of values that were held out; `data` has all of them as a dict.

    `overall` and `variables` have RMSE, MAE, CRPS, NLL, the shares of values inside intervals, and the baselines.
    """

    def __init__(self, about: str, data: Dict[str, Any]):
        self.about, self.data = about, data

    @property
    def overall(self) -> Dict[str, Any]:
        """All variables together, each divided by its standard deviation in the training data."""
        overall: Dict[str, Any] = self.data["overall"]
        return overall

    @property
    def variables(self) -> Dict[str, Dict[str, Any]]:
        """The scores of each variable, in its own unit."""
        return {variable["name"]: variable["scores"] for variable in self.data["variables"]}

    @property
    def classes(self) -> Any:
        """Scores of classes; `None` where the model has not learned any."""
        return self.data["classes"]

    def _rows(self) -> List[List[str]]:
        names = [baseline["name"] for baseline in self.overall["baselines"]]
        rows = [["variable", "values", "RMSE", *names, "MAE", "CRPS", "NLL", "in 90 %", "width"]]
        everything = [*self.variables.items(), ("all, in standard deviations", self.overall)]
        for name, scores in everything:
            covered = _at_ninety(scores["coverage"])
            rows.append(
                [
                    name,
                    str(scores["count"]),
                    short(scores["rmse"]),
                    *[short(baseline["mse"] ** 0.5) for baseline in scores["baselines"]],
                    short(scores["mae"]),
                    short(scores["crps"]),
                    short(scores["nll"]),
                    "-" if covered is None else f"{100 * covered:.1f} %",
                    short(_at_ninety(scores["width"])),
                ]
            )
        return rows

    def __str__(self) -> str:
        rows = self._rows()
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = [f"On {self.about}: {self.data['series']} series, {self.overall['count']} values held out"]
        for row in rows:
            cells = [cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
            lines.append("  " + "  ".join(cells))
        if self.classes:
            scores = self.classes["scores"]
            lines.append(
                f"classes: accuracy {100 * scores['accuracy']:.1f} %, macro F1 {scores['macro_f1']:.3f}, "
                f"log loss {scores['log_loss']:.3f}, over {scores['count']} labels"
            )
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *rows = self._rows()

        def cells(tag: str, row: List[str]) -> str:
            return "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)

        body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
        lines = str(self).split("\n")
        last = f"<p>{html.escape(lines[-1])}</p>" if self.classes else ""
        return f"<p>{html.escape(lines[0])}</p><table><thead><tr>{cells('th', head)}</tr></thead><tbody>{body}</tbody></table>{last}"


def _at_ninety(pairs: List[Tuple[float, float]]) -> Optional[float]:
    """What belongs to the 90 % intervals."""
    return next((share for level, share in pairs if level == 0.9), None)


def short(value: Any) -> str:
    """A number with four digits."""
    return "-" if value is None or value != value else f"{value:.4g}"
