//! Continuous recurrent units: a Kalman filter of a learned linear SDE over what an encoder makes of every observation.
//!
//! Every input becomes a latent observation `y` in `R^d` with variances `r`. A linear SDE moves the state in `R^2d`, of which
//! `y` sees the first half; its drift matrix is a mixture of learned ones that follows the mean of the state. The filter
//! ([`stroock_kernels::kalman`]) gives a belief at every asked time, from which means and variances of the observations, or
//! of a task, are decoded. Of Schirmer, Eltayeb, Lessmann and Rudolph (Modeling irregular time series with continuous
//! recurrent units, 2022):
//!
//! - `cru` has banded drift matrices ([`CruConfig`]);
//! - `f-cru` has eigenvalues in one orthogonal basis ([`FastCruConfig`]), which is faster and cannot oscillate but through
//!   the mixture.
//!
//! **It filters.** The belief at a time knows the inputs up to that time and none of those after it: where the inputs of
//! both sides are there, as in interpolation, other models have more to go by. Between inputs and beyond the last of them
//! it is the prediction of the SDE. There is nothing random in it: all samples of a series are the same.

mod config;
mod decoder;
mod encoder;
mod filter;
mod layers;
mod points;
mod variance;

pub use config::{
    CruConfig, CruDecoderConfig, CruLatent, CruLatentConfig, CruTaskConfig, FastCruConfig,
    FastCruLatentConfig, FilterConfig,
};
pub use decoder::{CruDecoder, NormalHead, NormalHeadConfig};
pub use encoder::{CruEncoder, CruEncoderConfig, CruFeatures};
pub use filter::KalmanFilter;
pub use layers::{Layers, LayersConfig};
pub use points::FilterPoints;
pub use variance::VarianceKind;

use std::sync::Arc;

use burn::module::Module;
use burn::tensor::{Tensor, TensorData};

use super::{ModelError, OutputParts, Outputs, PathDraws, SeriesModel};
use crate::batch::Batch;
use crate::likelihood::varying_gaussian;
use crate::objective::{ElboWeights, Objective};
use crate::task::{TaskKind, label_targets};

/// A continuous recurrent unit.
#[derive(Module, Debug)]
pub struct Cru {
    /// Inputs to latent observations.
    pub encoder: CruEncoder,
    /// Latent observations to beliefs.
    pub filter: KalmanFilter,
    /// Beliefs to observations, where these are predicted.
    pub decoder: Option<CruDecoder>,
    /// Beliefs to numbers at every time, where these are predicted.
    pub task: Option<NormalHead>,
}

impl Cru {
    /// The beliefs at the points of a batch, `[Q, 5d]`: those after the update where a point is an input.
    ///
    /// # Errors
    /// When the batch does not fit the model, or a belief is not finite.
    pub fn beliefs(&self, batch: &Batch) -> Result<Tensor<2>, ModelError> {
        let observations = self.encoder.observe(&batch.input)?;
        let points = FilterPoints::of(batch);
        Ok(points.requested(self.filter.beliefs(&points, observations)?))
    }

    fn task_kind(&self) -> TaskKind {
        TaskKind::RealPerTime { width: self.task.as_ref().map_or(0, NormalHead::width) }
    }
}

impl SeriesModel for Cru {
    /// The negative log likelihood of observations and task, a mean over the points of a series of sums over their
    /// entries.
    fn objective(&self, batch: &Batch, _: PathDraws, weights: ElboWeights) -> Result<Objective, ModelError> {
        let beliefs = self.beliefs(batch)?;
        let options = (&beliefs.device(), beliefs.dtype());
        let offsets = batch.targets.point_offsets();
        let points: Vec<f32> = offsets.windows(2).map(|pair| (pair[1] - pair[0]).max(1) as f32).collect();
        let series = points.len();
        let points = Tensor::<1>::from_data(TensorData::new(points, [series]), options);
        let mut losses = Tensor::<1>::zeros([series], options);
        let mut parts = Vec::new();
        if let Some(decoder) = &self.decoder {
            let loss = decoder.loss(beliefs.clone(), &self.filter, Arc::clone(&batch.targets))?;
            losses = losses + loss.clone().mul_scalar(weights.likelihood);
            parts.push(("negative_log_likelihood", loss));
        }
        if let Some(task) = &self.task {
            let targets = Arc::new(label_targets(self.task_kind(), batch)?);
            let (mean, variance) = task.forward(beliefs, &self.filter);
            let loss = varying_gaussian(targets, mean, variance)?;
            losses = losses + loss.clone().mul_scalar(weights.task);
            parts.push(("task", loss));
        }
        Ok(Objective { losses: losses / points, parts })
    }

    fn outputs(&self, batch: &Batch, draws: PathDraws, parts: OutputParts) -> Result<Outputs, ModelError> {
        let beliefs = self.beliefs(batch)?;
        let samples = |values: Tensor<2>| {
            let [points, width] = values.dims();
            values.unsqueeze_dim::<3>(0).expand([draws.samples, points, width])
        };
        let (mean, scale) = match self.decoder.as_ref().filter(|_| parts.observations) {
            Some(decoder) => {
                let (mean, variance) = decoder.forward(beliefs.clone(), &self.filter)?;
                (Some(samples(mean)), variance.map(Tensor::sqrt))
            }
            None => (None, None),
        };
        let task = self.task.as_ref().filter(|_| parts.task);
        let task = task.map(|task| {
            let (mean, _) = task.forward(beliefs.clone(), &self.filter);
            (self.task_kind(), samples(mean))
        });
        let (states, _) = self.filter.parts(beliefs);
        Ok(Outputs { mean, scale, states: Some(samples(states)), task })
    }
}
