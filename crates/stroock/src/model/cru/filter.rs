//! The learned linear SDE and its filter.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Int, Tensor, TensorData};

use super::{FilterConfig, FilterPoints, VarianceKind};
use crate::initial::InitialWeights;
use crate::latent::{FilterParameters, FilterPlan, KalmanError, TransitionKind, filter};

/// Variance of all coordinates at the first point of a series, to start from.
const INITIAL: f64 = 10.0;
/// Noise of the process, to start from.
const NOISE: f64 = 0.1;
/// Eigenvalues, to start from.
const EIGENVALUE: f64 = 1e-5;

/// The parameters of the filter: see [`stroock_kernels::kalman`].
#[derive(Module, Debug)]
pub struct KalmanFilter {
    /// Variances at the first point of a series, through softplus, `[2d]`.
    pub initial: Param<Tensor<1>>,
    /// Noise of the process, through its variance kind, `[2d]`.
    pub noise: Param<Tensor<1>>,
    /// Mean to the logits of the mixture, `2d -> K`.
    pub mixture: Linear,
    /// What is mixed, `[K, C]`.
    pub coefficients: Param<Tensor<2>>,
    /// The entries below the diagonal of a skew matrix whose exponential is the basis, `[d (2d - 1)]`.
    pub rotation: Option<Param<Tensor<1>>>,
    #[module(skip)]
    config: FilterConfig,
}

impl KalmanFilter {
    /// Initialises the filter as published: a state that does not move, the same for all sets.
    pub fn new(config: FilterConfig, weights: &mut InitialWeights) -> Self {
        let FilterConfig { half, sets, transition, noise, .. } = config;
        let n = 2 * half;
        let (start, rotation) = match transition {
            TransitionKind::Banded { .. } => (0.0, None),
            TransitionKind::Eigenvalues => (EIGENVALUE, Some(weights.constant([half * (2 * half - 1)], 0.0))),
        };
        Self {
            initial: weights.constant([n], VarianceKind::Softplus.number(INITIAL)),
            noise: weights.constant([n], noise.number(NOISE)),
            mixture: weights.linear(n, sets),
            coefficients: weights.constant([sets, transition.coefficients(half)], start),
            rotation,
            config,
        }
    }

    /// The choices that it was made with.
    pub fn config(&self) -> &FilterConfig {
        &self.config
    }

    /// The orthogonal basis `[2d, 2d]` of the eigenvalues, where there is one: the exponential of a skew matrix.
    pub fn basis(&self) -> Option<Tensor<2>> {
        let rotation = self.rotation.as_ref()?.val();
        let (n, options) = (2 * self.config.half, (&rotation.device(), rotation.dtype()));
        let entries = rotation.dims()[0];
        // Entry (i, j) below the diagonal has the place i (i - 1) / 2 + j; what is above it follows after all of them,
        // and then comes a zero.
        let place = |i: usize, j: usize| match i.cmp(&j) {
            std::cmp::Ordering::Greater => i * (i - 1) / 2 + j,
            std::cmp::Ordering::Less => entries + j * (j - 1) / 2 + i,
            std::cmp::Ordering::Equal => 2 * entries,
        };
        let places: Vec<i64> = (0..n * n).map(|entry| place(entry / n, entry % n) as i64).collect();
        let places = Tensor::<1, Int>::from_data(TensorData::new(places, [n * n]), options.0);
        let all = Tensor::cat(vec![rotation.clone(), rotation.neg(), Tensor::zeros([1], options)], 0);
        Some(exponential(all.select(0, places).reshape([n, n])))
    }

    /// Beliefs at all points, `[P, 5d]`, from the observations at the observed ones, `[N, 2d]`.
    ///
    /// # Errors
    /// When points and observations do not fit, or a belief is not finite.
    pub fn beliefs(&self, points: &FilterPoints, observations: Tensor<2>) -> Result<Tensor<2>, KalmanError> {
        let FilterConfig { half, transition, noise, time_scale, .. } = self.config;
        let plan = FilterPlan {
            half,
            transition,
            offsets: points.offsets.clone(),
            gaps: points.gaps.iter().map(|gap| gap * time_scale).collect(),
            observed: points.observed.clone(),
        };
        let weights = self.mixture.weight.val();
        let biases = match &self.mixture.bias {
            Some(bias) => bias.val(),
            None => Tensor::zeros([weights.dims()[1]], (&weights.device(), weights.dtype())),
        };
        let parameters = FilterParameters {
            initial: VarianceKind::Softplus.apply(self.initial.val()),
            noise: noise.apply(self.noise.val()),
            weights,
            biases,
            coefficients: self.coefficients.val(),
            basis: self.basis(),
        };
        filter(plan, observations, parameters)
    }

    /// The mean, `[M, 2d]`, and the variances and covariances, `[M, 3d]`, of beliefs `[M, 5d]`.
    pub fn parts(&self, beliefs: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let half = self.config.half;
        (beliefs.clone().narrow(1, 0, 2 * half), beliefs.narrow(1, 2 * half, 3 * half))
    }
}

/// Halvings and summands of the exponential: exact to rounding for matrices of norms up to 16.
const HALVINGS: usize = 5;
const TERMS: usize = 14;

/// `e^X` by its power series at `X / 2^5`, squared back.
///
/// What is squared is `Y = e^X - I`, by `2 Y + Y Y`: beside ones, the digits of small entries would be rounded off, and every
/// square would double what is lost. The basis of a filter is used at every gap, so that it must be orthogonal to rounding.
fn exponential(matrix: Tensor<2>) -> Tensor<2> {
    let [n, _] = matrix.dims();
    let part = matrix.mul_scalar(0.5f64.powi(HALVINGS as i32));
    let identity = Tensor::<2>::eye(n, &part.device()).cast(part.dtype());
    // X (I + X / 2 (I + X / 3 (...))).
    let sum = (2..=TERMS).rev().fold(identity.clone(), |sum, k| {
        identity.clone() + part.clone().matmul(sum).mul_scalar(1.0 / k as f64)
    });
    let less_one = (0..HALVINGS).fold(part.matmul(sum), |less_one, _| {
        less_one.clone().mul_scalar(2.0) + less_one.clone().matmul(less_one)
    });
    identity + less_one
}
