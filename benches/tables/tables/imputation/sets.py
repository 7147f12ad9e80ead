"""Tables whose values are hidden."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import packaged
from . import physionet


@dataclass
class Table:
    """A table as its user has it, and what the scores need to know of it."""

    name: str
    about: str
    frame: pd.DataFrame
    variables: list
    # For every row the number of its series and its time: as in the table or, for dates, in seconds since 1970.
    series: np.ndarray
    times: np.ndarray
    # The step of the grid that the rows lie on, if they do.
    step: float | None
    # The column of the id; none where there is one series.
    id: str | None = None
    # The length of the windows that a long series is cut into by default: gaps at their borders are scored apart, and
    # remain so when the command cuts otherwise.
    window: float | None = None

    @property
    def values(self):
        """`[rows, variables]`, NaN where nothing was observed."""
        return self.frame[self.variables].to_numpy(float, copy=True)


def seconds(dates):
    """Seconds since 1970."""
    return (pd.to_datetime(dates, utc=True) - pd.Timestamp(0, tz="UTC")).dt.total_seconds().to_numpy(float)


def of_stays(name, about, read, step):
    """A table of PhysioNet."""

    def make(folder):
        frame, variables = read(folder)
        series = pd.factorize(frame["id"])[0]
        return Table(name, about, frame, variables, series, frame["hour"].to_numpy(float), step, "id")

    return make


def one_series(name, about, frame, variables, times, step, days):
    """A table of one series, which is cut into windows of so many days."""
    return Table(name, about, frame, variables, np.zeros(len(frame), int), times, step, window=86_400.0 * days)


def beijing(folder):
    """Hourly air quality."""
    frame = pd.read_csv(folder / "beijing_pm25" / "PRSA_data_2010.1.1-2014.12.31.csv", keep_default_na=True)
    variables = ["pm2.5", "DEWP", "TEMP", "PRES", "Iws", "Is", "Ir"]
    times = seconds(pd.to_datetime(frame[["year", "month", "day", "hour"]]))
    about = "Beijing air quality, 43 824 hours, 7 variables"
    return one_series("beijing", about, frame, variables, times, 3600.0, 2)


def weather(_):
    """Daily weather of Seattle."""
    frame = packaged.vega("seattle-weather.csv")
    variables = ["precipitation", "temp_max", "temp_min", "wind"]
    about = "daily weather of Seattle (vega_datasets), 1 461 days, 4 variables"
    return one_series("seattle-weather", about, frame, variables, seconds(frame["date"]), 86_400.0, 48)


def economy(_):
    """Quarterly figures of the United States."""
    frame = packaged.statsmodels("macrodata")
    month = (3 * frame["quarter"] - 2).astype(int).astype(str).str.zfill(2)
    frame.insert(0, "date", frame["year"].astype(int).astype(str) + "-" + month + "-01")
    frame = frame.drop(columns=["year", "quarter"])
    about = "economy of the United States (statsmodels macrodata), 203 quarters, 12 variables"
    variables = list(frame.columns[1:])
    return one_series("macrodata", about, frame, variables, seconds(frame["date"]), 7_889_400.0, 4368)


def vowels(_):
    """Utterances as short series of twelve coefficients."""
    from aeon.datasets import load_from_ts_file

    folder = packaged.aeon("JapaneseVowels")
    series = [one for part in ("TRAIN", "TEST") for one in load_from_ts_file(str(folder / f"JapaneseVowels_{part}.ts"))[0]]
    variables = [f"c{number + 1}" for number in range(len(series[0]))]
    rows = [
        pd.DataFrame(one.T, columns=variables).assign(id=number, time=range(one.shape[1]))
        for number, one in enumerate(series)
    ]
    frame = pd.concat(rows, ignore_index=True)[["id", "time", *variables]]
    about = "spoken vowels (aeon JapaneseVowels), 640 series of 7 to 29 times, 12 variables"
    numbers, times = frame["id"].to_numpy(), frame["time"].to_numpy(float)
    return Table("japanese-vowels", about, frame, variables, numbers, times, 1.0, "id")


SETS = {
    "physionet-hourly": of_stays(
        "physionet-hourly", "PhysioNet 2012, 8 000 stays, means of hours, 36 variables", physionet.hourly, 1.0
    ),
    "physionet": of_stays(
        "physionet", "PhysioNet 2012, 8 000 stays, every value at its minute, 36 variables", physionet.raw, None
    ),
    "beijing": beijing,
    "seattle-weather": weather,
    "macrodata": economy,
    "japanese-vowels": vowels,
}
