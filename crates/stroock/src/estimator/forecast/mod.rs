//! Times after the last one.

mod evaluate;
mod latent;
mod sentences;
mod view;

use std::collections::HashMap;

use rayon::prelude::*;
use stroock_kernels::noise::{NoiseKey, Purpose, Stage, Stream};

use latent::Asked;

use super::stream::stream;
use super::wanted::MOST_TIMES;
use super::{EstimatorError, Model, PredictOptions, Predictions};
use crate::forecast::{Forecast, Forecaster, Track, tracks, usual_step};
use crate::series::table::{Step, Table, TimeScale};

pub(super) use latent::judged;
pub use view::ForecastView;

/// How far a forecast goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Horizon {
    /// Up to a time of the user, the same for all series.
    Until(f64),
    /// So many steps after the end of every series.
    Steps(usize),
    /// So much time after the end of every series.
    Length(f64),
}

impl From<f64> for Horizon {
    fn from(until: f64) -> Self {
        Horizon::Until(until)
    }
}

impl Model {
    /// What the values of every series may be after its last one, in steps of `every` (the usual step of the series
    /// if not given; months are months), as far as `horizon` goes.
    ///
    /// The methods that did best in backtests answer ([`Forecaster`]): in those of the fit, where forecasts were its
    /// goal, or else on this table. Every series has an answer. Variables that are known ahead of time are read from the
    /// rows of the table after the last values of the others.
    ///
    /// # Errors
    /// When the table does not fit the model, every series ends after the horizon, or a value is not given that has to be
    /// known ahead of time.
    pub fn forecast(
        &self,
        table: &Table,
        horizon: impl Into<Horizon>,
        every: Option<f64>,
        options: &PredictOptions,
    ) -> Result<Predictions, EstimatorError> {
        let horizon = horizon.into();
        options.check()?;
        if every.is_some() {
            self.step(every)?;
        }
        let (table, warnings) = self.arranged(table)?;
        let chosen;
        let forecaster = match &self.description.data.forecast {
            Some(forecaster) => forecaster,
            None => {
                let step = usual_step(&table).unwrap_or(Step::Length(self.step(None)?));
                chosen = Forecaster::of_tracks(&tracks(&table, step, &[]), step, &table.time);
                &chosen
            }
        };
        let tracks = tracks(&table, forecaster.step, &forecaster.known);
        let step = every.map_or(forecaster.step, Step::Length);
        let times = |track: &Track| times_after(track.end, horizon, step, &table.time, options.draws);
        let times = tracks.iter().map(times).collect::<Result<Vec<Vec<f64>>, _>>()?;
        let total: usize = times.iter().map(Vec::len).sum();
        if total > MOST_TIMES {
            return Err(EstimatorError::TooManyTimes { times: total as f64, most: MOST_TIMES, draws: None });
        }
        let ended = times.iter().filter(|times| times.is_empty()).count();
        let mut predictions = self.no_predictions(options)?;
        predictions.warnings = warnings;
        if let Horizon::Until(until) = horizon {
            let until = table.time.write(until);
            if ended == times.len() {
                return Err(EstimatorError::NothingAhead { until });
            }
            if ended > 0 {
                predictions.warnings.push(format!("{ended} series end after {until} and have no forecast"));
            }
        }
        if total == 0 {
            return Err(EstimatorError::NothingAhead { until: "the end of the forecast".into() });
        }
        for (track, times) in tracks.iter().zip(&times) {
            if let Some((channel, time)) = forecaster.unknown(track, times, &table.time) {
                return Err(EstimatorError::NotKnown {
                    series: track.id.clone(),
                    variable: table.variables[channel].name.clone(),
                    time: table.time.write(time),
                });
            }
        }
        let channels: Vec<usize> = self.dynamic().collect();
        let one = |(track, times): (&Track, &Vec<f64>)| -> Vec<Option<Answer>> {
            let of_channel = |&channel: &usize| {
                let forecast = forecaster.forecast(track, channel, times, &table.time)?;
                Some(Answer::of(&forecast, options, &track.id, channel))
            };
            if times.is_empty() { Vec::new() } else { channels.iter().map(of_channel).collect() }
        };
        let pairs: Vec<(&Track, &Vec<f64>)> = tracks.iter().zip(&times).collect();
        let answers: Vec<Vec<Option<Answer>>> = pairs.into_par_iter().map(one).collect();
        for ((track, times), answers) in tracks.iter().zip(&times).zip(&answers) {
            for (k, &time) in times.iter().enumerate() {
                for (&channel, answer) in channels.iter().zip(answers) {
                    if let Some(answer) = answer {
                        answer.push(k, &mut predictions);
                        predictions.ids.push(track.id.clone());
                        predictions.times.push(time);
                        predictions.channels.push(channel);
                    }
                }
            }
        }
        let steps = step.length() / forecaster.step.length();
        let longest = times.iter().map(Vec::len).max().unwrap_or(1) as f64 * steps;
        predictions.notes = self.forecast_sentences(forecaster, longest);
        // Whether the latent model answers is decided for each series by its own horizon.
        let asked = tracks.iter().zip(&times).map(|(track, times)| {
            let channels = self.latent_channels(forecaster, times.len() as f64 * steps);
            (track.id.as_str(), Asked { times, channels })
        });
        let asked: HashMap<&str, Asked<'_>> =
            asked.filter(|(_, asked)| !asked.times.is_empty() && !asked.channels.is_empty()).collect();
        if !asked.is_empty() {
            predictions.replace(&self.latent_forecast(&table, &asked, options)?);
        }
        predictions.raise(&self.description.data.variables);
        Ok(predictions)
    }
}

