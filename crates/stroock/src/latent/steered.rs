//! A process that is steered towards the observations, from the states of an encoder at knots.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::activation::softplus;
use burn::tensor::{Int, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::moebius::doubles;
use super::process::{positive, power_spherical};
use super::steering::linear_between;
use super::{LearnedAttractor, RaggedTimes, Steering};
use crate::encoder::Knots;
use crate::initial::InitialWeights;

/// The sphere and the process of steered paths on it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SteeredConfig {
    /// Ambient dimension `n` of the sphere `S^{n-1}`.
    pub dim: usize,
    /// Diffusion scale that training starts from.
    pub sigma: f64,
    /// Rate at which paths are pulled towards their target, per unit of model time, in units of which the encoder
    /// speaks: it starts at about 0.7 of it.
    pub gain: f64,
    /// Process that the posterior is compared with. The steering is added to its drift, so that what is not steered
    /// follows it.
    pub prior: KnotPrior,
}

/// The process on the sphere that paths with knots are compared with; it starts uniformly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnotPrior {
    /// Brownian motion.
    #[default]
    Driftless,
    /// With a learned drift that is the same at all times: attracting points and cycles.
    Attractor,
}

impl KnotPrior {
    /// Its parameters, where it has any, in ambient dimension `dim`.
    pub(super) fn init(self, dim: usize, weights: &InitialWeights) -> Option<LearnedAttractor> {
        (self == KnotPrior::Attractor).then(|| LearnedAttractor::new(dim, weights))
    }
}

impl Default for SteeredConfig {
    fn default() -> Self {
        Self { dim: 16, sigma: 0.1, gain: 30.0, prior: KnotPrior::Driftless }
    }
}

/// The map from the states of knots to a steered process.
///
/// At knot `k` with the state `u_k` the steering vector is `b_k = gain softplus(w.u_k) m_k / |m_k|` with `m_k = W u_k`:
/// paths are pulled to the direction `m_k` at the rate `|b_k|`. Between knots `b` is linear. The mean start point is
/// `normalise(m_0 + W' u_0)` at the first knot, with the concentration of [`PathProcess`](super::PathProcess). Tight
/// paths need no small `sigma`: their variance per direction is `sigma^2 / (2 |b|)`.
#[derive(Module, Debug)]
pub struct SteeredProcess {
    /// State of a knot to the target `m`.
    pub target: Linear,
    /// State of a knot to the gain, before softplus.
    pub gain: Linear,
    /// State of the first knot to what the mean start point differs by from the target.
    pub mu: Linear,
    /// State of the first knot to the concentration of start points.
    pub kappa: Linear,
    /// Diffusion scale, `[1]`; its sign is without meaning.
    pub sigma: Param<Tensor<1>>,
    /// Drift of the prior, where it has one.
    pub prior: Option<LearnedAttractor>,
    #[module(skip)]
    config: SteeredConfig,
}

/// The parameters of the steered processes of a batch.
#[derive(Clone, Debug)]
pub struct SteeredParameters {
    /// Mean directions of the start points, `[B, n]`.
    pub location: Tensor<2>,
    /// Their concentrations, `[B]`.
    pub spread: Tensor<1>,
    /// Steering vectors at the knots of all series, `[N, n]`.
    pub steering: Tensor<2>,
    /// Diffusion scale, `[1]`.
    pub sigma: Tensor<1>,
    /// Coefficients of the prior's drift, `[B, n + 2 (n / 2), 1]`, where it has one.
    pub prior: Option<Tensor<3>>,
}

impl SteeredProcess {
    /// Initialises the map for states of the given width.
    pub fn new(width: usize, config: SteeredConfig, weights: &mut InitialWeights) -> Self {
        Self {
            target: weights.linear(width, config.dim),
            gain: weights.linear(width, 1),
            mu: weights.linear(width, config.dim),
            kappa: weights.linear(width, 1),
            sigma: weights.constant([1], config.sigma),
            prior: config.prior.init(config.dim, weights),
            config,
        }
    }

    /// The choices that it was made with.
    pub fn config(&self) -> &SteeredConfig {
        &self.config
    }

    /// The diffusion scale, positive.
    pub fn scale(&self) -> Tensor<1> {
        positive(&self.sigma)
    }

    /// The parameters for the states of knots.
    pub fn parameters(&self, knots: &Knots) -> SteeredParameters {
        let states = knots.states.clone();
        let target = self.target.forward(states.clone());
        let rate = softplus(self.gain.forward(states.clone()), 1.0).mul_scalar(self.config.gain);
        let norm = target.clone().powi_scalar(2).sum_dim(1).add_scalar(1e-12).sqrt();

        let series = knots.offsets.len() - 1;
        let first: Vec<i64> = knots.offsets[..series].iter().map(|&offset| offset as i64).collect();
        let first = Tensor::<1, Int>::from_data(TensorData::new(first, [series]), &states.device());
        let at_start = states.select(0, first.clone());
        let direction = self.mu.forward(at_start.clone()) + target.clone().select(0, first);
        let (location, spread) = power_spherical(direction, self.kappa.forward(at_start));
        SteeredParameters {
            location,
            spread: spread.reshape([series]),
            steering: target * (rate / norm),
            sigma: self.scale(),
            prior: self.prior.as_ref().map(|prior| prior.coefficients(series)),
        }
    }
}

impl SteeredParameters {
    /// What steers the paths at the requested times of their series, with the steering vectors at these knots.
    pub fn steering(&self, knots: &RaggedTimes, requests: &RaggedTimes) -> Steering {
        let dim = self.steering.dims()[1];
        let at_knots = doubles(self.steering.clone().into_data());
        let vectors = linear_between(knots, &at_knots, dim, requests);
        Steering::of_pull(dim, vectors, doubles(self.sigma.clone().into_data())[0])
    }
}
