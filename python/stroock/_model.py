"""Models of tables."""

from __future__ import annotations

import datetime
import html
import json
import os
import sys
import warnings
from types import SimpleNamespace
from typing import Any, Dict, Iterable, Optional, Sequence, Tuple, Union

from . import _progress, _stroock
from ._evaluation import Evaluation
from ._tables import Source, read_options, source

Time = Union[str, float, int, datetime.datetime, datetime.date]
Length = Union[str, float, int, datetime.timedelta]


class Description(str):
    """What is in a table, as a text; `data` has the same as a dict."""

    data: Dict[str, Any]

    def _repr_html_(self) -> str:
        return f'<pre style="font-family: monospace; line-height: 1.3">{html.escape(self)}</pre>'

    def __repr__(self) -> str:
        return str(self)


class Report:
    """A page about a model; `html` is all of it."""

    def __init__(self, page: str):
        self.html = page

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the page."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def __repr__(self) -> str:
        return f"Report({len(self.html)} characters of HTML; .save(path) writes it)"

    def _repr_html_(self) -> str:
        frame = 'style="width: 100%; height: 40em; border: none"'
        return f'<iframe srcdoc="{html.escape(self.html)}" {frame}></iframe>'


class Figure:
    """A picture; `svg` is all of it."""

    def __init__(self, svg: str):
        self.svg = svg

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the picture, as SVG."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def __repr__(self) -> str:
        return f"Figure({len(self.svg)} characters of SVG; .save(path) writes it)"

    def _repr_svg_(self) -> str:
        return self.svg


def describe(data: Any, **columns: Any) -> Description:
    """What is in a table: columns, lengths, gaps, ranges, oddities. Arguments as in :func:`fit` say which column is what.

    >>> import numpy as np, stroock
    >>> table = {"id": ["a", "a", "b"], "time": [0.0, 1.5, 0.3], "pulse": [80.0, np.nan, 75.0]}
    >>> stroock.describe(table).data["series"]
    2
    """
    table = source(data)
    text, values = _stroock.describe(table.frame, *read_options(table.roles, columns))
    described = Description(text)
    described.data = json.loads(values)
    return described


def fit(
    data: Any,
    *,
    task: str = "impute",
    model: Optional[str] = None,
    target: Optional[str] = None,
    known: Sequence[str] = (),
    log: Sequence[str] = (),
    window: Optional[Length] = None,
    epochs: Optional[int] = None,
    seed: Optional[int] = None,
    settings: Optional[Dict[str, Any]] = None,
    out: Optional[Union[str, "os.PathLike[str]"]] = None,
    resume: bool = False,
    progress: Union[bool, Any] = True,
    **columns: Any,
) -> "Model":
    """Fits a model to a table, with settings that suit it.

    Parameters
    ----------
    data
        A data frame (pandas, polars, pyarrow, DuckDB, or anything with `__arrow_c_stream__`), a dict of NumPy arrays, or a
        list of pairs of times `[T]` and values `[T]` or `[T, C]`. Long (`id, time, variable, value`) or wide (`id, time, v1,
        v2, ...` with NaN or null where nothing is observed); every series has its own times, numbers or dates.
    task
        `"impute"`, `"forecast"` or `"classify"`.
    model
        `"latent-sde"`, `"knot-sde"`, `"latent-ode"`, `"neural-sde"` or `"mtand-full"`; the one that suits the data by default.
    target
        Column of classes, one per series or one per time.
    known
        Variables that are known ahead of time, for forecasts to use.
    log
        Variables whose logarithms are learned.
    window
        Length of the windows that long series are cut into, such as `48` or `"2d"`; `"none"` keeps them whole.
    epochs, seed
        Passes over the training series, and the seed; chosen from the data and 1 by default.
    settings
        Single settings, as in `{"training.batch_size": 32}`; :attr:`Model.config` has all of them.
    out
        Folder of the run, as the command `stroock fit --out` has it; nothing is written without it.
    resume
        Go on with the run in the folder.
    progress
        Whether to show a bar; or a function that is called with `(epoch, epochs, share, text, is_mark)`.
    columns
        Which column is what, where that is not to be guessed: `id`, `time`, `variable`, `value`, `variables`, `statics`,
        `ignore`; `time_zone`, `date_format`, `missing`, `duplicates`, `skip_bad_rows`; `name` for the one series of a table
        without a column of names.

    Ctrl-C ends the training after the current step. A fit in memory then completes the model with the epochs that it has,
    one in a folder can be resumed.

    >>> import numpy as np, stroock
    >>> time = np.arange(20.0)
    >>> series = [(time, np.sin(time / 3 + phase)) for phase in np.linspace(0, 6, 30)]
    >>> model = stroock.fit(series, epochs=2, progress=False)
    >>> model
    Model(latent-sde, variables=['x1'], epochs=2)
    """
    table = source(data)
    name, read = read_options(table.roles, {**columns, "target": target})
    wish = SimpleNamespace(
        task=task,
        model=model,
        window=_length(window),
        log=[str(name) for name in _listed(log)],
        known=[str(name) for name in _listed(known)],
        epochs=epochs,
        seed=seed,
        settings=[(str(key), _setting(value)) for key, value in (settings or {}).items()],
        out=None if out is None else os.fspath(out),
        resume=resume,
    )
    show = _progress.display() if progress is True else (progress or None)
    try:
        compiled = _stroock.fit((table.frame, name, read), wish, show)
    finally:
        getattr(show, "close", lambda: None)()
    fitted = Model(compiled, table)
    if progress is True and not isinstance(show, _progress.Notebook):
        # What was guessed is said; in a notebook, a model that is looked at says it.
        print("\n".join(fitted.describe().split("\n")[1:]), file=sys.stderr)
    if fitted.facts["is_stopped"]:
        then = "its intervals are not calibrated; go on with resume=True" if out is not None else "the best so far is kept"
        warnings.warn(f"stopped after epoch {fitted.facts['epochs']}; {then}", stacklevel=2)
    return fitted


