//! A trained model with what it needs to predict.

use rayon::prelude::*;

use super::observe::{Decoded, Observer};
use super::{Draws, PredictionError};
use crate::batch::{Batch, Batcher};
use crate::entries::entries;
use crate::model::{DataDescription, OutputParts, Outputs, PathDraws, SeriesModel};
use crate::residual::ResidualProcess;
use crate::series::{Dataset, Observation, Series};

/// A model with what it needs to know about the data: it predicts any series, in the units of the model.
#[derive(Clone, Copy, Debug)]
pub struct Predictor<'a, M> {
    /// The model, ready for inference.
    pub model: &'a M,
    /// How series become batches.
    pub batcher: &'a Batcher,
    /// How observations scatter around the decoded path together; `None` is the white noise of the likelihood.
    pub residual: Option<&'a ResidualProcess>,
}

impl<'a, M: SeriesModel> Predictor<'a, M> {
    /// A model with the description in its file.
    pub fn new(model: &'a M, about: &'a DataDescription) -> Self {
        Self { model, batcher: &about.batcher, residual: about.residual.as_ref() }
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
        let decoded = decoded(self.model.outputs(&batch, draws, OutputParts::ALL)?, &batch)?;
        let residual = self.residual;
        let of_series = |(b, asked): (usize, &Vec<f64>)| {
            let observer = Observer { residual, draws, number: batch.numbers[b] };
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
        let decoded = decoded(self.model.prior_outputs(&batch, draws, OutputParts::ALL)?, &batch)?;
        let observer = Observer { residual: self.residual, draws, number: 0 };
        Ok(observer.observe(&decoded, 0, None, times, times))
    }
}

/// The outputs of a model as numbers.
fn decoded(outputs: Outputs, batch: &Batch) -> Result<Decoded, PredictionError> {
    let mean = outputs.mean.ok_or(PredictionError::Classes)?;
    let [samples, points, channels] = mean.dims();
    Ok(Decoded {
        samples,
        points,
        channels,
        offsets: batch.requests.offsets.clone(),
        output: entries(mean),
        dim: outputs.states.as_ref().map_or(0, |states| states.dims()[2]),
        states: outputs.states.map(entries).unwrap_or_default(),
        scales: outputs.scale.map(|scale| entries(scale.expand([points, channels]))).unwrap_or_default(),
        task: outputs
            .task
            .map(|(kind, prediction)| (kind.is_per_time(), prediction.dims(), entries(prediction))),
    })
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
