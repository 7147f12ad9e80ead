//! mTAND-Full: a variational autoencoder between reference points in time (Shukla and Marlin, Multi-time attention networks
//! for irregularly sampled time series, 2021).
//!
//! The encoder sees a series at `R` reference points `r_k` of [0, 1], reads these views in both directions, and has a normal
//! distribution of `L` numbers at each of them; the decoder reads a draw in both directions and is asked at any time `t`:
//!
//! ```text
//! h = biGRU(view(r_1), .., view(r_R)),   z_k ~ N(m(h_k), diag e^v(h_k)),   prior z_k ~ N(0, I),
//! g = biGRU(z_1, .., z_R),   state(t) = W sum_k w_k(t) g_k + b,   w(t) = softmax_k <q(t), k(r_k)> / sqrt(E),
//! ```
//!
//! with embeddings of times of their own in encoder and decoder. A decoder and a task read the states. The loss of a series
//! with `n` observed entries is the importance-weighted bound of `K` samples (Burda, Grosse and Salakhutdinov 2016), with
//! likelihood and divergence per entry,
//!
//! ```text
//! -(ln sum_j exp(ln p(x | z_j) / n - beta KL / n) - ln K) + task.
//! ```

mod config;
mod generator;
mod mixture;
mod posterior;

pub use config::{MtandFullConfig, ReferenceSizes};
pub use generator::ReferenceGenerator;
pub use posterior::ReferencePosterior;

use std::sync::Arc;

use burn::module::Module;
use burn::tensor::Tensor;

use super::latent_sde::StandardDecoder;
use super::{ModelError, OutputParts, Outputs, PathDraws, SeriesModel, point_features};
use crate::batch::Batch;
use crate::decoder::Decoder;
use crate::encoder::FrameFeatures;
use crate::latent::NormalStart;
use crate::likelihood::Likelihood;
use crate::objective::{ElboWeights, Objective, importance_weighted_loss};
use crate::task::TaskHead;

/// A variational autoencoder between reference points in time.
#[derive(Module, Debug)]
pub struct MtandFull {
    /// Frames to features, where frames are observed.
    pub frames: Option<FrameFeatures>,
    /// A series to distributions at the reference points.
    pub posterior: ReferencePosterior,
    /// Draws at the reference points to states at any time.
    pub generator: ReferenceGenerator,
    /// State to output.
    pub decoder: StandardDecoder,
    /// Output to observation.
    pub likelihood: Likelihood,
    /// State to prediction, where something is predicted beside the observations.
    pub task: Option<TaskHead>,
}

/// Times of `count` reference points, evenly on [0, 1].
fn reference_times(count: usize) -> Vec<f64> {
    let last = (count.max(2) - 1) as f64;
    (0..count).map(|r| r as f64 / last).collect()
}

impl MtandFull {
    /// The distributions at the reference points of the series of a batch, `[B, R L]`.
    fn distribution(&self, batch: &Batch) -> Result<NormalStart, ModelError> {
        let weight = self.posterior.views.key.weight.val();
        let features = point_features::features(self.frames.as_ref(), &batch.input, &weight)?;
        Ok(self.posterior.distribution(&batch.input, features)?)
    }

    /// Draws `[S, B, R L]` from distributions at the reference points.
    fn draw(&self, distribution: &NormalStart, batch: &Batch, draws: PathDraws) -> Tensor<3> {
        let normals = distribution.normals(draws.key, &batch.numbers, draws.samples, draws.first_sample);
        distribution.points(normals)
    }

    /// The states `[S, Q, 2 G]` at the points of a batch of draws.
    fn states(&self, z: Tensor<3>, batch: &Batch) -> Result<Tensor<3>, ModelError> {
        self.generator.states(z, &batch.requests.offsets, &batch.request_times())
    }

