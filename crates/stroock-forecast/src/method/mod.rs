//! From a history to what comes after it.

mod arima;
mod autoregression;
mod continuous;
mod harmonic;
mod simple;
mod smoothing;
mod steps;

use serde::{Deserialize, Serialize};

use crate::{History, Projection};
use smoothing::Trend;
use steps::Steps;

pub use autoregression::autoregressive_weights;
pub use smoothing::smoothing_weights;

/// Steps back that a method learns from: those before say little about the present, and take time.
const MEMORY: usize = 2000;
/// Longest periods that are remembered at least.
const PERIODS: f64 = 6.0;

/// A way to forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Which one.
    pub kind: Kind,
    /// Whether it is about the logarithms of the values.
    #[serde(default)]
    pub log: bool,
}

/// The ways to forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The mean of all values.
    Mean,
    /// The last value.
    Naive,
    /// The line through the first and the last value.
    Drift,
    /// The value one period before.
    SeasonalNaive,
    /// Exponential smoothing of a level, and of seasons where there are any.
    Level,
    /// Exponential smoothing of a level and a slope (Holt and Winters).
    Trend,
    /// The same with a slope that fades.
    DampedTrend,
    /// A level with half of the slope of the whole history, after harmonics of the seasons are taken out (Theta).
    Theta,
    /// Autoregression on the last values and those one period before.
    Autoregression,
    /// The same of differences between neighbours.
    DifferencedAutoregression,
    /// The same of differences over a period.
    SeasonalAutoregression,
    /// The same of both differences.
    SeasonalDifferencedAutoregression,
    /// Harmonics of the seasons, and a smoothed level with a slope that fades.
    HarmonicDampedTrend,
    /// Harmonics of the seasons, and autoregression of what they leave.
    HarmonicAutoregression,
    /// An autoregressive integrated moving average, with coefficients of the season where it is short.
    Arima,
    /// Harmonics of the seasons, and an autoregressive integrated moving average of what they leave.
    HarmonicArima,
    /// A random walk behind noise, in continuous time.
    LocalLevel,
    /// A path that returns to its mean, behind noise, in continuous time.
    MeanReverting,
}

impl Kind {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Mean => "mean",
            Kind::Naive => "last value",
            Kind::Drift => "drift",
            Kind::SeasonalNaive => "seasonal naive",
            Kind::Level => "smoothed level",
            Kind::Trend => "smoothed trend",
            Kind::DampedTrend => "damped trend",
            Kind::Theta => "theta",
            Kind::Autoregression => "autoregression",
            Kind::DifferencedAutoregression => "autoregression of differences",
            Kind::SeasonalAutoregression => "autoregression of seasonal differences",
            Kind::SeasonalDifferencedAutoregression => "autoregression of both differences",
            Kind::HarmonicDampedTrend => "harmonics and damped trend",
            Kind::HarmonicAutoregression => "harmonics and autoregression",
            Kind::Arima => "ARIMA",
            Kind::HarmonicArima => "harmonics and ARIMA",
            Kind::LocalLevel => "local level",
            Kind::MeanReverting => "mean reversion",
        }
    }

    /// Whether it is about seasons alone, and means nothing without any.
    pub fn needs_season(self) -> bool {
        matches!(
            self,
            Kind::SeasonalNaive
                | Kind::SeasonalAutoregression
                | Kind::SeasonalDifferencedAutoregression
                | Kind::HarmonicDampedTrend
                | Kind::HarmonicAutoregression
                | Kind::HarmonicArima
        )
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}{}", self.kind.name(), if self.log { " of logarithms" } else { "" })
    }
}

impl Method {
    /// The method on values as they are.
    pub const fn of(kind: Kind) -> Self {
        Self { kind, log: false }
    }

    /// The methods that may be tried on a history: those that its grid, its seasons and its signs allow.
    pub fn pool(has_grid: bool, has_season: bool, positive: bool) -> Vec<Method> {
        use Kind::*;
        const REGULAR: [Kind; 16] = [
            Naive,
            SeasonalNaive,
            Mean,
            Drift,
            Level,
            Trend,
            DampedTrend,
            Theta,
            Autoregression,
            DifferencedAutoregression,
            SeasonalAutoregression,
            SeasonalDifferencedAutoregression,
            HarmonicDampedTrend,
            HarmonicAutoregression,
            Arima,
            HarmonicArima,
        ];
        const LOGS: [Kind; 9] = [
            Trend,
            DampedTrend,
            DifferencedAutoregression,
            SeasonalAutoregression,
            SeasonalDifferencedAutoregression,
            HarmonicDampedTrend,
            Autoregression,
            HarmonicAutoregression,
            Arima,
        ];
        const IRREGULAR: [Kind; 5] = [Naive, Mean, Drift, LocalLevel, MeanReverting];
        let kinds: &[Kind] = if has_grid { &REGULAR } else { &IRREGULAR };
        let logs: &[Kind] = if has_grid && positive { &LOGS } else { &[] };
        let plain = kinds.iter().map(|&kind| Method { kind, log: false });
        let all = plain.chain(logs.iter().map(|&kind| Method { kind, log: true }));
        all.filter(|method| has_season || !method.kind.needs_season()).collect()
    }

