//! The law of a latent path, from a representation of a series.

use burn::module::{Module, Param};
use burn::nn::{Linear, LinearConfig};
use burn::tensor::{Device, Tensor};
use stroock_kernels::path::Space;

/// Sizes of a [`PathLaw`].
#[derive(Clone, Copy, Debug)]
pub struct PathLawConfig {
    /// Width of the representation `h`.
    pub width: usize,
    /// Homogeneous space.
    pub space: Space,
    /// Ambient dimension `n`.
    pub dim: usize,
    /// Chebyshev polynomials `K` of the drift.
    pub terms: usize,
    /// Diffusion scale to start from.
    pub sigma: f64,
}

/// The map from a representation `h` to the parameters of a path law.
///
/// `mu = normalise(W h + b)`, `kappa = min(100 (w.h + b)^2, 50 000)`, drift coefficients linear in `h`, and one
/// diffusion scale `sigma` for all series, shared by prior and posterior.
#[derive(Module, Debug)]
pub struct PathLaw {
    /// `h -> mu`.
    pub mu: Linear,
    /// `h -> kappa`.
    pub kappa: Linear,
    /// `h -> drift coefficients [m, K]`.
    pub drift: Linear,
    /// Diffusion scale, `[1]`; its sign is without meaning.
    pub sigma: Param<Tensor<1>>,
    #[module(skip)]
    terms: usize,
}

/// The parameters of the path laws of a batch.
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
}

const LARGEST_KAPPA: f64 = 50_000.0;
const KAPPA_SCALE: f64 = 100.0;
const SMALLEST_SIGMA: f64 = 1e-4;

impl PathLawConfig {
    /// Initialises the map.
    pub fn init(&self, device: &Device) -> PathLaw {
        let m = self.space.algebra_dim(self.dim);
        let linear = |outputs| LinearConfig::new(self.width, outputs).init(device);
        PathLaw {
            mu: linear(self.dim),
            kappa: linear(1),
            drift: linear(m * self.terms),
            sigma: Param::from_tensor(Tensor::full([1], self.sigma, device)),
            terms: self.terms,
        }
    }
}

impl PathLaw {
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
            sigma: self.sigma.val().abs().clamp_min(SMALLEST_SIGMA),
        }
    }
}