    /// The outputs `[S, Q, outputs]` of the decoder at the points of a batch of draws, without the states where it begins
    /// with a linear map.
    fn decoded(&self, z: Tensor<3>, batch: &Batch) -> Result<Tensor<3>, ModelError> {
        let first = match &self.decoder {
            StandardDecoder::Mlp(mlp) => mlp.layers.first().map(|first| (mlp, first)),
            StandardDecoder::Image(_) => None,
        };
        let Some((mlp, first)) = first else {
            return Ok(self.decoder.decode_samples(self.states(z, batch)?)?);
        };
        let times = batch.request_times();
        let mapped = self.generator.mapped_states(z, &batch.requests.offsets, &times, first)?;
        let [samples, points, width] = mapped.dims();
        let output = mlp.forward_behind_first(mapped.reshape([samples * points, width]));
        let outputs = output.dims()[1];
        Ok(output.reshape([samples, points, outputs]))
    }

    fn outputs_of(
        &self,
        distribution: &NormalStart,
        batch: &Batch,
        draws: PathDraws,
        parts: OutputParts,
    ) -> Result<Outputs, ModelError> {
        let states = self.states(self.draw(distribution, batch, draws), batch)?;
        let task = self.task.as_ref().filter(|_| parts.task);
        let task = task.map(|task| (task.kind(), task.predict(states.clone(), batch)));
        let mean = match parts.observations {
            true => self.likelihood.mean(self.decoder.decode_samples(states.clone())?),
            false => None,
        };
        let scale = self.likelihood.gaussian().map(|gaussian| gaussian.scale().unsqueeze_dim(0));
        Ok(Outputs { mean, scale, states: Some(states), task })
    }

    /// The prior of so many series.
    fn prior(&self, series: usize) -> NormalStart {
        let weight = self.generator.key.weight.val();
        NormalStart::standard(series, self.generator.latents(), &weight)
    }
}

impl SeriesModel for MtandFull {
    fn objective(
        &self,
        batch: &Batch,
        draws: PathDraws,
        weights: ElboWeights,
    ) -> Result<Objective, ModelError> {
        let (samples, series) = (draws.samples, batch.numbers.len());
        let distribution = self.distribution(batch)?;
        let divergence = distribution.divergence(&self.prior(series));
        let z = self.draw(&distribution, batch, draws);
        // Where a task reads the states, they are there.
        let states = self.task.as_ref().map(|_| self.states(z.clone(), batch)).transpose()?;
        let output = match states.clone() {
            Some(states) => self.decoder.decode_samples(states)?,
            None => self.decoded(z, batch)?,
        };
        // Every sample is scored on its own: samples of a series as series.
        let [_, points, width] = output.dims();
        let output = output.reshape([1, samples * points, width]);
        let targets = Arc::new(batch.targets.repeated(samples));
        let surprise = self.likelihood.negative_log_likelihood(output, targets)?.reshape([samples, series]);
        let counts = batch.targets.counts_like(&divergence);
        let bound = importance_weighted_loss(
            (surprise.clone() / counts.clone().unsqueeze_dim(0)).mul_scalar(weights.likelihood),
            (divergence.clone() / counts).mul_scalar(weights.kl_start),
        );
        let surprise = surprise.mean_dim(0).reshape([series]);
        let mut parts = vec![("kl", divergence), ("negative_log_likelihood", surprise)];
        let losses = match self.task.as_ref().zip(states) {
            Some((task, states)) => {
                let loss = task.loss(task.predict(states, batch), batch)?;
                parts.push(("task", loss.clone()));
                bound + loss.mul_scalar(weights.task)
            }
            None => bound,
        };
        Ok(Objective { losses, parts })
    }

    fn outputs(&self, batch: &Batch, draws: PathDraws, parts: OutputParts) -> Result<Outputs, ModelError> {
        self.outputs_of(&self.distribution(batch)?, batch, draws, parts)
    }

    fn prior_outputs(
        &self,
        batch: &Batch,
        draws: PathDraws,
        parts: OutputParts,
    ) -> Result<Outputs, ModelError> {
        self.outputs_of(&self.prior(batch.numbers.len()), batch, draws, parts)
    }
}
