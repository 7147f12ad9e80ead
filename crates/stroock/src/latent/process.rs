//! The process of a latent path, from a representation of a series.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Tensor, TensorData};

use super::{LatentConfig, PriorKind};
use crate::initial::InitialWeights;

/// The map from a representation `h` to the parameters of a path process.
///
/// `mu = normalise(W h + b)`, `kappa = min(100 (w.h + b)^2, 50 000)`, drift coefficients linear in `h`, and one
/// diffusion scale `sigma` for all series, shared by prior and posterior. A learned prior has drift coefficients of
/// its own, the same for all series.
#[derive(Module, Debug)]
pub struct PathProcess {
    /// `h -> mu`.
    pub mu: Linear,
    /// `h -> kappa`.
    pub kappa: Linear,
    /// `h -> drift coefficients [m, K]`.
    pub drift: Linear,
    /// Diffusion scale, `[1]`; its sign is without meaning.
    pub sigma: Param<Tensor<1>>,
    /// Drift coefficients `[m, K]` of a learned prior.
    pub prior: Option<Param<Tensor<2>>>,
    #[module(skip)]
    terms: usize,
}

/// The parameters of the path processes of a batch.
#[derive(Clone, Debug)]
pub struct PathParameters {
    /// Mean directions of the start points, `[B, n]`.
    pub mu: Tensor<2>,
    /// Concentrations of the start points, `[B]`.
    pub kappa: Tensor<1>,
    /// Chebyshev coefficients of the drift, `[B, m, K]`.
    pub drift: Tensor<3>,
    /// Diffusion scale, `[1]`.
    pub sigma: Tensor<1>,
    /// Chebyshev coefficients of the prior's drift, `[B, m, K]`; `None` where it has none.
    pub prior: Option<Tensor<3>>,
}

const LARGEST_KAPPA: f64 = 50_000.0;
const KAPPA_SCALE: f64 = 100.0;
const SMALLEST_SIGMA: f64 = 1e-4;

impl PathProcess {
    /// Initialises the map for representations of the given width.
    pub fn new(width: usize, latent: &LatentConfig, weights: &mut InitialWeights) -> Self {
        let (m, terms) = (latent.algebra_dim(), latent.terms());
        Self {
            mu: weights.linear(width, latent.dim),
            kappa: weights.linear(width, 1),
            drift: weights.linear(width, m * terms),
            sigma: weights.constant([1], latent.sigma),
            // A prior that starts without drift is the driftless one until the data ask for more.
            prior: (latent.prior == PriorKind::Learned).then(|| weights.constant([m, terms], 0.0)),
            terms,
        }
    }

    /// The process of the prior for so many series: a uniform start, and the prior's drift.
    pub fn prior(&self, series: usize) -> PathParameters {
        let weight = self.mu.weight.val();
        let (n, m) = (weight.dims()[1], self.drift.weight.val().dims()[1] / self.terms);
        let options = (&weight.device(), weight.dtype());
        // Any direction will do where the concentration is 0.
        let mut mu = vec![0f32; series * n];
        mu.iter_mut().step_by(n).for_each(|x| *x = 1.0);
        let prior = self.prior_coefficients(series, m);
        PathParameters {
            mu: Tensor::from_data(TensorData::new(mu, [series, n]), options),
            kappa: Tensor::zeros([series], options),
            drift: prior.clone().unwrap_or_else(|| Tensor::zeros([series, m, self.terms], options)),
            sigma: self.scale(),
            prior,
        }
    }

    /// The diffusion scale, positive.
    fn scale(&self) -> Tensor<1> {
        self.sigma.val().abs().clamp_min(SMALLEST_SIGMA)
    }

    /// Drift coefficients of a learned prior for so many series, `[B, m, K]`.
    fn prior_coefficients(&self, series: usize, m: usize) -> Option<Tensor<3>> {
        self.prior.as_ref().map(|prior| {
            let one = prior.val().unsqueeze_dim::<3>(0);
            one.expand([series, m, self.terms])
        })
    }

    /// The parameters for representations `h` (`[B, width]`).
    pub fn parameters(&self, h: Tensor<2>) -> PathParameters {
        let series = h.dims()[0];
        let direction = self.mu.forward(h.clone());
        let norm = direction.clone().powi_scalar(2).sum_dim(1).sqrt().clamp_min(1e-12);
        let kappa = self.kappa.forward(h.clone()).powi_scalar(2).mul_scalar(KAPPA_SCALE);
        let coefficients = self.drift.forward(h);
        let m = coefficients.dims()[1] / self.terms;
        PathParameters {
            mu: direction / norm,
            kappa: kappa.clamp_max(LARGEST_KAPPA).reshape([series]),
            drift: coefficients.reshape([series, m, self.terms]),
            sigma: self.scale(),
            prior: self.prior_coefficients(series, m),
        }
    }
}
