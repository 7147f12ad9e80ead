//! Which methods answer, and how wide their intervals have to be.

use serde::{Deserialize, Serialize};

use crate::backtest::{Backtest, Origin, backtest, rungs};
use crate::calibration::{EXPECTED_WIDTH, widths};
use crate::season::common_periods;
use crate::{Forecast, History, Kind, Method, Projection};

/// Histories that methods are compared on, and origins of all of them together.
const HISTORIES: usize = 24;
const ORIGINS: usize = 48;
const ORIGINS_OF_ONE: usize = 10;
/// Methods that are averaged. Ten origins order methods badly: the average of many of them is better than the few that
/// did best, and than any of them alone.
const AVERAGED: usize = 8;
/// The error of the average has to be below this share of that of the last value: what is less is chance.
const WORTHWHILE: f64 = 0.95;

/// What is known about series beforehand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// Periods in steps that may be expected, such as 24 and 168 for hours.
    pub periods: Vec<f64>,
}

/// A method and its share of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weight {
    /// The method.
    pub method: Method,
    /// Its share; shares sum to 1.
    pub weight: f64,
}

/// How well a method did.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodScore {
    /// The method.
    pub method: Method,
    /// Mean over origins of its root mean squared error, in usual changes of the series.
    pub error: f64,
}

/// What answers at horizons about this long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rung {
    /// The horizon in steps.
    pub horizon: f64,
    /// Which methods answer, the strongest first.
    pub weights: Vec<Weight>,
    /// Error of the answer in backtests; not there where none were possible.
    pub error: Option<f64>,
    /// Errors of all methods, the best first.
    pub scores: Vec<MethodScore>,
    /// Distances in steps, and by how much intervals are made wider there.
    pub widths: Vec<(f64, f64)>,
    /// Origins that were compared at.
    pub origins: usize,
}

/// How a variable is forecast: what backtests found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Periods in steps, the strongest first.
    pub periods: Vec<f64>,
    /// For horizons that grow; never empty.
    pub rungs: Vec<Rung>,
    /// Whether no value was below zero.
    pub positive: bool,
    /// Mean and standard deviation of all values.
    pub values: (f64, f64),
    /// Standard deviation of changes over a step.
    pub change: f64,
}

impl Choice {
    /// Compares the methods on histories of one variable, and on their average: those that do best together answer.
    pub fn from_backtests(histories: &[History], settings: &Settings) -> Self {
        let known: Vec<&History> = histories.iter().filter(|history| !history.is_empty()).collect();
        let every = known.len().div_ceil(HISTORIES).max(1);
        let sample: Vec<&History> = known.iter().step_by(every).copied().collect();
        let on_grid = sample.iter().filter(|history| history.grid().is_some()).count();
        let has_grid = 2 * on_grid >= sample.len();
        let grids = sample.iter().filter_map(|history| history.grid());
        let periods = if has_grid { common_periods(grids, &settings.periods) } else { Vec::new() };
        let all = || known.iter().flat_map(|history| history.values().iter().copied());
        let strictly = all().all(|value| value > 0.0) && !known.is_empty();
        let methods = Method::pool(has_grid, !periods.is_empty(), strictly);
        let each = match sample.len() {
            0 | 1 => ORIGINS_OF_ONE,
            several => (ORIGINS / several).clamp(2, ORIGINS_OF_ONE),
        };
        let tests = backtest(&sample, &methods, &periods, each);
        let positive = all().all(|value| value >= 0.0) && !known.is_empty();
        let floor = if positive { 0.0 } else { f64::NEG_INFINITY };
        let rungs = rungs(tests.horizon).into_iter().filter_map(|horizon| Rung::of(&tests, horizon, floor));
        let mut rungs: Vec<Rung> = rungs.collect();
        if rungs.is_empty() {
            rungs.push(Rung::unknown());
        }
        Self { periods, rungs, positive, values: spread(all()), change: change(&known) }
    }

    /// The least value that a forecast can have.
    pub fn floor(&self) -> f64 {
        if self.positive { 0.0 } else { f64::NEG_INFINITY }
    }

    /// What answers at a horizon.
    pub fn rung(&self, horizon: f64) -> &Rung {
        let far = |rung: &&Rung| (rung.horizon.max(1.0) / horizon.max(1.0)).ln().abs();
        let nearest = self.rungs.iter().min_by(|a, b| far(a).total_cmp(&far(b)));
        nearest.unwrap_or(&self.rungs[0])
    }

    /// The forecast at distances `ahead` (increasing, in steps) after the last value of a history.
    ///
    /// There always is one: methods for which the history is too short are left out, and a history without values has
    /// the distribution of all values.
    pub fn forecast(&self, history: &History, ahead: &[f64]) -> Forecast {
        let horizon = ahead.last().copied().unwrap_or(1.0);
        let rung = self.rung(horizon);
        let project =
            |weight: &Weight| Some((weight.weight, weight.method.project(history, &self.periods, ahead)?));
        let mut parts: Vec<(f64, Projection)> = rung.weights.iter().filter_map(project).collect();
        let sum: f64 = parts.iter().map(|(weight, _)| weight).sum();
        parts.iter_mut().for_each(|(weight, _)| *weight /= sum);
        if parts.is_empty() || history.len() < 3 {
            parts = vec![(1.0, self.unknown(history, ahead))];
        }
        Forecast {
            parts,
            widths: ahead.iter().map(|&ahead| rung.width(ahead)).collect(),
            floor: self.floor(),
            shift: Vec::new(),
        }
    }

