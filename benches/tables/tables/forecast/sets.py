"""Tables whose last part is forecast."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import packaged


@dataclass
class Table:
    """A table as its user has it, whose last `ahead` rows of every series are kept for testing."""

    name: str
    about: str
    frame: pd.DataFrame
    time: str
    value: str
    # How many steps are forecast, and after how many the year, the day or the cycle begins anew.
    ahead: int
    period: int
    id: str | None = None

    def parts(self):
        """Training and test part of every series, by its name."""
        whole = [("", self.frame)] if self.id is None else self.frame.groupby(self.id, sort=False)
        return {str(name): (rows.iloc[: -self.ahead], rows.iloc[-self.ahead :]) for name, rows in whole}


def co2():
    """Weekly carbon dioxide."""
    frame = packaged.statsmodels("co2").rename_axis("date").reset_index()
    frame["date"] = frame["date"].dt.strftime("%Y-%m-%d")
    about = "CO2 on Mauna Loa (statsmodels), 84 of 2 284 weeks, 59 of them blank"
    return Table("co2", about, frame, "date", "co2", 84, 52)


def airline():
    """Monthly passengers."""
    frame = pd.read_csv(packaged.aeon("Airline", "Airline.csv"))
    frame.columns = ["month", "passengers"]
    frame["month"] = pd.to_datetime(frame["month"].astype(str)).dt.strftime("%Y-%m-%d")
    return Table("airline", "airline passengers (aeon), 24 of 144 months", frame, "month", "passengers", 24, 12)


def sunspots():
    """Yearly sunspots."""
    frame = packaged.statsmodels("sunspots").rename(columns=str.lower).astype({"year": int})
    return Table("sunspots", "sunspots (statsmodels), 33 of 309 years", frame, "year", "sunactivity", 33, 11)


def temperature():
    """Hourly normals."""
    frame = packaged.vega("seattle-temps.csv")
    about = "hourly temperature normals of Seattle (vega_datasets), 49 of 8 759 hours"
    return Table("seattle-temps", about, frame, "date", "temp", 49, 24)


def el_nino():
    """Monthly temperature of the sea."""
    wide = packaged.statsmodels("elnino")
    values = wide.drop(columns="YEAR").to_numpy(float).ravel()
    months = pd.date_range(f"{int(wide['YEAR'].iloc[0])}-01-01", periods=values.size, freq="MS")
    frame = pd.DataFrame({"month": months.strftime("%Y-%m-%d"), "temperature": values})
    about = "temperature of the Pacific (statsmodels elnino), 36 of 732 months"
    return Table("elnino", about, frame, "month", "temperature", 36, 12)


def lynx():
    """Yearly trappings."""
    frame = pd.read_csv(packaged.aeon("Lynx", "Lynx.csv")).iloc[:, -2:]
    frame.columns = ["year", "lynx"]
    return Table("lynx", "trapped lynx (aeon), 19 of 114 years", frame, "year", "lynx", 19, 10)


def nile():
    """Yearly flow."""
    frame = packaged.statsmodels("nile").astype({"year": int})
    return Table("nile", "flow of the Nile (statsmodels), 20 of 100 years", frame, "year", "volume", 20, 1)


def stocks():
    """Monthly prices of five companies."""
    frame = packaged.vega("stocks.csv")
    frame["date"] = pd.to_datetime(frame["date"], format="%b %d %Y").dt.strftime("%Y-%m-%d")
    about = "share prices of five companies (vega_datasets), 12 of 68 to 123 months"
    return Table("stocks", about, frame, "date", "price", 12, 1, "symbol")


SETS = {
    "co2": co2,
    "airline": airline,
    "sunspots": sunspots,
    "seattle-temps": temperature,
    "elnino": el_nino,
    "lynx": lynx,
    "nile": nile,
    "stocks": stocks,
}


def numbers(times):
    """Times that can be compared: numbers as they are, dates in days."""
    if pd.api.types.is_numeric_dtype(times):
        return np.asarray(times, float)
    since = pd.to_datetime(times, utc=True) - pd.Timestamp(0, tz="UTC")
    return since.dt.total_seconds().to_numpy(float) / 86_400.0
