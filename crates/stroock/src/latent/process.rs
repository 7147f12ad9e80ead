//! The process of a latent path, from a representation of a series.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::Tensor;

use stroock_kernels::start::StartKind;

use super::{LatentConfig, PriorKind, prior_start};
use crate::initial::InitialWeights;

/// The map from a representation `h` to the parameters of a path process.
///
/// Drift coefficients are linear in `h`, and one diffusion scale `sigma` for all series is shared by prior and
/// posterior. A learned prior has drift coefficients of its own, the same for all series. Start points have
///
/// - on the sphere the mean direction `normalise(W h + b)` and the concentration `min(100 (w.h + b)^2, 50 000)`;
/// - on hyperbolic space the mean `W h + b` in the tangent space at the origin, shortened to at most 10, and the
///   standard deviation `exp(w.h + b - 2)` between 1e-3 and 2.
#[derive(Module, Debug)]
pub struct PathProcess {
    /// `h ->` where start points lie.
    pub mu: Linear,
    /// `h ->` how far they spread.
    pub kappa: Linear,
    /// `h -> drift coefficients`, in the shape of [`LatentConfig::drift_shape`].
    pub drift: Linear,
    /// Diffusion scale, `[1]`; its sign is without meaning.
    pub sigma: Param<Tensor<1>>,
    /// Drift coefficients of a learned prior.
    pub prior: Option<Param<Tensor<2>>>,
    #[module(skip)]
    latent: LatentConfig,
}

/// The parameters of the path processes of a batch.
#[derive(Clone, Debug)]
pub struct PathParameters {
    /// Where the start points lie, `[B, n]` on the sphere.
    pub location: Tensor<2>,
    /// How far they spread, `[B]`: on the sphere their concentrations.
    pub spread: Tensor<1>,
    /// Coefficients of the drift, `[B, m, K]` for polynomials and `[B, K, m]` for knots.
    pub drift: Tensor<3>,
    /// Diffusion scale, `[1]`.
    pub sigma: Tensor<1>,
    /// Coefficients of the prior's drift, in the same shape; `None` where it has none.
    pub prior: Option<Tensor<3>>,
}

const LARGEST_KAPPA: f64 = 50_000.0;
pub(crate) const KAPPA_SCALE: f64 = 100.0;
const SMALLEST_SIGMA: f64 = 1e-4;
/// Farthest mean start point on hyperbolic space.
const LARGEST_DISTANCE: f64 = 10.0;
/// Standard deviations of start points on hyperbolic space.
const SCALES: (f64, f64) = (1e-3, 2.0);
/// Where they begin: `exp(-2)`.
const SCALE_SHIFT: f64 = -2.0;

impl PathProcess {
    /// Initialises the map for representations of the given width.
    pub fn new(width: usize, latent: &LatentConfig, weights: &mut InitialWeights) -> Self {
        let shape = latent.drift_shape();
        let location = latent.space.start().location_dim(latent.dim);
        Self {
            mu: weights.linear(width, location),
            kappa: weights.linear(width, 1),
            drift: weights.linear(width, shape[0] * shape[1]),
            sigma: weights.constant([1], latent.sigma),
            // A prior that starts without drift is the driftless one until the data ask for more.
            prior: (latent.prior == PriorKind::Learned).then(|| weights.constant(shape, 0.0)),
            latent: *latent,
        }
    }

    /// The latent space.
    pub fn latent(&self) -> &LatentConfig {
        &self.latent
    }

    /// The process of the prior for so many series: the start of the prior, and its drift.
    pub fn prior(&self, series: usize) -> PathParameters {
        let weight = self.mu.weight.val();
        let options = (&weight.device(), weight.dtype());
        let (location, spread) = prior_start(self.latent.space, self.latent.dim, series, &weight);
        let [rows, columns] = self.latent.drift_shape();
        let prior = self.prior_coefficients(series);
        PathParameters {
            location,
            spread,
            drift: prior.clone().unwrap_or_else(|| Tensor::zeros([series, rows, columns], options)),
            sigma: self.scale(),
            prior,
        }
    }

    /// The diffusion scale, positive.
    fn scale(&self) -> Tensor<1> {
        positive(&self.sigma)
    }

    /// Drift coefficients of a learned prior for so many series.
    fn prior_coefficients(&self, series: usize) -> Option<Tensor<3>> {
        let [rows, columns] = self.latent.drift_shape();
        self.prior.as_ref().map(|prior| {
            let one = prior.val().unsqueeze_dim::<3>(0);
            one.expand([series, rows, columns])
        })
    }

    /// The parameters for representations `h` (`[B, width]`).
    pub fn parameters(&self, h: Tensor<2>) -> PathParameters {
        let series = h.dims()[0];
        let [rows, columns] = self.latent.drift_shape();
        let (location, spread) = (self.mu.forward(h.clone()), self.kappa.forward(h.clone()));
        let (location, spread) = match self.latent.space.start() {
            StartKind::PowerSpherical => power_spherical(location, spread),
            StartKind::WrappedNormal => wrapped_normal(location, spread),
        };
        PathParameters {
            location,
            spread: spread.reshape([series]),
            drift: self.drift.forward(h).reshape([series, rows, columns]),
            sigma: self.scale(),
            prior: self.prior_coefficients(series),
        }
    }
}

/// A diffusion scale from its parameter, whose sign is without meaning.
pub(super) fn positive(sigma: &Param<Tensor<1>>) -> Tensor<1> {
    sigma.val().abs().clamp_min(SMALLEST_SIGMA)
}

/// Mean directions and concentrations from the outputs of the heads.
pub(crate) fn power_spherical(location: Tensor<2>, spread: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
    let norm = location.clone().powi_scalar(2).sum_dim(1).sqrt().clamp_min(1e-12);
    let kappa = spread.powi_scalar(2).mul_scalar(KAPPA_SCALE);
    (location / norm, kappa.clamp_max(LARGEST_KAPPA))
}

/// Means and standard deviations in the tangent space at the origin.
fn wrapped_normal(location: Tensor<2>, spread: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
    let norm = location.clone().powi_scalar(2).sum_dim(1).add_scalar(1e-12).sqrt();
    let shrink = norm.clamp_min(LARGEST_DISTANCE).recip().mul_scalar(LARGEST_DISTANCE);
    let scale = spread.add_scalar(SCALE_SHIFT).clamp(SCALES.0.ln(), SCALES.1.ln()).exp();
    (location * shrink, scale)
}
