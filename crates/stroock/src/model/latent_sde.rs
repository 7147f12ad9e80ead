//! A latent SDE: any encoder and any decoder around a random path.

use std::sync::Arc;

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::{Memory, PathError, PathSolver, Space};
use stroock_kernels::simd::Level;
use stroock_kernels::start::StartError;
use thiserror::Error;

use crate::batch::{Batch, EvidenceError};
use crate::decoder::Decoder;
use crate::encoder::{Encoder, EncoderError};
use crate::latent::{
    PathLaw, PathLawConfig, PathNoise, PathPlan, PathStates, StartPlan, power_spherical, simulate,
};
use crate::likelihood::Likelihood;
use crate::objective::{ElboParts, ElboWeights};

/// The latent space and the drift in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatentSpace {
    /// Homogeneous space.
    pub space: Space,
    /// Ambient dimension `n`.
    pub dim: usize,
    /// Chebyshev polynomials of the drift.
    pub terms: usize,
    /// The interval of the Chebyshev polynomials, in model time.
    pub interval: (f64, f64),
    /// What a path keeps for its backward pass.
    pub memory: Memory,
}

/// A latent SDE model.
///
/// A batch is encoded to representations, these to path laws; paths are drawn, decoded where there is
/// evidence, and scored.
#[derive(Module, Debug)]
pub struct LatentSde<E, D> {
    /// Series to representation.
    pub encoder: E,
    /// Representation to path law.
    pub law: PathLaw,
    /// State to output.
    pub decoder: D,
    /// Output to observation.
    pub likelihood: Likelihood,
    #[module(skip)]
    latent: LatentSpace,
}

/// Which paths are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathDraws {
    /// Seed and epoch.
    pub key: NoiseKey,
    /// Paths per series.
    pub samples: usize,
    /// The number of the first of them.
    pub first_sample: u32,
}

/// Paths through a batch, what is decoded from them, and the parts of the evidence lower bound.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Parts of the bound, `[B]` each.
    pub parts: ElboParts,
    /// Outputs at the points of the evidence, `[S, Q, C]`.
    pub output: Tensor<3>,
    /// States there, `[S, Q, n]`.
    pub states: Tensor<3>,
}

/// Why a batch cannot be put through a model.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// The encoder refused its input.
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    /// No start points could be drawn.
    #[error(transparent)]
    Start(#[from] StartError),
    /// No paths could be simulated.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The output does not fit the evidence.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
}

impl<E: Encoder, D: Decoder> LatentSde<E, D> {
    /// A model of these parts; `width` is the width of the encoder's representation, and the decoder reads
    /// states of dimension `latent.dim`.
    pub fn new(
        encoder: E,
        width: usize,
        latent: LatentSpace,
        decoder: D,
        likelihood: Likelihood,
        device: &Device,
    ) -> Self {
        let LatentSpace { space, dim, terms, .. } = latent;
        let law = PathLawConfig { width, space, dim, terms, sigma: 0.1 }.init(device);
        Self { encoder, law, decoder, likelihood, latent }
    }

    /// Draws paths for a batch and scores them.
    ///
    /// # Errors
    /// When the batch does not fit the model, or a path diverges.
    pub fn bound(&self, batch: &Batch, draws: PathDraws) -> Result<Bound, ModelError> {
        let h = self.encoder.encode(&batch.input)?;
        let law = self.law.parameters(h);
        let series = batch.numbers.clone();
        let PathDraws { key, samples, first_sample } = draws;
        let start = power_spherical(
            StartPlan { dim: self.latent.dim, key, series: series.clone(), samples, first_sample },
            law.mu,
            law.kappa,
        )?;
        let noise = PathNoise::Counter { key, series, first_sample };
        let PathStates { states, kl } =
            simulate(self.plan(batch, samples, noise), start.points, law.drift, law.sigma)?;
        let [samples, points, n] = states.dims();
        let channels = batch.evidence.channels();
        let output = self.decoder.decode(states.clone().reshape([samples * points, n]));
        let output = output.reshape([samples, points, channels]);
        let nll = self.likelihood.negative_log_likelihood(output.clone(), Arc::clone(&batch.evidence))?;
        let kl_path = kl.mean_dim(0).reshape([batch.numbers.len()]);
        let parts = ElboParts { kl_start: start.kl, kl_path, negative_log_likelihood: nll };
        Ok(Bound { parts, output, states })
    }

    fn plan(&self, batch: &Batch, samples: usize, noise: PathNoise) -> PathPlan {
        PathPlan {
            space: self.latent.space,
            dim: self.latent.dim,
            samples,
            grid: batch.grid.clone(),
            terms: self.latent.terms,
            interval: self.latent.interval,
            noise,
            requests: batch.requests.clone(),
            solver: PathSolver { level: Level::detect(), memory: self.latent.memory },
        }
    }
}

impl Bound {
    /// The weighted loss of each series, `[B]`, per observed entry.
    pub fn losses(&self, weights: ElboWeights, batch: &Batch) -> Tensor<1> {
        let counts: Vec<f32> = batch.evidence.counts().iter().map(|&count| count as f32).collect();
        let like = &self.parts.kl_start;
        let counts = TensorData::new(counts, [batch.numbers.len()]);
        self.parts.loss(weights, Tensor::from_data(counts, (&like.device(), like.dtype())))
    }
}
