//! ODE2VAE and ODE2VAE-KL: a latent second-order equation whose acceleration is a network with random weights.
//!
//! A state `z = (v, s)` is a velocity and a position in `R^q` each, and
//!
//! ```text
//! s' = v,   v' = f_W(v, s),   W ~ N(M, l I),   z_0 ~ N(m(x), diag exp(w(x))),
//! ```
//!
//! with a network `f = 2q - H - H - q` of ReLU units, one learned variance `l` of all its weights, and two encoders, of the
//! velocity and of the position. Observations are decoded from positions alone. The density of the states follows the
//! flow, `d ln q(z_t) / dt = -tr(df/dv)`, and the loss of a series is
//!
//! ```text
//! sum_t [ln q(z_t) - ln N(z_t; 0, I) - ln p(x_t | s_t)] + beta KL(W || N(0, I))
//!     + gamma sum_t [ln q(z_t) - ln q_enc(z_t | x_t)]
//! ```
//!
//! over its targets, a sum and not a mean over entries. The second line is that of ODE2VAE-KL: `q_enc` is what the encoders
//! say about a target as the start of a series. Paths are those of the classical scheme of Runge and Kutta with some steps
//! between two times of the grid, the integral of the trace among its states, and gradients are those of the scheme. In
//! training there is one draw of `W` for every batch and sample. It is the model of Yildiz, Heinonen and Lahdesmaki (ODE2VAE:
//! Deep generative second order ODEs with Bayesian neural networks, 2019).

mod config;
mod field;
mod process;
mod recognition;

pub use config::{Ode2VaeConfig, PredictionKind, SecondOrderConfig, StartDensity};
pub use field::{DrawnField, UncertainField};
pub use process::{DensePaths, SecondOrderProcess};
pub use recognition::{Head, Recognition};

pub(super) use process::sums_of_series;

use std::sync::Arc;

use burn::module::Module;
use burn::tensor::Tensor;

use super::latent_sde::StandardDecoder;
use super::{ModelError, OutputParts, Outputs, PathDraws, SeriesModel};
use crate::batch::Batch;
use crate::decoder::{Decoder, DecoderError};
use crate::latent::NormalStart;
use crate::likelihood::Likelihood;
use crate::objective::{ElboWeights, Objective};

/// A model of the module's kind: see [`Ode2VaeConfig`].
#[derive(Module, Debug)]
pub struct Ode2Vae {
    /// Series to start points.
    pub recognition: Recognition,
    /// Start points to paths.
    pub process: SecondOrderProcess,
    /// Position to output.
    pub decoder: StandardDecoder,
    /// Output to observation.
    pub likelihood: Likelihood,
    #[module(skip)]
    weight_divergence: f64,
    #[module(skip)]
    encoder_divergence: Option<f64>,
    #[module(skip)]
    prediction: PredictionKind,
}

impl Ode2Vae {
    /// Outputs `[S, Q, outputs]` of the decoder at the states `[S, Q, 2q]`, of which it reads the positions.
    ///
    /// # Errors
    /// When the states do not fit the decoder.
    pub fn decode(&self, states: Tensor<3>) -> Result<Tensor<3>, DecoderError> {
        let q = self.process.config().dim;
        self.decoder.decode_samples(states.narrow(2, q, q))
    }

    /// Paths through the points of a batch, with the fields of `first`.
    fn paths(
        &self,
        start: &NormalStart,
        batch: &Batch,
        draws: PathDraws,
        first: u32,
    ) -> Result<DensePaths, ModelError> {
        let PathDraws { key, samples, first_sample } = draws;
        let field = &self.process.field;
        let fields: Vec<DrawnField> = (0..samples as u32)
            .map(|sample| field.drawn(field.normals(key, first, first_sample.wrapping_add(sample))))
            .collect();
        let normals = start.normals(key, &batch.numbers, samples, first_sample);
        Ok(self.process.paths(start, normals, &fields, (&batch.grid, &batch.requests))?)
    }

