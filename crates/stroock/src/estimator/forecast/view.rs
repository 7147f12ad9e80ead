//! Forecasts of the last part of series, to be looked at.

use super::super::{EstimatorError, EvaluateOptions, Model};
use super::evaluate::{origin, tail_share};
use crate::forecast::{Forecaster, History, Track, tracks, usual_step};
use crate::series::table::{Step, Table};

/// One variable of a series, and the forecast of its last part from what came before.
#[derive(Clone, Debug, PartialEq)]
pub struct ForecastView {
    /// Name of the series.
    pub id: String,
    /// The variable.
    pub channel: usize,
    /// Times and values that were known.
    pub seen: (Vec<f64>, Vec<f64>),
    /// Times and values that were not.
    pub held: (Vec<f64>, Vec<f64>),
    /// Predictive means at the times that were not.
    pub mean: Vec<f64>,
    /// Quantiles there, `[levels][times]`.
    pub quantiles: Vec<Vec<f64>>,
}

impl Model {
    /// Forecasts of the last part of the longest `count` series of a table, with quantiles of the given levels.
    ///
    /// # Errors
    /// When the table does not fit the model.
    pub fn forecast_views(
        &self,
        table: &Table,
        numbers: Option<&[usize]>,
        options: &EvaluateOptions,
        levels: &[f64],
        count: usize,
    ) -> Result<Vec<ForecastView>, EstimatorError> {
        let (table, _) = self.arranged(table)?;
        let step = match &self.description.data.forecast {
            Some(forecaster) => forecaster.step,
            None => usual_step(&table).unwrap_or(Step::Length(self.step(None)?)),
        };
        let series = table.data.series();
        let is_chosen = |track: &&Track| {
            numbers.is_none_or(|numbers| numbers.iter().any(|&number| series[number].id == track.id))
        };
        let all = tracks(&table, step, self.known_ahead());
        let share = tail_share(options);
        let past = |track: &Track| track.until(origin(track, share, 0, 1)?.0);
        let pasts: Vec<Track> = all.iter().filter_map(past).collect();
        let forecaster = Forecaster::of_tracks(&pasts, step, &table.time);
        let mut chosen: Vec<&Track> = all.iter().filter(is_chosen).collect();
        chosen.sort_by_key(|track| std::cmp::Reverse(track.times.len()));
        chosen.truncate(count);
        let mut views = Vec::new();
        for track in chosen {
            let Some(past) = past(track) else { continue };
            for channel in self.dynamic() {
                let (Some(whole), Some(known)) = (&track.histories[channel], &past.histories[channel]) else {
                    continue;
                };
                let (times, values) = points(track, whole);
                let from = known.len();
                let Some(forecast) = forecaster.forecast(&past, channel, &times[from..], &table.time) else {
                    continue;
                };
                let places = 0..forecast.len();
                let quantiles = |&level: &f64| places.clone().map(|k| forecast.quantile(k, level)).collect();
                views.push(ForecastView {
                    id: track.id.clone(),
                    channel,
                    seen: (times[..from].to_vec(), values[..from].to_vec()),
                    mean: places.clone().map(|k| forecast.mean(k)).collect(),
                    quantiles: levels.iter().map(quantiles).collect(),
                    held: (times[from..].to_vec(), values[from..].to_vec()),
                });
            }
        }
        Ok(views)
    }
}

/// Times of the user and values of a variable: both lists are in the same order, and every value has a time.
fn points(track: &Track, history: &History) -> (Vec<f64>, Vec<f64>) {
    let at = |place: &f64| {
        let index = track.places.partition_point(|other| other < place);
        track.times[index.min(track.times.len() - 1)]
    };
    (history.places().iter().map(at).collect(), history.values().to_vec())
}
