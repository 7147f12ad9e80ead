//! A process that is given by its marginals, from the states of an encoder at knots: nothing is simulated.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::activation::softplus;
use serde::{Deserialize, Serialize};
use stroock_kernels::moebius::{MoebiusError, MoebiusProcess, SeriesTimes};

use super::moebius::doubles;
use super::process::positive;
use super::{KnotPrior, LearnedAttractor, RaggedTimes, Steering};
use crate::encoder::Knots;
use crate::initial::InitialWeights;

/// The sphere and the process of marginals on it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MarginalConfig {
    /// Ambient dimension `n` of the sphere `S^{n-1}`.
    pub dim: usize,
    /// Diffusion scale of the prior that training starts from.
    pub sigma: f64,
    /// Width of the marginals that training starts from; the variance per direction is about `width^2 / (n - 3)`.
    pub width: f64,
    /// Times of a series at which the divergence is taken, one in each of as many equal parts of its span.
    pub strata: usize,
    /// Process that the posterior is compared with.
    pub prior: KnotPrior,
}

impl Default for MarginalConfig {
    fn default() -> Self {
        Self { dim: 16, sigma: 0.5, width: 0.2, strata: 8, prior: KnotPrior::Driftless }
    }
}

/// The map from the states of knots to the marginals of a process.
///
/// At knot `k` with the state `u_k` the position is `W u_k` and the width `eps_k = width softplus(w.u_k) / ln 2`. Between
/// knots both are linear, and the state at a time has the spherical Cauchy distribution about the direction of the
/// position: see [`moebius`](super::moebius).
#[derive(Module, Debug)]
pub struct MarginalProcess {
    /// State of a knot to its position.
    pub position: Linear,
    /// State of a knot to its width, before softplus.
    pub width: Linear,
    /// Diffusion scale, `[1]`; its sign is without meaning.
    pub sigma: Param<Tensor<1>>,
    /// Drift of the prior, where it has one.
    pub prior: Option<LearnedAttractor>,
    #[module(skip)]
    config: MarginalConfig,
}

/// Narrowest marginal: single precision ends not far below.
const NARROWEST: f64 = 1e-3;

impl MarginalProcess {
    /// Initialises the map for states of the given width.
    pub fn new(width: usize, config: MarginalConfig, weights: &mut InitialWeights) -> Self {
        Self {
            position: weights.linear(width, config.dim),
            width: weights.linear(width, 1),
            sigma: weights.constant([1], config.sigma),
            prior: config.prior.init(config.dim, weights),
            config,
        }
    }

    /// The choices that it was made with.
    pub fn config(&self) -> &MarginalConfig {
        &self.config
    }

    /// The diffusion scale, positive.
    pub fn scale(&self) -> Tensor<1> {
        positive(&self.sigma)
    }

    /// Positions `[N, n]` and widths `[N]` at knots.
    pub fn parameters(&self, knots: &Knots) -> (Tensor<2>, Tensor<1>) {
        let count = knots.times.len();
        let width = softplus(self.width.forward(knots.states.clone()), 1.0);
        let width = width.mul_scalar(self.config.width / std::f64::consts::LN_2).add_scalar(NARROWEST);
        (self.position.forward(knots.states.clone()), width.reshape([count]))
    }

    /// What steers the paths at the requested times of their series.
    ///
    /// # Errors
    /// When the times are not those of as many series, or a number of the marginals is not as it should be.
    pub fn steering(&self, knots: &Knots, requests: &RaggedTimes) -> Result<Steering, MoebiusError> {
        let (positions, widths) = self.parameters(knots);
        let [positions, widths, sigma] =
            [positions.into_data(), widths.into_data(), self.scale().into_data()].map(doubles);
        let dim = self.config.dim;
        let knots = SeriesTimes { offsets: &knots.offsets, times: &knots.times };
        let process = MoebiusProcess { dim, knots, positions: &positions, widths: &widths, sigma: sigma[0] };
        Ok(Steering::of_marginals(dim, process.psi(requests.of_kernels())?, sigma[0]))
    }
}
