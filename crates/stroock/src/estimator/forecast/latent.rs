//! The latent model as a forecaster: compared with the plain methods on series that it was not trained on, and asked
//! where it is the better one.

use std::collections::HashMap;

use stroock_kernels::noise::{NoiseKey, Stage};

use super::super::wanted::Wanted;
use super::super::{EstimatorError, Model, PredictOptions, Predictions, Prepared};
use crate::forecast::{Forecaster, LatentScore, Track, tracks};
use crate::model::PathDraws;
use crate::score::{HoldOut, held_times, hold_back};
use crate::series::table::{Table, TimeScale};
use crate::series::{Dataset, Series, SeriesSource, Split};

/// Seconds of a day.
const DAY: f64 = 86_400.0;
/// Share of a window that is kept for what is known, where a forecast needs the rest.
const KNOWN: f64 = 0.25;
/// Series that were not trained on, without which the latent model is not compared; and how many are.
const FEWEST_SERIES: usize = 16;
const MOST_SERIES: usize = 64;
/// Share of each that is forecast.
const TAIL: f64 = 0.4;
const DRAWS: usize = 32;

/// The series that the latent model is compared on.
pub(in super::super) fn judged(split: &Split) -> &[usize] {
    &split.validation[..split.validation.len().min(MOST_SERIES)]
}

impl Model {
    /// Compares the latent model with the methods, on the tails of series that it was not trained on, and notes the
    /// result in the forecaster. The data are those that were fitted, with their origins; the table has at least the series
    /// that are compared, cut as the data are.
    pub(in super::super) fn compare_latent(
        &self,
        forecaster: &mut Forecaster,
        table: &Table,
        (data, origins): (&dyn SeriesSource, &[f64]),
        split: &Split,
    ) -> Result<(), EstimatorError> {
        if split.validation.len() < FEWEST_SERIES {
            return Ok(());
        }
        let about = &self.description.data;
        let chosen = judged(split);
        let statics: Vec<bool> = about.variables.iter().map(|variable| variable.is_static).collect();
        let (observation, how) = (data.observation(), HoldOut::Tail { share: TAIL });
        let mut held = Dataset::gather(data, chosen)?.into_series();
        for (&number, series) in chosen.iter().zip(&mut held) {
            hold_back(series, number as u32, observation, how, &statics, 1);
        }
        let held = Dataset::new(observation, held)?;
        let channels = observation.len();
        let times: Vec<Vec<f64>> = held.series().iter().map(|series| held_times(series, channels)).collect();
        let draws = PathDraws { key: NoiseKey::of(7, Stage::Prediction), samples: DRAWS, first_sample: 0 };
        let streams: Vec<u32> = chosen.iter().map(|&number| number as u32).collect();
        let places: Vec<usize> = (0..chosen.len()).collect();
        let drawn = self.predictor().posterior_of(&held, &places, &streams, &times, draws)?;
        let tracks = tracks(table, forecaster.step, &forecaster.known);
        let by_id: HashMap<&str, &Track> = tracks.iter().map(|track| (track.id.as_str(), track)).collect();
        for channel in 0..channels {
            let (mut latent, mut methods, mut count, mut horizon) = (0.0, 0.0, 0, 0.0f64);
            for (((&number, series), times), drawn) in
                chosen.iter().zip(held.series()).zip(&times).zip(&drawn)
            {
                let origin = origins[number];
                let place = |time: f64| forecaster.step.place(&table.time, origin + time);
                let known = series.times.iter().rev().find(|time| Some(*time) < times.first());
                let past = known.zip(by_id.get(series.id.as_str()));
                let past = past.and_then(|(known, track)| track.until(origin + known));
                let (Some(past), true) = (past, !times.is_empty()) else { continue };
                let user: Vec<f64> = times.iter().map(|time| origin + time).collect();
                let Some(forecast) = forecaster.forecast(&past, channel, &user, &table.time) else {
                    continue;
                };
                let (mut squares, mut values) = ([0.0; 2], 0.0);
                for (k, time) in times.iter().enumerate() {
                    let at = series.times.partition_point(|other| other < time);
                    if !series.is_observed(channels, at, channel) || series.is_visible(channels, at, channel)
                    {
                        continue;
                    }
                    let truth =
                        about.scaler.to_user(channel, f64::from(series.values[at * channels + channel]));
                    let mean = drawn.means_at(k, channel).sum::<f64>() / DRAWS as f64;
                    squares[0] += (about.scaler.to_user(channel, mean) - truth).powi(2);
                    squares[1] += (forecast.mean(k) - truth).powi(2);
                    values += 1.0;
                    horizon = horizon.max(place(*time) - past.places.last().copied().unwrap_or_default());
                }
                if values > 0.0 {
                    let scale = about.scaler.scale_of(channel).abs();
                    latent += (squares[0] / values).sqrt() / scale;
                    methods += (squares[1] / values).sqrt() / scale;
                    count += 1;
                }
            }
            if let (Some(Some(found)), true) = (forecaster.variables.get_mut(channel), count >= FEWEST_SERIES)
            {
                let (latent, methods) = (latent / count as f64, methods / count as f64);
                found.latent = Some(LatentScore { latent, methods, horizon, series: count });
            }
        }
        Ok(())
    }