    /// What is predicted from these start points.
    fn outputs_from(
        &self,
        start: &NormalStart,
        batch: &Batch,
        draws: PathDraws,
        parts: OutputParts,
    ) -> Result<Outputs, ModelError> {
        let states = match self.prediction {
            PredictionKind::Mean => {
                let mean = start.mean.clone().unsqueeze_dim::<3>(0).zeros_like();
                let fields = [self.process.field.mean()];
                self.process.paths(start, mean, &fields, (&batch.grid, &batch.requests))?.states
            }
            PredictionKind::Draws => self.paths(start, batch, draws, 0)?.states,
        };
        self.outputs_of(states, draws.samples, parts)
    }

    /// What is decoded from the states `[S, Q, 2q]`, or from `[1, Q, 2q]` where they are the same for all samples.
    fn outputs_of(
        &self,
        states: Tensor<3>,
        samples: usize,
        parts: OutputParts,
    ) -> Result<Outputs, ModelError> {
        let mean = match parts.observations {
            true => self.likelihood.mean(self.decode(states.clone())?),
            false => None,
        };
        let scale = self.likelihood.gaussian().map(|gaussian| gaussian.scale().unsqueeze_dim(0));
        Ok(Outputs { mean, scale, states: Some(states), task: None }.in_samples(samples))
    }
}

impl SeriesModel for Ode2Vae {
    /// The weight of the likelihood and that of the paths count; the latter weighs all divergences.
    fn objective(
        &self,
        batch: &Batch,
        draws: PathDraws,
        weights: ElboWeights,
    ) -> Result<Objective, ModelError> {
        let (start, points) = match self.encoder_divergence {
            Some(gamma) => {
                let [start, points] = self.recognition.starts_and_points(batch)?;
                (start, Some((gamma, points)))
            }
            None => (self.recognition.distributions(&batch.input)?, None),
        };
        // One draw for a batch, named after its first series: the key alone is the same for all batches of an epoch.
        let first = batch.numbers.first().copied().unwrap_or_default();
        let paths = self.paths(&start, batch, draws, first)?;
        let output = self.decode(paths.states.clone())?;
        let nll = self.likelihood.negative_log_likelihood(output, Arc::clone(&batch.targets))?;
        let offsets = &batch.requests.offsets;
        let kl_path = paths.divergence_from_prior(offsets);
        let kl_weights = self.process.field.divergence().expand([batch.numbers.len()]);
        let mut divergence = kl_path.clone() + kl_weights.clone().mul_scalar(self.weight_divergence);
        let mut parts =
            vec![("kl_path", kl_path), ("kl_weights", kl_weights), ("negative_log_likelihood", nll.clone())];
        if let Some((gamma, points)) = points {
            let kl_encoder = paths.divergence_from(&points, offsets);
            divergence = divergence + kl_encoder.clone().mul_scalar(gamma);
            parts.push(("kl_encoder", kl_encoder));
        }
        let losses = nll.mul_scalar(weights.likelihood) + divergence.mul_scalar(weights.kl_path);
        Ok(Objective { losses, parts })
    }

    fn outputs(&self, batch: &Batch, draws: PathDraws, parts: OutputParts) -> Result<Outputs, ModelError> {
        self.outputs_from(&self.recognition.distributions(&batch.input)?, batch, draws, parts)
    }

    /// Start points are standard normal; fields are those of the posterior, every sample with one of its own.
    fn prior_outputs(
        &self,
        batch: &Batch,
        draws: PathDraws,
        parts: OutputParts,
    ) -> Result<Outputs, ModelError> {
        let like = self.process.field.ln_variance.val();
        let start = NormalStart::standard(batch.numbers.len(), 2 * self.process.config().dim, &like);
        self.outputs_of(self.paths(&start, batch, draws, 0)?.states, draws.samples, parts)
    }
}
