//! A latent SDE: any encoder and any decoder around a random path.

mod check;
mod config;
mod parts;
mod process;

pub use config::{
    DecoderConfig, EncoderConfig, LatentSdeConfig, StandardDecoder, StandardEncoder, StandardLatentSde,
};
pub use process::{Paths, Process};

pub(super) use check::{decoder, layers, network, parameters, size, task};
pub(super) use config::image_shape;
pub(super) use parts::Parts;

use std::sync::Arc;

use burn::module::Module;
use burn::tensor::Tensor;

use super::{ModelError, OutputParts, Outputs, PathDraws, SeriesModel};
use crate::batch::Batch;
use crate::decoder::{Decoder, DecoderError};
use crate::encoder::Encoder;
use crate::initial::InitialWeights;
use crate::latent::{LatentConfig, LatentConfigError, PathProcess, Steering};
use crate::likelihood::Likelihood;
use crate::objective::{ElboParts, ElboWeights, Objective};
use crate::task::TaskHead;

/// A latent SDE model.
///
/// A batch is encoded to a representation, this to path processes; paths are drawn, decoded where there are
/// targets, and scored.
#[derive(Module, Debug)]
pub struct LatentSde<E, D, P = PathProcess> {
    /// Series to representation.
    pub encoder: E,
    /// Representation to random paths.
    pub process: P,
    /// State to output.
    pub decoder: D,
    /// Output to observation.
    pub likelihood: Likelihood,
    /// State to prediction, where something is predicted beside the observations.
    pub task: Option<TaskHead>,
}

/// Paths through a batch, what is decoded from them, and the parts of the evidence lower bound.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Parts of the bound, `[B]` each.
    pub parts: ElboParts,
    /// Outputs at the points of the targets, `[S, Q, C]`.
    pub output: Tensor<3>,
    /// States there, `[S, Q, n]`.
    pub states: Tensor<3>,
    /// Predictions of the task, `[S, Q, outputs]`, or `[S, B, outputs]` for whole series.
    pub prediction: Option<Tensor<3>>,
}

impl<E: Encoder, D: Decoder> LatentSde<E, D> {
    /// A model of these parts; `width` is the width of the encoder's representation, and the decoder reads
    /// states of dimension `latent.dim`.
    ///
    /// # Errors
    /// When the latent space cannot be.
    pub fn new(
        encoder: E,
        width: usize,
        latent: LatentConfig,
        decoder: D,
        likelihood: Likelihood,
        weights: &mut InitialWeights,
    ) -> Result<Self, LatentConfigError> {
        latent.check()?;
        let process = PathProcess::new(width, &latent, weights);
        Ok(Self { encoder, process, decoder, likelihood, task: None })
    }

    /// The latent space.
    pub fn latent(&self) -> &LatentConfig {
        self.process.latent()
    }
}

impl<E: Encoder<P::Representation>, D: Decoder, P: Process> LatentSde<E, D, P> {
    /// The same model with a task.
    pub fn with_task(self, task: TaskHead) -> Self {
        Self { task: Some(task), ..self }
    }

    /// Draws paths for a batch and scores them.
    ///
    /// # Errors
    /// When the batch does not fit the model, or a path diverges.
    pub fn bound(&self, batch: &Batch, draws: PathDraws) -> Result<Bound, ModelError> {
        self.score(self.process.paths(self.encoder.encode(&batch.input)?, batch, draws)?, batch)
    }

    /// Decodes paths through a batch and scores them.
    ///
    /// # Errors
    /// When the paths or the batch do not fit the model.
    pub fn score(&self, paths: Paths, batch: &Batch) -> Result<Bound, ModelError> {
        let Paths { states, kl_start, kl_path } = paths;
        let output = self.decode(states.clone())?;
        let nll = self.likelihood.negative_log_likelihood(output.clone(), Arc::clone(&batch.targets))?;
        let prediction = self.task.as_ref().map(|task| task.predict(states.clone(), batch));
        let task = match (&self.task, &prediction) {
            (Some(task), Some(prediction)) => Some(task.loss(prediction.clone(), batch)?),
            _ => None,
        };
        let parts = ElboParts { kl_start, kl_path, negative_log_likelihood: nll, task };
        Ok(Bound { parts, output, states, prediction })
    }

    /// Outputs `[S, Q, outputs]` of the decoder at states `[S, Q, n]`.
    ///
    /// # Errors
    /// When the states do not fit the decoder.
    pub fn decode(&self, states: Tensor<3>) -> Result<Tensor<3>, DecoderError> {
        self.decoder.decode_samples(states)
    }

    /// What is decoded from paths through the points of a batch.
    fn outputs_of(
        &self,
        states: Tensor<3>,
        batch: &Batch,
        parts: OutputParts,
    ) -> Result<Outputs, ModelError> {
        let task = self.task.as_ref().filter(|_| parts.task);
        let task = task.map(|task| (task.kind(), task.predict(states.clone(), batch)));
        let mean = match parts.observations {
            true => self.likelihood.mean(self.decode(states.clone())?),
            false => None,
        };
        let scale = self.likelihood.gaussian().map(|gaussian| gaussian.scale().unsqueeze_dim(0));
        Ok(Outputs { mean, scale, states: Some(states), task })
    }
}

impl<E: Encoder<P::Representation>, D: Decoder, P: Process> SeriesModel for LatentSde<E, D, P> {
    fn objective(
        &self,
        batch: &Batch,
        draws: PathDraws,
        weights: ElboWeights,
    ) -> Result<Objective, ModelError> {
        let bound = self.bound(batch, draws)?;
        Ok(Objective { losses: bound.losses(weights, batch), parts: bound.parts.named() })
    }

    fn outputs(&self, batch: &Batch, draws: PathDraws, parts: OutputParts) -> Result<Outputs, ModelError> {
        let paths = self.process.paths(self.encoder.encode(&batch.input)?, batch, draws)?;
        self.outputs_of(paths.states, batch, parts)
    }

    fn prior_outputs(
        &self,
        batch: &Batch,
        draws: PathDraws,
        parts: OutputParts,
    ) -> Result<Outputs, ModelError> {
        self.outputs_of(self.process.prior_paths(batch, draws)?.states, batch, parts)
    }

    fn codes(&self, batch: &Batch) -> Result<Option<Tensor<2>>, ModelError> {
        Ok(self.process.codes(self.encoder.encode(&batch.input)?))
    }

    fn outputs_of_codes(
        &self,
        codes: Tensor<2>,
        batch: &Batch,
        draws: PathDraws,
        parts: OutputParts,
    ) -> Result<Outputs, ModelError> {
        self.outputs_of(self.process.paths_of_codes(codes, batch, draws)?.states, batch, parts)
    }

    fn steering(&self, batch: &Batch) -> Result<Option<Steering>, ModelError> {
        self.process.steering(self.encoder.encode(&batch.input)?, batch)
    }
}

impl Bound {
    /// The weighted loss of each series, `[B]`, per observed entry.
    pub fn losses(&self, weights: ElboWeights, batch: &Batch) -> Tensor<1> {
        self.parts.loss(weights, batch.targets.counts_like(&self.parts.kl_start))
    }
}
