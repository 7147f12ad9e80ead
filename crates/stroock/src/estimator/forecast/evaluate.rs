//! Forecasts from earlier times, beside what came then.

use super::super::{EstimatorError, EvaluateOptions, Evaluation, Model, VariableEvaluation};
use crate::forecast::{Forecaster, Kind, Method, Track, tracks, usual_step};
use crate::score::{HoldOut, Prediction, ScoreSums};
use crate::series::table::{Step, Table};

/// Share of a series that is known at the earliest origin.
const KNOWN: f64 = 0.4;

impl Model {
    /// Forecasts the last part of every series of a table, or of those with the given numbers, from one or more
    /// origins, beside the last value and the value one period before.
    ///
    /// At every origin the methods are chosen anew, by what was known then: nothing that is scored has been seen.
    ///
    /// # Errors
    /// When the table does not fit the model, or no series is long enough.
    pub fn evaluate_forecasts(
        &self,
        table: &Table,
        numbers: Option<&[usize]>,
        options: &EvaluateOptions,
    ) -> Result<Evaluation, EstimatorError> {
        let (table, warnings) = self.arranged(table)?;
        let step = match &self.description.data.forecast {
            Some(forecaster) => forecaster.step,
            None => usual_step(&table).unwrap_or(Step::Length(self.step(None)?)),
        };
        let series = table.data.series();
        let is_chosen = |track: &Track| {
            numbers.is_none_or(|numbers| numbers.iter().any(|&number| series[number].id == track.id))
        };
        let all: Vec<Track> = tracks(&table, step, self.known_ahead());
        let share = tail_share(options);
        let sums = ScoreSums::usual(&["last value", "seasonal naive"]);
        let scaler = &self.description.data.scaler;
        let mut variables = vec![sums.clone(); table.variables.len()];
        let mut overall = sums;
        let count = options.origins.max(1);
        for number in 0..count {
            // What was known of every series then, chosen or not.
            let origin = |track: &Track| origin(track, share, number, count);
            let known: Vec<Option<(Track, f64)>> = all
                .iter()
                .map(|track| origin(track).and_then(|(at, end)| Some((track.until(at)?, end))))
                .collect();
            let past: Vec<Track> = known.iter().flatten().map(|(past, _)| past.clone()).collect();
            let forecaster = Forecaster::of_tracks(&past, step, &table.time);
            for (track, known) in all.iter().zip(&known).filter(|(track, _)| is_chosen(track)) {
                let Some((past, end)) = known else { continue };
                for channel in self.dynamic() {
                    let scale = scaler.scale_of(channel).abs();
                    let add = |prediction: &Prediction| {
                        variables[channel].add(prediction);
                        let scaled = Scaled::of(prediction, scale);
                        overall.add(&scaled.prediction());
                    };
                    score(&forecaster, past, track, channel, *end, options.draws, &table, add);
                }
            }
        }
        let overall = overall.finish().ok_or(EstimatorError::NothingToHoldOut)?;
        let names = self.description.data.variables.iter().zip(&variables);
        let variables = names.filter_map(|(variable, sums)| {
            Some(VariableEvaluation { name: variable.name.clone(), scores: sums.finish()? })
        });
        Ok(Evaluation {
            options: *options,
            series: all.iter().filter(|track| is_chosen(track)).count(),
            overall,
            variables: variables.collect(),
            classes: None,
            samples: None,
            warnings,
        })
    }
}

/// Share of every series that is forecast.
pub(super) fn tail_share(options: &EvaluateOptions) -> f64 {
    match options.hold_out {
        HoldOut::Tail { share } => share.clamp(0.01, 0.9),
        HoldOut::Random { .. } | HoldOut::Blocks { .. } => 0.25,
    }
}

/// Origin `number` of `count`, and the end of its horizon: the last one leaves the share of the series, the others are
/// up to half of that earlier each, where the series is long enough.
pub(super) fn origin(track: &Track, share: f64, number: usize, count: usize) -> Option<(f64, f64)> {
    let first = *track.times.first()?;
    let length = track.end - first;
    let horizon = share * length;
    let room = ((1.0 - KNOWN) * length - horizon).max(0.0);
    let back = match count {
        1 => 0.0,
        _ => number as f64 * (0.5 * horizon).min(room / (count - 1) as f64),
    };
    let end = track.end - back;
    (length > 0.0).then_some((end - horizon, end))
}

/// Adds every value of a variable between an origin and the end of its horizon.
#[allow(clippy::too_many_arguments)]
fn score(
    forecaster: &Forecaster,
    past: &Track,
    track: &Track,
    channel: usize,
    end: f64,
    draws: usize,
    table: &Table,
    mut add: impl FnMut(&Prediction),
) {
    let (Some(history), Some(found)) = (
        track.histories.get(channel).and_then(Option::as_ref),
        forecaster.variables.get(channel).and_then(Option::as_ref),
    ) else {
        return;
    };
    let step = forecaster.step;
    let last = step.place(&table.time, end);
    let from = past.places.last().copied().unwrap_or(f64::NEG_INFINITY);
    let ahead = history.places().iter().zip(history.values());
    let ahead = ahead.filter(|(place, _)| **place > from + 1e-9 && **place <= last + 1e-6);
    let (places, truths): (Vec<f64>, Vec<f64>) = ahead.unzip();
    let Some(known) = past.histories[channel].as_ref().filter(|_| !places.is_empty()) else { return };
    let Some(forecast) = found.forecast(past, channel, &places, from) else { return };
    let start = known.end().unwrap_or(from);
    let distances: Vec<f64> = places.iter().map(|place| place - start).collect();
    let plain = |kind: Kind| Method::of(kind).project(known, &found.choice.periods, &distances);
    let naive = plain(Kind::Naive);
    let seasonal = plain(Kind::SeasonalNaive).or_else(|| naive.clone());
    for (k, &truth) in truths.iter().enumerate() {
        let at = |draw: usize| forecast.quantile(k, (draw as f64 + 0.5) / draws.max(1) as f64);
        let sorted: Vec<f64> = (0..draws).map(at).collect();
        let baselines =
            [&naive, &seasonal].map(|said| said.as_ref().map_or(f64::NAN, |said| said.mean(k, 1.0)));
        add(&Prediction {
            truth,
            mean: forecast.mean(k),
            draws: &sorted,
            nll: forecast.density(k, truth).map(|density| -density.ln()),
            baselines: &baselines,
        });
    }
}

/// A prediction in standard deviations.
struct Scaled {
    truth: f64,
    mean: f64,
    draws: Vec<f64>,
    nll: Option<f64>,
    baselines: Vec<f64>,
}

impl Scaled {
    fn of(prediction: &Prediction, scale: f64) -> Self {
        let scale = if scale > 0.0 && scale.is_finite() { scale } else { 1.0 };
        Self {
            truth: prediction.truth / scale,
            mean: prediction.mean / scale,
            draws: prediction.draws.iter().map(|value| value / scale).collect(),
            nll: prediction.nll.map(|nll| nll - scale.ln()),
            baselines: prediction.baselines.iter().map(|value| value / scale).collect(),
        }
    }

    fn prediction(&self) -> Prediction<'_> {
        let Self { truth, mean, draws, nll, baselines } = self;
        Prediction { truth: *truth, mean: *mean, draws, nll: *nll, baselines }
    }
}