class Model:
    """A fitted model: the contents of a model file. :func:`fit` and :meth:`load` make one."""

    def __init__(self, model: "_stroock.Model", like: Optional[Source] = None):
        self._model, self._like = model, like

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "Model":
        """Reads a model file, or the best model of a run folder; those of the command, too."""
        return cls(_stroock.Model.load(os.fspath(path)))

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes a model file, which the command reads, too."""
        self._model.save(os.fspath(path))

    @property
    def facts(self) -> Dict[str, Any]:
        """What the model is about: variables, classes, how training ended."""
        facts: Dict[str, Any] = json.loads(self._model.facts())
        return facts

    @property
    def config(self) -> str:
        """All settings of the fit in TOML; empty where the model was loaded from a model file."""
        return self._model.config

    def impute(
        self,
        data: Any,
        *,
        at: Optional[Iterable[Time]] = None,
        wide: bool = False,
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        draws: int = 200,
        samples: int = 0,
        seed: int = 1,
        **columns: Any,
    ) -> Any:
        """What the values may be that are missing in a table: a row for each, with mean, standard deviation, quantiles and
        samples; at the times `at` for every series and variable, if these are given.

        With `wide=True` the table itself with its gaps filled by predictive means.
        """
        table = source(data)
        given = (table.frame, *read_options(table.roles, columns))
        if wide:
            if at is not None:
                raise TypeError("give either `at` or `wide`")
            frame, filled, said = self._model.fill(given, draws, seed)
            _warn(said)
            return table.back(frame) if frame is not None else table.filled(dict(filled))
        times = None if at is None else [_time(time) for time in _listed(at)]
        return self._answer(table, self._model.impute(given, times, list(quantiles), draws, samples, seed))

    def forecast(
        self,
        data: Any,
        steps: Optional[Length] = None,
        *,
        until: Optional[Time] = None,
        every: Optional[Length] = None,
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        draws: int = 200,
        samples: int = 0,
        seed: int = 1,
        **columns: Any,
    ) -> Any:
        """What may come after the last time of every series: `steps` of them (or a length of time such as `"7d"`), or up to
        the time `until`; in steps of `every`, the usual step of the data by default.
        """
        table = source(data)
        given = (table.frame, *read_options(table.roles, columns))
        count, length = _ahead(steps)
        until = None if until is None else _time(until)
        answer = self._model.forecast(
            given, count, length, until, _length(every), list(quantiles), draws, samples, seed
        )
        return self._answer(table, answer)

    def classify(self, data: Any, *, draws: int = 50, seed: int = 1, **columns: Any) -> Any:
        """Classes of series or of their times: the likeliest, and the probability of each."""
        table = source(data)
        given = (table.frame, *read_options(table.roles, columns))
        return self._answer(table, self._model.classify(given, draws, seed))

    def sample(
        self,
        data: Any = None,
        *,
        count: int = 10,
        every: Optional[Length] = None,
        seed: int = 1,
        prior: bool = False,
        **columns: Any,
    ) -> Any:
        """New series like those of the training data; or possible courses of the series of a table."""
        if data is None:
            answer = self._model.sample(None, count, _length(every), seed, prior)
            return self._answer(self._like, answer)
        table = source(data)
        given = (table.frame, *read_options(table.roles, columns))
        return self._answer(table, self._model.sample(given, count, _length(every), seed, prior))

    def evaluate(
        self,
        data: Any = None,
        *,
        hold_out: Optional[str] = None,
        share: float = 0.2,
        block: int = 6,
        origins: int = 1,
        draws: int = 100,
        seed: int = 1,
        samples: Optional[str] = None,
        **columns: Any,
    ) -> Evaluation:
        """Holds values out and compares them with predictions and with plain baselines: on a table, or on the series that
        the fit has kept for testing. A model that was loaded from the folder of a run reads the files of its fit again.

        `hold_out` is `"random"`, `"blocks"` or `"tail"`; forecasts are tested on tails, everything else on blocks.
        """
        given = None
        if data is not None:
            table = source(data)
            given = (table.frame, *read_options(table.roles, columns))
        words, values = self._model.evaluate(given, hold_out, share, block, origins, draws, seed, samples)
        evaluation = Evaluation(words, json.loads(values))
        _warn(evaluation.data["warnings"])
        return evaluation

    def figure(
        self,
        data: Any,
        *,
        series: Union[int, str, Sequence[str]] = 3,
        variables: Optional[Union[str, Sequence[str]]] = None,
        ahead: Optional[Length] = None,
        since: Optional[Time] = None,
        until: Optional[Time] = None,
        draws: int = 200,
        seed: int = 1,
        **columns: Any,
    ) -> Figure:
        """What the model makes of series of a table: the observed values, the mean and the 50 % and 90 % intervals between and
        around them, and with `ahead` what may come after them. A picture in SVG, which shows itself in a notebook.

        Parameters
        ----------
        series
            Names of series, or how many of the first ones.
        variables
            Names of variables; all by default.
        ahead
            Steps of a forecast, or its length such as `"7d"`.
        since, until
            The part of time to show, as times of the table; all by default.

        >>> import numpy as np, stroock
        >>> time = np.arange(20.0)
        >>> waves = [(time, np.sin(time / 3 + phase)) for phase in np.linspace(0, 6, 30)]
        >>> model = stroock.fit(waves, epochs=2, progress=False)
        >>> model.figure(waves, series=2, ahead=5).svg[:4]
        '<svg'
        """
        table = source(data)
        steps, length = _ahead(ahead)
        wish = SimpleNamespace(
            series=None if isinstance(series, int) else [str(name) for name in _listed(series)],
            count=max(series, 1) if isinstance(series, int) else 0,
            variables=None if variables is None else [str(name) for name in _listed(variables)],
            since=None if since is None else _time(since),
            until=None if until is None else _time(until),
            steps=steps,
            length_of_time=length,
            draws=draws,
            seed=seed,
        )
        svg, said = _stroock.figure(self._model, (table.frame, *read_options(table.roles, columns)), wish)
        _warn(said)
        return Figure(svg)

    def report(
        self,
        path: Optional[Union[str, "os.PathLike[str]"]] = None,
        data: Any = None,
        *,
        hold_out: Optional[str] = None,
        series: int = 8,
        **columns: Any,
    ) -> "Report":
        """A page about the model, its fit and its scores: fits, calibration, latent paths to turn, configuration.

        It is written to `path`, if that is given, and shows itself in a notebook. It is about the series that the fit has kept
        for testing, or about those of `data`; `hold_out` and `series` say what is held out of them, as in :meth:`evaluate`, and
        how many are shown. A model that was loaded from the folder of a run reads the files of its fit again. A model file alone
        knows neither data nor settings: it needs `data`, and its page has no part about the fit.
        """
        given = None
        if data is not None:
            table = source(data)
            given = (table.frame, *read_options(table.roles, columns))
        page = Report(self._model.report(given, hold_out, series))
        if path is not None:
            page.save(path)
        return page

    def describe(self) -> str:
        """What the model is, in a few lines."""
        facts = self.facts
        lines = [f"a model of the kind {facts['model']}, fitted to a table"]
        name = f"`{facts['id']}`" if facts["id"] else "no column: the table is one series"
        lines.append(f"series by {name}; time in {', '.join(facts['time_columns'])}")
        lines.append(f"variables: {', '.join(facts['variables'])}")
        lines += [f"not read: {column} ({reason})" for column, reason in facts["not_read"]]
        if facts["statics"]:
            lines.append(f"numbers of whole series: {', '.join(facts['statics'])}")
        if facts["classes"]:
            lines.append(f"classes: {', '.join(facts['classes'])}")
        lines.append(f"times: {facts['time']}" + (f", windows of {facts['window']}" if facts["window"] else ""))
        if facts["epochs"] is not None:
            best = f", the best was {facts['best_epoch']} (loss {facts['best_loss']:.4g})" if facts["best_epoch"] else ""
            lines.append(f"training: {facts['epochs']} epochs{best}")
        if not facts["is_finished"]:
            lines.append("the fit has not ended: intervals are not calibrated")
        return "\n".join(lines)

    def _answer(self, table: Optional[Source], answer: Any) -> Any:
        frame, said, notes = answer
        _warn(said)
        from ._tables import as_dict

        result = table.back(frame) if table is not None else _any_frame(frame, as_dict)
        if notes and hasattr(result, "attrs"):
            result.attrs["notes"] = notes
        return result

    def __repr__(self) -> str:
        facts = self.facts
        epochs = "" if facts["epochs"] is None else f", epochs={facts['epochs']}"
        return f"Model({facts['model']}, variables={facts['variables']}{epochs})"

    def _repr_html_(self) -> str:
        lines = self.describe().split("\n")
        items = "".join(f"<li>{html.escape(line)}</li>" for line in lines[1:])
        return f"<div><b>stroock</b>: {html.escape(lines[0])}<ul>{items}</ul></div>"

    def __getstate__(self) -> Dict[str, Any]:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.safetensors")
            self.save(path)
            with open(path, "rb") as file:
                return {"file": file.read()}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.safetensors")
            with open(path, "wb") as file:
                file.write(state["file"])
            self._model, self._like = _stroock.Model.load(path), None


def _any_frame(frame: "_stroock.Frame", as_dict: Any) -> Any:
    """A result where nothing has gone in: a data frame of what is loaded, or else a dict of arrays."""
    if "pandas" in sys.modules:
        from ._tables import _of_pandas

        pandas = sys.modules["pandas"]
        return _of_pandas(pandas.DataFrame({"time": [0.0]})).back(frame)
    if "polars" in sys.modules:
        return sys.modules["polars"].DataFrame(frame)
    return as_dict(frame)


def _listed(values: Any) -> Any:
    return [values] if isinstance(values, (str, datetime.date)) or not hasattr(values, "__iter__") else list(values)


def _warn(said: Iterable[str]) -> None:
    for sentence in said:
        warnings.warn(sentence, stacklevel=3)


def _time(time: Any) -> str:
    """A time as the library reads it."""
    if hasattr(time, "isoformat"):
        return str(time.isoformat())
    if type(time).__name__ == "datetime64":
        return str(time.astype("datetime64[us]"))
    return str(time)


def _length(length: Any) -> Optional[str]:
    """A length of time as the library reads it."""
    if length is None:
        return None
    if hasattr(length, "total_seconds"):
        return f"{length.total_seconds():.6f}s"
    if type(length).__name__ == "timedelta64":
        return f"{length / length.__class__(1, 's'):.6f}s"
    return str(length)


def _ahead(steps: Optional[Length]) -> Tuple[Optional[int], Optional[str]]:
    """How far a forecast goes: a number of steps or a length of time."""
    length = _length(steps)
    if length is not None and length.strip().lstrip("-").isdigit():
        if int(length) < 0:
            raise _stroock.ModelError(f"steps={length}: a forecast goes ahead")
        return int(length), None
    return None, length


def _setting(value: Any) -> str:
    """A value as TOML has it."""
    return value if isinstance(value, str) else json.dumps(value)