    /// The channels that the latent model answers for, so many steps ahead.
    pub(super) fn latent_channels(&self, forecaster: &Forecaster, horizon: f64) -> Vec<usize> {
        let answers = |channel: &usize| {
            let found = forecaster.variables.get(*channel).and_then(Option::as_ref);
            let score = found.and_then(|found| found.latent);
            score.is_some_and(|score| score.answers() && horizon <= score.horizon + 1e-9)
        };
        self.dynamic().filter(answers).collect()
    }

    /// What the latent model says about what is asked of series, by their names; nothing about series whose times its drift
    /// does not reach.
    pub(super) fn latent_forecast(
        &self,
        table: &Table,
        asked: &HashMap<&str, Asked<'_>>,
        options: &PredictOptions,
    ) -> Result<Predictions, EstimatorError> {
        let prepared = self.prepare_recent(table, asked)?;
        let mut wanted = Vec::new();
        for (number, series) in prepared.data.series().iter().enumerate() {
            let Some(Asked { times, channels }) = asked.get(series.id.as_str()) else { continue };
            let origin = prepared.origins[number];
            let entries = (0..times.len()).flat_map(|k| channels.iter().map(move |&channel| (k, channel)));
            wanted.push(Wanted {
                number,
                times: times.iter().map(|time| time - origin).collect(),
                user_times: times.to_vec(),
                entries: entries.collect(),
            });
        }
        wanted.retain(|wanted| self.reaches(wanted));
        self.predict(&prepared, &wanted, options)
    }

    /// The series of a table as the latent model forecasts them: whole, or the window of each that ends last and holds
    /// the last time that is asked for, if it can.
    fn prepare_recent(
        &self,
        table: &Table,
        asked: &HashMap<&str, Asked<'_>>,
    ) -> Result<Prepared, EstimatorError> {
        match self.table()?.sampling.window {
            Some(window) => {
                let (table, warnings) = self.arranged(table)?;
                let (data, origins) = recent(&table, window, asked)?;
                let data = self.description.data.scaler.apply(&data)?;
                Ok(Prepared { warnings, ..Prepared::new(data, origins) })
            }
            None => self.prepare(table),
        }
    }
}

/// What is asked of one series.
pub(super) struct Asked<'a> {
    /// Times of the user, increasing.
    pub times: &'a [f64],
    /// Channels that the latent model answers for.
    pub channels: Vec<usize>,
}

impl Predictions {
    /// Takes over what others say about the same values.
    pub(super) fn replace(&mut self, others: &Predictions) {
        let key = |predictions: &Predictions, row: usize| {
            (predictions.ids[row].clone(), predictions.times[row].to_bits(), predictions.channels[row])
        };
        let places: HashMap<(String, u64, usize), usize> =
            (0..self.len()).map(|row| (key(self, row), row)).collect();
        for row in 0..others.len() {
            let Some(&place) = places.get(&key(others, row)) else { continue };
            self.mean[place] = others.mean[row];
            self.sd[place] = others.sd[row];
            self.quantiles.iter_mut().zip(&others.quantiles).for_each(|(all, list)| all[place] = list[row]);
            self.samples.iter_mut().zip(&others.samples).for_each(|(all, list)| all[place] = list[row]);
        }
    }
}

/// The last part of every series of which anything is asked: a window that holds what is known lately and, if it can, the
/// last time that is asked for.
///
/// It begins at a multiple of the window's length or, for windows of whole days, at the beginning of a day, so that
/// the hour of the day means the same as in training.
fn recent(
    table: &Table,
    window: f64,
    asked: &HashMap<&str, Asked<'_>>,
) -> Result<(Dataset<f64>, Vec<f64>), EstimatorError> {
    let observation = table.data.observation();
    let channels = observation.len();
    let day = matches!(table.time, TimeScale::Date { .. }) && (window / DAY).fract() == 0.0;
    let step = if day { DAY } else { window / 8.0 };
    // Several pieces may have one name: the last one counts.
    let mut last: HashMap<String, (f64, usize)> = HashMap::new();
    for (number, (series, origin)) in table.data.series().iter().zip(&table.origins).enumerate() {
        let Some(time) = series.times.last() else { continue };
        let entry = last.entry(series.id.clone()).or_insert((origin + time, number));
        if origin + time > entry.0 {
            *entry = (origin + time, number);
        }
    }
    let mut kept: Vec<(usize, f64)> = last.into_values().map(|(end, number)| (number, end)).collect();
    kept.sort_by_key(|&(number, _)| number);
    let (mut pieces, mut origins) = (Vec::new(), Vec::new());
    for (number, end) in kept {
        let (series, shift) = (&table.data.series()[number], table.origins[number]);
        let until = asked.get(series.id.as_str()).and_then(|asked| asked.times.last());
        let Some(until) = until else { continue };
        // Far enough for the forecast, but not so far that nothing is known.
        let wished = ((until - window) / step).ceil() * step;
        let least = ((end - window) / step).ceil() * step;
        let most = ((end - KNOWN * window) / step).floor() * step;
        let origin = wished.min(most).max(least);
        let first = series.times.partition_point(|&time| shift + time < origin);
        let observed = series.observed.as_ref().map(|observed| observed[first * channels..].to_vec());
        pieces.push(Series {
            id: series.id.clone(),
            times: series.times[first..].iter().map(|&time| shift + time - origin).collect(),
            values: series.values[first * channels..].to_vec(),
            observed,
            ..Series::default()
        });
        origins.push(origin);
    }
    Ok((Dataset::new(observation, pieces)?, origins))
}