    /// What one says about a history of hardly any values: the last one and the changes of other histories, or what
    /// values are like at all.
    fn unknown(&self, history: &History, ahead: &[f64]) -> Projection {
        let (mean, sd) = self.values;
        // A random walk that is no wider than the values are.
        let walk = |ahead: &f64| (self.change * ahead.max(0.0).sqrt()).min(sd.max(self.change));
        let (location, diffusion, noise, scale) = match history.values().last() {
            Some(&last) => (last, 1.0, 0.0, ahead.iter().map(walk).collect()),
            None => (mean, 0.0, 1.0, vec![sd; ahead.len()]),
        };
        Projection {
            log: false,
            location: vec![location; ahead.len()],
            scale,
            errors: crate::Errors::Markov { ahead: ahead.to_vec(), rate: 0.0, diffusion, start: 0.0, noise },
        }
    }
}

impl Rung {
    /// The best answer at a horizon; `None` where no origin sees it.
    fn of(tests: &Backtest, horizon: f64, floor: f64) -> Option<Self> {
        let origins = tests.at(horizon);
        if origins.is_empty() {
            return None;
        }
        let mean = |errors: &mut dyn Iterator<Item = f64>| errors.sum::<f64>() / origins.len() as f64;
        let scores = tests.methods.iter().enumerate().map(|(number, method)| {
            let spoke = origins.iter().filter(|origin| origin.projections[number].is_some()).count();
            let one = |origin: &&Origin| match origin.projection(number) {
                Some(projection) => origin.error(horizon, |k| projection.mean(k, 1.0).max(floor)),
                None => f64::INFINITY,
            };
            // A method that is silent half of the time is none.
            let error = match 2 * spoke > origins.len() {
                true => mean(&mut origins.iter().map(one)),
                false => f64::INFINITY,
            };
            (number, MethodScore { method: *method, error })
        });
        let mut scores: Vec<(usize, MethodScore)> =
            scores.filter(|(_, score)| score.error.is_finite()).collect();
        scores.sort_by(|a, b| a.1.error.total_cmp(&b.1.error));
        let best = scores.first()?.1;
        let chosen = &scores[..AVERAGED.min(scores.len())];
        let total: f64 = chosen.iter().map(|(_, score)| worth(score.error)).sum();
        let shares = chosen.iter().map(|(number, score)| (*number, worth(score.error) / total));
        let mut weights: Vec<(usize, f64)> = shares.collect();
        let one = |origin: &&Origin| {
            let forecast = origin.average(&weights, floor);
            origin.error(horizon, |k| forecast.mean(k))
        };
        let mut error = mean(&mut origins.iter().map(one));
        // A plain rule that nothing beats answers alone.
        let is_plain = matches!(best.method.kind, Kind::Naive | Kind::SeasonalNaive);
        let naive = scores.iter().find(|(_, score)| score.method == Method::of(Kind::Naive));
        let plain = match is_plain && best.error <= error {
            true => scores.first(),
            false => naive.filter(|(_, score)| WORTHWHILE * score.error <= error),
        };
        if let Some((number, score)) = plain {
            weights = vec![(*number, 1.0)];
            error = score.error;
        }
        let widths = widths(tests, horizon, &weights);
        let weight = |&(number, weight): &(usize, f64)| Weight { method: tests.methods[number], weight };
        Some(Self {
            horizon,
            weights: weights.iter().map(weight).collect(),
            error: Some(error),
            scores: scores.into_iter().map(|(_, score)| score).collect(),
            widths,
            origins: origins.len(),
        })
    }

    /// Where nothing can be tried: the last value.
    fn unknown() -> Self {
        Self {
            horizon: 1.0,
            weights: vec![Weight { method: Method::of(Kind::Naive), weight: 1.0 }],
            error: None,
            scores: Vec::new(),
            widths: vec![(1.0, EXPECTED_WIDTH)],
            origins: 0,
        }
    }

    /// Error of a method in the backtests.
    pub fn error_of(&self, method: Method) -> Option<f64> {
        self.scores.iter().find(|score| score.method == method).map(|score| score.error)
    }

    /// By how much intervals are made wider at a distance: between the distances that were looked at, on a line in
    /// logarithms.
    fn width(&self, ahead: f64) -> f64 {
        let place = self.widths.partition_point(|&(other, _)| other <= ahead);
        match (place.checked_sub(1).map(|place| self.widths[place]), self.widths.get(place)) {
            (Some((low, from)), Some(&(high, to))) => {
                let share = (ahead / low).ln() / (high / low).ln();
                from + share * (to - from)
            }
            (Some((_, width)), None) | (None, Some(&(_, width))) => width,
            (None, None) => 1.0,
        }
    }
}

/// The weight of an error before weights are divided by their sum.
fn worth(error: f64) -> f64 {
    1.0 / (error * error).max(1e-12)
}

/// Mean and standard deviation. Values are divided by the largest one, whose square may be too large for a number.
fn spread(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count().max(1) as f64;
    let unit = values.clone().fold(f64::MIN_POSITIVE, |most, value| most.max(value.abs()));
    let mean = values.clone().map(|value| value / unit / count).sum::<f64>();
    let variance = values.map(|value| (value / unit - mean).powi(2)).sum::<f64>() / count;
    (unit * mean, unit * variance.sqrt())
}

/// Standard deviation of changes over a step, over all histories.
fn change(histories: &[&History]) -> f64 {
    let values = histories.iter().flat_map(|history| history.values());
    let unit = values.fold(f64::MIN_POSITIVE, |most, value| most.max(value.abs()));
    let (mut sum, mut count) = (0.0, 0.0);
    for history in histories {
        for (value, place) in history.values().windows(2).zip(history.places().windows(2)) {
            if place[1] > place[0] {
                sum += (value[1] / unit - value[0] / unit).powi(2) / (place[1] - place[0]);
                count += 1.0;
            }
        }
    }
    if count > 0.0 { unit * f64::sqrt(sum / count) } else { 0.0 }
}
