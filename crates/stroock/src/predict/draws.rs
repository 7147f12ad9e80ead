//! Draws from the posterior predictive law at times of the caller's choice.

use stroock_kernels::noise::{NoiseKey, Purpose};
use thiserror::Error;

use crate::batch::{Batch, Batcher, EvidenceError};
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::entries::entries;
use crate::latent::PathParameters;
use crate::model::{LatentSde, ModelError, PathDraws};
use crate::series::{Dataset, Observation, Scaler, Series, SeriesError};

/// Draws for one series at `T` times, with `C` channels each, in the units of the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    /// Times, `[T]`.
    pub times: Vec<f64>,
    /// Channels `C`.
    pub channels: usize,
    /// What the decoder says, `[S, T, C]`: the means of observations.
    pub means: Vec<f32>,
    /// Observations with their noise, `[S, T, C]`.
    pub observations: Vec<f32>,
    /// Latent states, `[S, T, n]`.
    pub states: Vec<f32>,
    /// Predictions of the task, `[S, T, outputs]`, or `[S, outputs]` for whole series; empty without a task.
    pub task: Vec<f32>,
}

/// Why nothing can be predicted.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PredictionError {
    /// The series do not fit the model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The series do not make a batch.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// The series do not make a data set.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// Observations are classes, which have no mean.
    #[error("observations that are classes have no means; ask for their probabilities")]
    Classes,
}

/// A model with what it needs to know about the data: it answers for any series, in the units of the user.
#[derive(Clone, Copy, Debug)]
pub struct Predictor<'a, E, D> {
    /// The model, ready for inference.
    pub model: &'a LatentSde<E, D>,
    /// How series become batches.
    pub batcher: &'a Batcher,
    /// Values of the user to values of the model.
    pub scaler: &'a Scaler,
}

impl<E: Encoder, D: Decoder> Predictor<'_, E, D> {
    /// Draws paths for each of the series `numbers` of a data set in model units, and what is observed of them at
    /// the given increasing `times` of each series.
    ///
    /// Observations of a Gaussian likelihood are drawn with its noise; grey values are their own means.
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
        let batch = self.batcher.ask(data, numbers, times)?;
        let h = self.model.encoder.encode(&batch.input).map_err(ModelError::from)?;
        self.draws(self.model.law.parameters(h), &batch, times, draws)
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
        let times = [times.to_vec()];
        let batch = self.batcher.ask(&nothing, &[0], &times)?;
        let mut drawn = self.draws(self.model.law.prior(1), &batch, &times, draws)?;
        Ok(drawn.swap_remove(0))
    }

    /// Draws from the given laws, one for each series of a batch that asks for `times`.
    fn draws(
        &self,
        law: PathParameters,
        batch: &Batch,
        times: &[Vec<f64>],
        draws: PathDraws,
    ) -> Result<Vec<Draws>, PredictionError> {
        let paths = self.model.paths(law, batch, draws)?;
        let output = self.model.decode(paths.states.clone()).map_err(ModelError::from)?;
        let output = self.model.likelihood.mean(output).ok_or(PredictionError::Classes)?;
        let task =
            self.model.task.as_ref().map(|task| (task.kind(), task.predict(paths.states.clone(), batch)));
        let scales =
            self.model.likelihood.gaussian().map(|gaussian| entries(gaussian.scale())).unwrap_or_default();
        let [samples, points, channels] = output.dims();
        let n = paths.states.dims()[2];
        let [output, states] = [output, paths.states].map(entries);
        let offsets = &batch.requests.offsets;
        let task = task.map(|(kind, prediction)| (kind, prediction.dims(), entries(prediction)));
        let of_series = |b: usize| {
            let range = offsets[b]..offsets[b + 1];
            let rows = |values: &[f32], width: usize| -> Vec<f32> {
                let row = |s: usize| (s * points + range.start) * width..(s * points + range.end) * width;
                (0..samples).flat_map(|s| &values[row(s)]).copied().collect()
            };
            let mut means = rows(&output, channels);
            let mut observations = means.clone();
            add_noise(&mut observations, &scales, draws, batch.numbers[b], range.len() * channels);
            for values in [&mut means, &mut observations] {
                for (place, value) in values.iter_mut().enumerate() {
                    *value = self.scaler.to_user(place % channels, f64::from(*value)) as f32;
                }
            }
            let task = task.as_ref().map_or_else(Vec::new, |(kind, [_, rows_of_task, width], values)| {
                match kind.is_per_time() {
                    true => rows(values, *width),
                    false => (0..samples)
                        .flat_map(|s| {
                            &values[(s * rows_of_task + b) * width..(s * rows_of_task + b + 1) * width]
                        })
                        .copied()
                        .collect(),
                }
            });
            Draws { times: times[b].clone(), channels, means, observations, states: rows(&states, n), task }
        };
        Ok((0..times.len()).map(of_series).collect())
    }
}

/// Adds the noise of observations; it depends on the series and the sample, not on its neighbours in the batch.
fn add_noise(values: &mut [f32], scales: &[f32], draws: PathDraws, series: u32, row: usize) {
    if scales.is_empty() || row == 0 {
        return;
    }
    // Apart from the noise of paths and inputs by its epoch.
    let [low, high] = draws.key.words();
    let key = NoiseKey::new(u64::from(high) << 32 | u64::from(low), u64::MAX - 2);
    for (sample, values) in values.chunks_mut(row).enumerate() {
        let mut stream = key.stream(Purpose::Other, series, draws.first_sample + sample as u32);
        for (place, value) in values.iter_mut().enumerate() {
            // Box-Muller, one of the pair.
            let radius = (-2.0 * stream.uniform().ln()).sqrt();
            let normal = radius * (std::f64::consts::TAU * stream.uniform()).cos();
            *value += scales[place % scales.len()] * normal as f32;
        }
    }
}
