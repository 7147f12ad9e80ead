"""What people forecast with. Each takes the training values `[n]`, with NaN for gaps, the period and the steps ahead.

Forms are chosen by information criteria of the training part.
"""

import warnings

import numpy as np

from ..scores import LEVELS, Predictions

# Seasons longer than this are told to the models as waves: their states would be too many.
LONGEST = 24
WAVES = 3


def filled(values):
    """Gaps as straight lines, for methods that take none."""
    rows = np.arange(values.size)
    seen = np.isfinite(values)
    return np.interp(rows, rows[seen], values[seen])


def naive(values, _period, ahead):
    """The last value; a random walk with the steps of the training part."""
    values = filled(values)
    step = np.sqrt(np.mean(np.diff(values) ** 2))
    return Predictions.gaussian(np.full(ahead, values[-1]), step * np.sqrt(1.0 + np.arange(ahead)))


def seasonal_naive(values, period, ahead):
    """The last value of the same season; a random walk of each season."""
    values = filled(values)
    step = np.sqrt(np.mean((values[period:] - values[:-period]) ** 2))
    last = np.resize(values[-period:], ahead)
    return Predictions.gaussian(last, step * np.sqrt(1.0 + np.arange(ahead) // period))


def ets(values, period, ahead):
    """Exponential smoothing (Holt-Winters and its kin), of the least AICc."""
    from statsmodels.tsa.exponential_smoothing.ets import ETSModel

    values = filled(values)
    seasons = [None] + (["add"] if 1 < period <= 2 * LONGEST + 4 else [])
    is_positive = values.min() > 0
    if is_positive and len(seasons) > 1:
        seasons.append("mul")
    best = None
    for error in ("add", "mul") if is_positive else ("add",):
        for trend, damped in ((None, False), ("add", False), ("add", True)):
            for season in seasons:
                # A multiplicative season on additive errors has no stable variance.
                if season == "mul" and error == "add":
                    continue
                found = attempt(
                    lambda: ETSModel(
                        values,
                        error=error,
                        trend=trend,
                        damped_trend=damped,
                        seasonal=season,
                        seasonal_periods=period if season else None,
                        initialization_method="heuristic" if period > LONGEST and season else "estimated",
                    ).fit(disp=False, maxiter=200)
                )
                if found is not None and np.isfinite(found.aicc) and (best is None or found.aicc < best.aicc):
                    best = found
    if best is None:
        raise RuntimeError("no form of exponential smoothing converged")
    drawn = best.simulate(ahead, anchor="end", repetitions=2000, rng=np.random.default_rng(1))
    drawn = np.asarray(drawn).reshape(ahead, -1)
    mean = np.asarray(best.forecast(ahead))
    return Predictions(mean, np.quantile(drawn, LEVELS, axis=1).T)


def autoregression(values, period, ahead):
    """AutoReg with a trend and seasons, of the least AIC over its lags and both."""
    from statsmodels.tsa.ar_model import AutoReg, ar_select_order

    values = filled(values)
    longest = int(min(max(12, period + 2), 60, values.size // 4))
    best = None
    for trend in ("c", "ct"):
        for seasonal in (False, True) if 1 < period <= LONGEST else (False,):
            more = {"seasonal": True, "period": period} if seasonal else {}
            found = attempt(lambda: ar_select_order(values, longest, ic="aic", trend=trend, **more))
            if found is None:
                continue
            lags = list(found.ar_lags or [])
            # The same values for all, so that their criteria can be compared.
            fitted = attempt(lambda: AutoReg(values, lags, trend=trend, hold_back=longest, **more).fit())
            if fitted is not None and (best is None or fitted.aic < best.aic):
                best = fitted
    if best is None:
        raise RuntimeError("no autoregression could be fitted")
    predicted = best.get_prediction(start=values.size, end=values.size + ahead - 1)
    return Predictions.gaussian(predicted.predicted_mean, predicted.se_mean)


def sarima(values, period, ahead):
    """SARIMAX of the least AICc among small orders; seasons that are long are waves."""
    from statsmodels.tsa.statespace.sarimax import SARIMAX

    waves = period > LONGEST
    season_orders = [(0, 0, 0, 0)]
    if 1 < period <= LONGEST:
        season_orders = [(0, 0, 0, 0), (0, 1, 1, period), (1, 1, 0, period), (1, 0, 1, period)]
    known = fourier(np.arange(values.size), period) if waves else None
    ahead_known = fourier(np.arange(values.size, values.size + ahead), period) if waves else None
    # A year of hours has seasons enough in its last weeks, and a filter goes through every value.
    short = values[-1500:] if values.size > 1500 else values
    known = known[-short.size :] if waves else None
    logs = bool(np.nanmin(values) > 0 and spread_grows(short, period))
    taken = np.log(short) if logs else short
    best = None
    for order in ((1, 0, 0), (2, 0, 0), (0, 1, 1), (1, 1, 1), (2, 1, 1), (3, 0, 1)):
        for seasonal in season_orders:
            found = attempt(
                lambda: SARIMAX(
                    taken,
                    exog=known,
                    order=order,
                    seasonal_order=seasonal,
                    trend="c" if order[1] + seasonal[1] < 2 else None,
                    enforce_stationarity=False,
                    enforce_invertibility=False,
                ).fit(disp=False, maxiter=60)
            )
            if found is None or not np.isfinite(found.aicc):
                continue
            # Differences lose values: likelihoods are compared per value.
            score = found.aicc / max(found.nobs_effective, 1)
            if best is None or score < best[0]:
                best = (score, found)
    if best is None:
        raise RuntimeError("no order could be fitted")
    predicted = best[1].get_forecast(ahead, exog=ahead_known)
    mean, sd = np.asarray(predicted.predicted_mean), np.asarray(predicted.se_mean)
    answer = Predictions.gaussian(mean, sd)
    if logs:
        return Predictions(np.exp(mean + 0.5 * np.minimum(sd, 2.0) ** 2), np.exp(answer.quantiles))
    return answer


def spread_grows(values, period):
    """Whether the spread of a season grows with its level: then logarithms are taken."""
    size = max(period, 8)
    seasons = values[values.size % size :].reshape(-1, size)
    if len(seasons) < 4:
        return False
    level, spread = np.nanmean(seasons, 1), np.nanstd(seasons, 1)
    return bool(np.corrcoef(level, spread)[0, 1] > 0.7)


def fourier(rows, period):
    """Waves of the season."""
    angles = 2.0 * np.pi * np.outer(rows / period, np.arange(1, WAVES + 1))
    return np.hstack([np.sin(angles), np.cos(angles)])


def attempt(fit):
    """A fit, or nothing where the numbers fail."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return fit()
        except (ValueError, np.linalg.LinAlgError, IndexError, ZeroDivisionError):
            return None


RIVALS = {
    "naive": naive,
    "seasonal naive": seasonal_naive,
    "ETS": ets,
    "AutoReg": autoregression,
    "SARIMAX": sarima,
}
