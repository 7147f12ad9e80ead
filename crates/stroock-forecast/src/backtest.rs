//! Forecasts from earlier origins, beside what came true.

use rayon::prelude::*;

use crate::{Forecast, History, Kind, Method, Projection};

/// Share of a history that is known at every origin at least.
const KNOWN: f64 = 0.5;
/// Share of a history that is forecast at most.
const AHEAD: f64 = 0.3;
/// Longest horizon of backtests in steps.
const LONGEST: f64 = 1000.0;
/// Values that have to be known at an origin.
const FEWEST: usize = 5;

/// One origin of a backtest.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Number of the history.
    pub series: usize,
    /// Values that were known.
    pub known: usize,
    /// Place of the last of them.
    pub place: f64,
    /// Distances of the values after them, in steps.
    pub ahead: Vec<f64>,
    /// Those values.
    pub truths: Vec<f64>,
    /// Usual size of a change in what was known: errors are divided by it.
    pub scale: f64,
    /// What each method said; `None` where it said nothing.
    pub projections: Vec<Option<Projection>>,
}

/// Forecasts of several methods from several origins of several histories.
#[derive(Clone, Debug)]
pub struct Backtest {
    /// The methods; the first is [`Kind::Naive`], which always says something.
    pub methods: Vec<Method>,
    /// The origins.
    pub origins: Vec<Origin>,
    /// The longest horizon in steps.
    pub horizon: f64,
}

/// Horizons `1, 2, 3, 4, 6, 8, 11, 16, ..` up to the longest one, which is among them.
///
/// ```
/// # use stroock_forecast::rungs;
/// assert_eq!(rungs(12.0), [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 11.0, 12.0]);
/// ```
pub fn rungs(longest: f64) -> Vec<f64> {
    let mut rungs: Vec<f64> = (0..40).map(|power| 2f64.powf(0.5 * f64::from(power)).round()).collect();
    rungs.dedup();
    rungs.retain(|&rung| rung < longest);
    rungs.push(longest.max(1.0));
    rungs
}

/// How far ahead a history can be forecast from within, in steps.
pub fn reach(history: &History) -> f64 {
    match (history.places().first(), history.end()) {
        (Some(first), Some(end)) => (AHEAD * (end - first)).floor().clamp(1.0, LONGEST),
        _ => 1.0,
    }
}

/// How many values are known at each of `count` origins: spread evenly over the later part of the history, the last
/// one just before its end. Fewer where the history is short.
pub fn origins(history: &History, count: usize) -> Vec<usize> {
    let (places, len) = (history.places(), history.len());
    if len <= FEWEST || count == 0 {
        return Vec::new();
    }
    let (first, last) = (places[0], places[len - 1]);
    let begin = first + KNOWN * (last - first);
    // Half of the origins see the whole horizon.
    let end = last - 0.25 * reach(history).min(0.5 * (last - first));
    let at = |number: usize| {
        let share = if count > 1 { number as f64 / (count - 1) as f64 } else { 1.0 };
        let place = begin + share * (end - begin);
        places.partition_point(|&other| other <= place + 1e-9)
    };
    let mut known: Vec<usize> = (0..count).map(at).collect();
    known.retain(|&known| (FEWEST..len).contains(&known));
    known.dedup();
    known
}

/// The mean absolute difference to the value one period before, or one step before where there is no period or the
/// values repeat exactly; 0 where nothing changes.
pub fn usual_change(history: &History, periods: &[f64]) -> f64 {
    let mean = |sum: f64, count: usize| if count > 0 { sum / count as f64 } else { 0.0 };
    let changes = history.values().windows(2).map(|pair| (pair[1] - pair[0]).abs());
    let plain = mean(changes.clone().sum(), changes.count());
    let (Some(grid), Some(period)) = (history.grid(), periods.first()) else { return plain };
    let lag = period.round() as usize;
    let pairs = grid.iter().zip(grid.get(lag..).unwrap_or(&[]));
    let changes: Vec<f64> = pairs.map(|(a, b)| (a - b).abs()).filter(|change| change.is_finite()).collect();
    let seasonal = mean(changes.iter().sum(), changes.len());
    if changes.len() >= lag.min(12) && seasonal > 1e-9 * plain { seasonal } else { plain }
}

/// Runs the methods from `count` origins of each history, with the given periods.
pub fn backtest(histories: &[&History], methods: &[Method], periods: &[f64], count: usize) -> Backtest {
    let horizon = histories.iter().map(|history| reach(history)).fold(1.0, f64::max);
    let first = Method::of(Kind::Naive);
    let others = methods.iter().copied().filter(|&method| method != first);
    let all: Vec<Method> = std::iter::once(first).chain(others).collect();
    let places = histories.iter().enumerate();
    let places = places
        .flat_map(|(series, history)| origins(history, count).into_iter().map(move |known| (series, known)));
    let places: Vec<(usize, usize)> = places.collect();
    let one =
        |&(series, known): &(usize, usize)| origin(histories[series], series, known, &all, periods, horizon);
    let origins = places.par_iter().filter_map(one).collect();
    Backtest { methods: all, origins, horizon }
}

fn origin(
    history: &History,
    series: usize,
    known: usize,
    methods: &[Method],
    periods: &[f64],
    horizon: f64,
) -> Option<Origin> {
    let past = history.first(known);
    let end = past.end()?;
    let distances = history.places()[known..].iter().map(|place| place - end);
    let ahead: Vec<f64> = distances.take_while(|&distance| distance <= horizon + 0.5).collect();
    let truths = history.values()[known..known + ahead.len()].to_vec();
    let scale = usual_change(&past, periods);
    if ahead.is_empty() || scale <= 0.0 {
        return None;
    }
    let project = |method: &Method| method.project(&past, periods, &ahead);
    // The methods differ in length by far: shared out one by one.
    let projections = methods.par_iter().map(project).collect();
    Some(Origin { series, known, place: end, ahead, truths, scale, projections })
}

impl Origin {
    /// What method `number` says, or the first one in its place.
    pub fn projection(&self, number: usize) -> Option<&Projection> {
        self.projections[number].as_ref().or(self.projections[0].as_ref())
    }

    /// Values up to a horizon.
    pub fn within(&self, horizon: f64) -> usize {
        self.ahead.partition_point(|&ahead| ahead <= horizon + 1e-9)
    }

    /// Whether most of a horizon came true.
    pub fn sees(&self, horizon: f64) -> bool {
        self.ahead.last().is_some_and(|&last| last >= 0.7 * horizon)
    }

    /// Root of the mean squared error up to a horizon, in usual changes.
    pub fn error(&self, horizon: f64, mean: impl Fn(usize) -> f64) -> f64 {
        let count = self.within(horizon);
        let squares: f64 = (0..count).map(|k| (mean(k) - self.truths[k]).powi(2)).sum();
        (squares / count.max(1) as f64).sqrt() / self.scale
    }
}

impl Origin {
    /// The average of methods by number with weights that sum to 1, with intervals as they are.
    pub fn average(&self, weights: &[(usize, f64)], floor: f64) -> Forecast {
        let part = |&(number, weight): &(usize, f64)| Some((weight, self.projection(number)?.clone()));
        Forecast {
            parts: weights.iter().filter_map(part).collect(),
            widths: vec![1.0; self.ahead.len()],
            floor,
            shift: Vec::new(),
        }
    }
}

impl Backtest {
    /// The origins from which most of a horizon came true.
    pub fn at(&self, horizon: f64) -> Vec<&Origin> {
        self.origins.iter().filter(|origin| origin.within(horizon) > 0 && origin.sees(horizon)).collect()
    }
}
