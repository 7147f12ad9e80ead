//! A trained model with what it needs to predict.

use burn::tensor::{Device, Tensor, TensorData};
use rayon::prelude::*;

use super::observe::{Decoded, Observer};
use super::{Draws, PredictionError};
use crate::batch::{Batch, Batcher, TargetsError};
use crate::entries::entries;
use crate::latent::Steering;
use crate::model::{DataDescription, ModelError, OutputParts, Outputs, PathDraws, SeriesModel};
use crate::residual::ResidualProcess;
use crate::series::{Dataset, Observation, Series, SeriesSource};

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
        let streams: Vec<u32> = numbers.iter().map(|&number| number as u32).collect();
        self.posterior_of(data, numbers, &streams, times, draws)
    }

    /// [`posterior`](Self::posterior) with noise that depends on the given `streams`, one for each series, in place of
    /// the numbers of the series: what is drawn for a series then does not depend on its place among others.
    ///
    /// # Errors
    /// When the series do not fit the model, or there is not one stream for each series.
    pub fn posterior_of(
        &self,
        data: &Dataset,
        numbers: &[usize],
        streams: &[u32],
        times: &[Vec<f64>],
        draws: PathDraws,
    ) -> Result<Vec<Draws>, PredictionError> {
        self.predict(data, numbers, streams, times, draws, true)
    }

    /// The same without drawing observations: means over paths, standard deviations and shapes, which under a residual
    /// process are the whole predictive distribution of every value.
    ///
    /// # Errors
    /// When the series do not fit the model, or there is not one stream for each series.
    pub fn marginals_of(
        &self,
        data: &Dataset,
        numbers: &[usize],
        streams: &[u32],
        times: &[Vec<f64>],
        draws: PathDraws,
    ) -> Result<Vec<Draws>, PredictionError> {
        self.predict(data, numbers, streams, times, draws, false)
    }

    fn predict(
        &self,
        data: &Dataset,
        numbers: &[usize],
        streams: &[u32],
        times: &[Vec<f64>],
        draws: PathDraws,
        is_drawing: bool,
    ) -> Result<Vec<Draws>, PredictionError> {
        let channels = data.observation().len();
        let series: Vec<&Series> = numbers.iter().map(|&number| &data.series()[number]).collect();
        let reached: Vec<Vec<f64>> = match self.residual {
            None => times.to_vec(),
            Some(_) => {
                series.iter().zip(times).map(|(series, asked)| merged(series, channels, asked)).collect()
            }
        };
        let mut batch = self.batcher.ask(data, numbers, &reached)?;
        if streams.len() != numbers.len() {
            let (expected, actual) = (numbers.len(), streams.len());
            return Err(TargetsError::Length { argument: "streams", expected, actual }.into());
        }
        batch.numbers = streams.to_vec();
        let decoded = in_parts(draws, &batch, |draws| self.model.outputs(&batch, draws, OutputParts::ALL))?;
        let residual = self.residual;
        let of_series = |(b, asked): (usize, &Vec<f64>)| {
            let observer = Observer { residual, draws, number: batch.numbers[b], is_drawing };
            observer.observe(&decoded, b, Some(series[b]), &reached[b], asked)
        };
        Ok(times.par_iter().enumerate().map(of_series).collect())
    }

    /// What steers the latent paths of each of the series `numbers` of a data set in model units at the given increasing
    /// `times`; `None` for a model whose paths follow nothing.
    ///
    /// # Errors
    /// When the series do not fit the model.
    pub fn steering(
        &self,
        data: &Dataset,
        numbers: &[usize],
        times: &[Vec<f64>],
    ) -> Result<Option<Vec<Steering>>, PredictionError> {
        let batch = self.batcher.ask(data, numbers, times)?;
        Ok(self.model.steering(&batch)?.map(|steering| steering.split(&batch.requests.offsets)))
    }

    /// The codes of the series `numbers` of a data set in model units, one after the other, and the width of each;
    /// `None` for a model without codes. The encoder sees everything that is not withheld.
    ///
    /// # Errors
    /// When the series do not fit the model.
    pub fn codes(
        &self,
        data: &dyn SeriesSource,
        numbers: &[usize],
    ) -> Result<Option<(Vec<f32>, usize)>, PredictionError> {
        let batch = self.batcher.ask(data, numbers, &vec![Vec::new(); numbers.len()])?;
        Ok(self.model.codes(&batch)?.map(|codes| {
            let width = codes.dims()[1];
            (entries(codes), width)
        }))
    }

    /// The mean over paths of what is decoded for series with the given codes `[B, width]`, at the increasing `times` of
    /// each: `[T, C]`, in model units. The noise of the paths depends on the given `streams`, one for each series.
    ///
    /// # Errors
    /// When the codes do not fit the model.
    pub fn mean_paths_of_codes(
        &self,
        observation: Observation,
        (codes, width): (Vec<f32>, usize),
        streams: &[u32],
        times: &[Vec<f64>],
        draws: PathDraws,
    ) -> Result<Vec<Vec<f64>>, PredictionError> {
        let series = times.len();
        if streams.len() != series || codes.len() != series * width {
            let (expected, actual) = (series, streams.len());
            return Err(TargetsError::Length { argument: "streams", expected, actual }.into());
        }
        let nothing = Dataset::new(observation, vec![Series::default(); series])?;
        let mut batch = self.batcher.ask(&nothing, &(0..series).collect::<Vec<_>>(), times)?;
        batch.numbers = streams.to_vec();
        let codes = Tensor::from_data(TensorData::new(codes, [series, width]), &Device::flex());
        let outputs = self.model.outputs_of_codes(codes, &batch, draws, OutputParts::OBSERVATIONS)?;
        let decoded = decoded(outputs, &batch)?;
        Ok(times.iter().enumerate().map(|(b, times)| decoded.mean_path(b, times.len())).collect())
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
        let outputs = |draws| self.model.prior_outputs(&batch, draws, OutputParts::ALL);
        let decoded = in_parts(draws, &batch, outputs)?;
        let observer = Observer { residual: self.residual, draws, number: 0, is_drawing: true };
        Ok(observer.observe(&decoded, 0, None, times, times))
    }
}

/// Points times samples whose hidden layers are in memory at once.
const AT_ONCE: usize = 1 << 18;

/// The outputs of a model as numbers, some samples after the others: a sample depends on its own number alone, and the
/// memory that layers take does not grow with the samples.
fn in_parts(
    draws: PathDraws,
    batch: &Batch,
    outputs: impl Fn(PathDraws) -> Result<Outputs, ModelError>,
) -> Result<Decoded, PredictionError> {
    let part = (AT_ONCE / batch.targets.points().max(1)).max(1);
    let samples = |done: usize| PathDraws {
        samples: part.min(draws.samples - done),
        first_sample: draws.first_sample + done as u32,
        ..draws
    };
    let mut all = decoded(outputs(samples(0))?, batch)?;
    for done in (part..draws.samples).step_by(part) {
        all.append(decoded(outputs(samples(done))?, batch)?);
    }
    Ok(all)
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
