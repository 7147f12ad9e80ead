//! ODE-ODE: a latent ordinary differential equation whose encoder is a recurrent unit that moves by one, too.
//!
//! ```text
//! (m, s) = ODE-RNN(x),   (mu, sigma) = (a, |b|) with (a, b) = MLP(m, s),   z_0 ~ N(mu, diag sigma^2),   z' = f(z)
//! ```
//!
//! with the encoder [`OdeRnn`](crate::encoder::OdeRnn), which runs backwards over each series, and a network `f` with tanh
//! between its layers. Paths are those of Euler's scheme on the grid of the batch (the authors have an adaptive scheme), and
//! gradients those of the scheme.
//!
//! The log likelihood `l` of a series is a mean over the observed points of a channel, then over channels, under normal
//! noise of a given size, and the divergence of the start point from a standard normal one is a mean over coordinates. With
//! `K` samples the loss is an importance-weighted [`ImportanceBound`] of them. A task has a loss of its own; published is
//! the cross entropy alone, which is a weight of 0 for the likelihood.
//!
//! It is the model of Rubanova, Chen and Duvenaud (Latent ODEs for irregularly-sampled time series, 2019).

mod bound;
mod config;

pub use bound::{ScoredEntries, importance_bound};
pub use config::{ImportanceBound, OdeOdeConfig};

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;

use super::latent_ode::OdeConfig;
use super::latent_sde::StandardDecoder;
use super::{ModelError, OutputParts, Outputs, PathDraws, SeriesModel};
use crate::batch::Batch;
use crate::decoder::{Activation as Between, Decoder, DecoderError, Mlp, MlpConfig};
use crate::encoder::{Encoder, OdeRnn};
use crate::initial::InitialWeights;
use crate::latent::{Activation, FlowPlan, NormalStart, PathGrid, PathRequests, VectorField, flow};
use crate::objective::{ElboWeights, Objective};
use crate::task::TaskHead;

/// A model of the module's kind: see [`OdeOdeConfig`].
#[derive(Module, Debug)]
pub struct OdeOde {
    /// Series to representation.
    pub encoder: OdeRnn,
    /// Representation to start point.
    pub start: StartHead,
    /// `f`.
    pub drift: VectorField,
    /// State to output.
    pub decoder: StandardDecoder,
    /// State to prediction, where something is predicted beside the observations.
    pub task: Option<TaskHead>,
    #[module(skip)]
    latent: OdeConfig,
    #[module(skip)]
    scale: f64,
    #[module(skip)]
    bound: ImportanceBound,
}

/// From a representation to the distribution of the start point: a network of one hidden layer to means and, up to their
/// signs, standard deviations.
#[derive(Module, Debug)]
pub struct StartHead {
    /// The network.
    pub network: Mlp,
}

/// Smallest standard deviation of a start point.
const SMALLEST: f64 = 1e-10;

/// A linear map with normal weights and without bias at first.
fn linear(inputs: usize, outputs: usize, weights: &mut InitialWeights) -> Linear {
    weights.normal_linear(inputs, outputs, crate::encoder::INITIAL)
}

impl StartHead {
    fn new(width: usize, hidden: usize, dim: usize, weights: &mut InitialWeights) -> Self {
        let config = MlpConfig { hidden: vec![hidden], activation: Between::Tanh };
        Self { network: config.init_by(width, 2 * dim, |inputs, outputs| linear(inputs, outputs, weights)) }
    }

    /// The distributions of the start points of series with the representations `[B, width]`.
    pub fn distributions(&self, h: Tensor<2>) -> NormalStart {
        let both = self.network.forward(h);
        let dim = both.dims()[1] / 2;
        let ln_scale = both.clone().narrow(1, dim, dim).abs().clamp_min(SMALLEST).log();
        NormalStart { mean: both.narrow(1, 0, dim), ln_scale }
    }
}

impl OdeOde {
    /// The space of the states and the network that moves them.
    pub fn latent(&self) -> &OdeConfig {
        &self.latent
    }