    /// What the method says about the values at distances `ahead` (in steps, increasing) after the last value;
    /// `None` where the history is too short for it.
    ///
    /// The periods are in steps, the strongest first. Level and scale are taken out before anything is learned, and
    /// put back.
    pub fn project(&self, history: &History, periods: &[f64], ahead: &[f64]) -> Option<Projection> {
        let mapped;
        let history = match self.log {
            false => history,
            true if history.values().iter().all(|&value| value > 0.0) => {
                mapped = history.map(f64::ln);
                &mapped
            }
            true => return None,
        };
        let longest = periods.iter().fold(0.0f64, |most, &period| most.max(period));
        let memory = MEMORY.max((PERIODS * longest).ceil() as usize);
        let shortened;
        let history = match history.len() > memory {
            true => {
                shortened = history.last(memory);
                &shortened
            }
            false => history,
        };
        let (mean, sd) = standard(history.values())?;
        let standard = history.map(|value| (value - mean) / sd);
        let mut projection = self.standard_projection(&standard, periods, ahead)?;
        projection.location.iter_mut().for_each(|location| *location = mean + sd * *location);
        projection.scale.iter_mut().for_each(|scale| *scale *= sd);
        projection.log = self.log;
        projection.is_valid().then_some(projection)
    }

    /// The same for values with mean 0 and standard deviation 1.
    fn standard_projection(&self, history: &History, periods: &[f64], ahead: &[f64]) -> Option<Projection> {
        let continuous = match self.kind {
            Kind::Mean => Some(simple::mean(history, ahead)),
            Kind::Naive => Some(simple::naive(history, ahead)),
            Kind::Drift => Some(simple::drift(history, ahead)),
            Kind::LocalLevel => Some(continuous::local_level(history, ahead)),
            Kind::MeanReverting => Some(continuous::mean_reverting(history, ahead)),
            _ => None,
        };
        if let Some(projection) = continuous {
            return projection;
        }
        let grid = history.grid()?;
        // A period has to be seen twice to be learned from.
        let known = |period: &&f64| **period >= 2.0 && 2.0 * **period + 1.0 <= grid.len() as f64;
        let periods: Vec<f64> = periods.iter().filter(known).copied().collect();
        if periods.is_empty() && self.kind.needs_season() {
            return None;
        }
        let steps = ahead.iter().fold(1.0f64, |most, &ahead| most.max(ahead.ceil())) as usize;
        self.steps(grid, &periods, steps).map(|steps| steps.at(ahead))
    }

    fn steps(&self, grid: &[f64], periods: &[f64], steps: usize) -> Option<Steps> {
        match self.kind {
            Kind::SeasonalNaive => simple::seasonal_naive(grid, *periods.first()?, steps),
            Kind::Level => smoothing::smooth(grid, periods, Trend::None, steps),
            Kind::Trend => smoothing::smooth(grid, periods, Trend::Linear, steps),
            Kind::DampedTrend => smoothing::smooth(grid, periods, Trend::Damped, steps),
            Kind::Theta => harmonic::deseasonalised(grid, periods, steps, smoothing::theta),
            Kind::Autoregression => autoregression::regress(grid, periods, false, None, steps),
            Kind::DifferencedAutoregression => autoregression::regress(grid, periods, true, None, steps),
            Kind::SeasonalAutoregression => {
                autoregression::regress(grid, periods, false, periods.first().copied(), steps)
            }
            Kind::SeasonalDifferencedAutoregression => {
                autoregression::regress(grid, periods, true, periods.first().copied(), steps)
            }
            Kind::HarmonicDampedTrend => harmonic::deseasonalised(grid, periods, steps, |rest, steps| {
                smoothing::smooth(rest, &[], Trend::Damped, steps)
            }),
            Kind::HarmonicAutoregression => harmonic::deseasonalised(grid, periods, steps, |rest, steps| {
                autoregression::regress(rest, &[], false, None, steps)
            }),
            Kind::Arima => arima::arima(grid, periods, steps),
            Kind::HarmonicArima => {
                harmonic::deseasonalised(grid, periods, steps, |rest, steps| arima::arima(rest, &[], steps))
            }
            Kind::Mean | Kind::Naive | Kind::Drift | Kind::LocalLevel | Kind::MeanReverting => None,
        }
    }
}

/// Mean and standard deviation; the latter is 1 where all values are the same.
fn standard(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    let largest = values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    // The square of a larger number is none.
    if values.is_empty() || largest > 1e150 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    let sd = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    Some((mean, if sd > 1e-12 * largest { sd } else { 1.0 }))
}
