//! A trained model with what it needs to answer in the units of the user.

use rayon::prelude::*;

use super::observe::{Decoded, Observer};
use super::{Draws, PredictionError};
use crate::batch::{Batch, Batcher};
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::entries::entries;
use crate::latent::PathParameters;
use crate::model::{DataDescription, LatentSde, ModelError, PathDraws};
use crate::residual::ResidualProcess;
use crate::series::{Dataset, Observation, Scaler, Series};

/// A model with what it needs to know about the data: it predictions for any series, in the units of the user.
#[derive(Clone, Copy, Debug)]
pub struct Predictor<'a, E, D> {
    /// The model, ready for inference.
    pub model: &'a LatentSde<E, D>,
    /// How series become batches.
    pub batcher: &'a Batcher,
    /// Values of the user to values of the model.
    pub scaler: &'a Scaler,
    /// How observations scatter around the decoded path together; `None` is the white noise of the likelihood.
    pub residual: Option<&'a ResidualProcess>,
}

impl<'a, E: Encoder, D: Decoder> Predictor<'a, E, D> {
    /// A model with the description in its file.
    pub fn new(model: &'a LatentSde<E, D>, about: &'a DataDescription) -> Self {
        Self { model, batcher: &about.batcher, scaler: &about.scaler, residual: about.residual.as_ref() }
    }

    /// Draws paths for each of the series `numbers` of a data set in model units, and what is observed of them at
    /// the given increasing `times` of each series.
    ///
    /// Observations of a Gaussian likelihood are drawn with its noise; grey values are their own means. Under a
    /// residual process, what the path leaves over at the visible observations of a series is known, and draws nearby
    /// follow it.
    ///
    /// # Errors
    /// When the series do not fit the model.
    pub fn posterior(
        &self,
        data: &Dataset,
        numbers: &[usize],
        times: &[Vec<f64>],
        draws: PathDraws,
    ) -> Result<Vec<Draws>, PredictionError> {
        let channels = data.observation().len();
        let series: Vec<&Series> = numbers.iter().map(|&number| &data.series()[number]).collect();
        let reached: Vec<Vec<f64>> = match self.residual {
            None => times.to_vec(),
            Some(_) => {
                series.iter().zip(times).map(|(series, asked)| merged(series, channels, asked)).collect()
            }
        };
        let batch = self.batcher.ask(data, numbers, &reached)?;
        let h = self.model.encoder.encode(&batch.input).map_err(ModelError::from)?;
        let decoded = self.decode(self.model.process.parameters(h), &batch, draws)?;
        let (scaler, residual) = (self.scaler, self.residual);
        let of_series = |(b, asked): (usize, &Vec<f64>)| {
            let observer = Observer { scaler, residual, draws, number: batch.numbers[b] };
            observer.observe(&decoded, b, Some(series[b]), &reached[b], asked)
        };
        Ok(times.par_iter().enumerate().map(of_series).collect())
    }

    /// Draws new series from the prior, observed at the given increasing `times`.
    ///
    /// # Errors
    /// When the times do not fit the model.
    pub fn prior(
        &self,
        observation: Observation,
        times: &[f64],
        draws: PathDraws,
    ) -> Result<Draws, PredictionError> {
        let nothing = Dataset::new(observation, vec![Series::default()])?;
        let batch = self.batcher.ask(&nothing, &[0], &[times.to_vec()])?;
        let decoded = self.decode(self.model.process.prior(1), &batch, draws)?;
        let observer = Observer { scaler: self.scaler, residual: self.residual, draws, number: 0 };
        Ok(observer.observe(&decoded, 0, None, times, times))
    }

    /// Draws from the given processes, one for each series of a batch that asks for states.
    fn decode(
        &self,
        process: PathParameters,
        batch: &Batch,
        draws: PathDraws,
    ) -> Result<Decoded, PredictionError> {
        let paths = self.model.paths(process, batch, draws)?;
        let output = self.model.decode(paths.states.clone()).map_err(ModelError::from)?;
        let output = self.model.likelihood.mean(output).ok_or(PredictionError::Classes)?;
        let task = self.model.task.as_ref();
        let task = task.map(|task| (task.kind().is_per_time(), task.predict(paths.states.clone(), batch)));
        let gaussian = self.model.likelihood.gaussian();
        let [samples, points, channels] = output.dims();
        Ok(Decoded {
            samples,
            points,
            channels,
            offsets: batch.requests.offsets.clone(),
            output: entries(output),
            dim: paths.states.dims()[2],
            states: entries(paths.states),
            scales: gaussian.map(|gaussian| entries(gaussian.scale())).unwrap_or_default(),
            task: task.map(|(per_time, prediction)| (per_time, prediction.dims(), entries(prediction))),
        })
    }
}

/// The times at which anything of a series is visible, together with those that are asked for.
fn merged(series: &Series, channels: usize, asked: &[f64]) -> Vec<f64> {
    let visible = |&i: &usize| (0..channels).any(|channel| series.is_visible(channels, i, channel));
    let mut times: Vec<f64> = (0..series.times.len())
        .filter(visible)
        .map(|i| series.times[i])
        .chain(asked.iter().copied())
        .collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}