    /// The states `[S, Q, n]` of paths from these points, `[S, B, n]`.
    ///
    /// # Errors
    /// When the points do not fit the grid, or a path diverges.
    pub fn states(
        &self,
        points: Tensor<3>,
        grid: PathGrid,
        requests: PathRequests,
    ) -> Result<Tensor<3>, ModelError> {
        let plan = FlowPlan {
            dim: self.latent.dim,
            samples: points.dims()[0],
            grid,
            requests,
            hidden: self.latent.hidden.clone(),
            activation: Activation::Tanh,
        };
        Ok(flow(plan, points, self.drift.parameters())?)
    }

    /// Outputs `[S, Q, outputs]` of the decoder at states `[S, Q, n]`.
    ///
    /// # Errors
    /// When the states do not fit the decoder.
    pub fn decode(&self, states: Tensor<3>) -> Result<Tensor<3>, DecoderError> {
        self.decoder.decode_samples(states)
    }

    fn states_of(
        &self,
        start: &NormalStart,
        batch: &Batch,
        draws: PathDraws,
    ) -> Result<Tensor<3>, ModelError> {
        let normals = start.normals(draws.key, &batch.numbers, draws.samples, draws.first_sample);
        self.states(start.points(normals), batch.grid.clone(), batch.requests.clone())
    }

    fn outputs_from(
        &self,
        start: &NormalStart,
        batch: &Batch,
        draws: PathDraws,
        parts: OutputParts,
    ) -> Result<Outputs, ModelError> {
        let states = self.states_of(start, batch, draws)?;
        let task = self.task.as_ref().filter(|_| parts.task);
        let task = task.map(|task| (task.kind(), task.predict(states.clone(), batch)));
        let mean = match parts.observations {
            true => Some(self.decode(states.clone())?),
            false => None,
        };
        let scale = Tensor::full([1, 1], self.scale, (&states.device(), states.dtype()));
        Ok(Outputs { mean, scale: Some(scale), states: Some(states), task })
    }
}

impl SeriesModel for OdeOde {
    /// `wx bound + wt task`, the divergence inside the bound with the weight of the start point. Where there is a task and
    /// the likelihood weighs nothing, nothing is decoded.
    fn objective(
        &self,
        batch: &Batch,
        draws: PathDraws,
        weights: ElboWeights,
    ) -> Result<Objective, ModelError> {
        let start = self.start.distributions(self.encoder.encode(&batch.input)?);
        let states = self.states_of(&start, batch, draws)?;
        let prior = NormalStart::standard(batch.numbers.len(), self.latent.dim, &start.mean);
        let kl = start.divergence(&prior).mul_scalar(1.0 / self.latent.dim as f64);
        let mut parts = vec![("kl_start", kl.clone())];
        let task = match &self.task {
            Some(task) => Some(task.loss(task.predict(states.clone(), batch), batch)?),
            None => None,
        };
        parts.extend(task.clone().map(|task| ("task", task)));
        let losses = match task {
            Some(task) if weights.likelihood == 0.0 => task.mul_scalar(weights.task),
            task => {
                let entries = ScoredEntries::new(&batch.targets, &states);
                let ln_p = entries.ln_likelihoods(self.decode(states)?, self.scale)?;
                let mean = ln_p.clone().mean_dim(0).reshape([batch.numbers.len()]);
                parts.push(("negative_log_likelihood", mean.neg()));
                let bound = importance_bound(self.bound, ln_p, kl.mul_scalar(weights.kl_start));
                let loss = bound.mul_scalar(-weights.likelihood);
                task.map_or(loss.clone(), |task| loss + task.mul_scalar(weights.task))
            }
        };
        Ok(Objective { losses, parts })
    }

    fn outputs(&self, batch: &Batch, draws: PathDraws, parts: OutputParts) -> Result<Outputs, ModelError> {
        let start = self.start.distributions(self.encoder.encode(&batch.input)?);
        self.outputs_from(&start, batch, draws, parts)
    }

    fn prior_outputs(
        &self,
        batch: &Batch,
        draws: PathDraws,
        parts: OutputParts,
    ) -> Result<Outputs, ModelError> {
        let like = self.drift.parameters();
        let start = NormalStart::standard(batch.numbers.len(), self.latent.dim, &like);
        self.outputs_from(&start, batch, draws, parts)
    }
}