impl Model {
    /// The numbers of the variables that are known ahead of time.
    fn known_ahead(&self) -> &[usize] {
        self.description.data.forecast.as_ref().map_or(&[], |forecaster| forecaster.known.as_slice())
    }
}

/// Times after the end of a series.
fn times_after(
    end: f64,
    horizon: Horizon,
    step: Step,
    scale: &TimeScale,
    draws: usize,
) -> Result<Vec<f64>, EstimatorError> {
    let until = match horizon {
        Horizon::Until(until) => until,
        Horizon::Length(length) => end + length,
        Horizon::Steps(count) => step.after(scale, end, count),
    };
    // A whole number of steps stays one although it is rounded.
    let slack = 1e-9 * step.length();
    let count = match horizon {
        Horizon::Steps(count) => count as f64,
        _ => (until - end) / step.length() + 2.0,
    };
    let most = MOST_TIMES / draws.max(1);
    if count > most as f64 || count.is_nan() {
        return Err(EstimatorError::TooManyTimes { times: count, most, draws: Some(draws) });
    }
    let times = (1..=count.max(0.0) as usize).map(|count| step.after(scale, end, count));
    Ok(times.take_while(|&time| time <= until + slack).collect())
}

/// Numbers of a forecast, `[H]` each.
struct Answer {
    mean: Vec<f64>,
    sd: Vec<f64>,
    quantiles: Vec<Vec<f64>>,
    samples: Vec<Vec<f64>>,
}

impl Answer {
    /// Samples depend on the name of the series, the channel, and nothing else of the table.
    fn of(forecast: &Forecast, options: &PredictOptions, id: &str, channel: usize) -> Self {
        let all = 0..forecast.len();
        let key = NoiseKey::of(options.seed, Stage::Prediction);
        let key = key.derive(Stage::Observations { channel: channel as u64 });
        let of_series = stream(id, 0.0);
        let path = |sample: usize| {
            let mut stream: Stream = key.stream(Purpose::Observations, of_series, sample as u32);
            forecast.path(|| stroock_forecast::normal_quantile(stream.uniform()))
        };
        Self {
            mean: all.clone().map(|k| forecast.mean(k)).collect(),
            sd: all.clone().map(|k| forecast.sd(k)).collect(),
            quantiles: (options.quantiles.iter())
                .map(|&level| all.clone().map(|k| forecast.quantile(k, level)).collect())
                .collect(),
            samples: (0..options.samples).map(path).collect(),
        }
    }

    fn push(&self, k: usize, predictions: &mut Predictions) {
        predictions.mean.push(self.mean[k]);
        predictions.sd.push(self.sd[k]);
        predictions.quantiles.iter_mut().zip(&self.quantiles).for_each(|(all, list)| all.push(list[k]));
        predictions.samples.iter_mut().zip(&self.samples).for_each(|(all, list)| all.push(list[k]));
    }
}
