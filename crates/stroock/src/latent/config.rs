//! The choices about a latent path: space, drift, prior, divergence.

use serde::{Deserialize, Serialize};
use stroock_kernels::path::{Memory, Scheme, Space};
use thiserror::Error;

use super::{PathDrift, PathGrid};

/// How the drift of the posterior depends on time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DriftKind {
    /// Not at all.
    Constant,
    /// Through Chebyshev polynomials `T_0 .. T_{terms - 1}` on an interval of model time.
    Chebyshev {
        /// Number of polynomials.
        #[serde(default = "usual_terms")]
        terms: usize,
        /// Model times that are taken to 0 and 1.
        #[serde(default = "usual_interval")]
        interval: (f64, f64),
    },
    /// Straight lines between equally spaced knots, constant before the first and after the last.
    PiecewiseLinear {
        /// Number of knots, 2 at least.
        #[serde(default = "usual_knots")]
        knots: usize,
        /// Model times of the first and the last knot.
        #[serde(default = "unit_interval")]
        interval: (f64, f64),
    },
}

fn usual_terms() -> usize {
    6
}

fn usual_interval() -> (f64, f64) {
    (0.0, 2.0)
}

fn usual_knots() -> usize {
    11
}

fn unit_interval() -> (f64, f64) {
    (0.0, 1.0)
}

/// The process that paths are compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriorKind {
    /// Brownian motion on the space, without drift.
    #[default]
    Driftless,
    /// A drift of the form of the posterior's, learned, the same for all series. The start stays uniform.
    Learned,
}

/// How the divergence of the path from its prior is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DivergenceKind {
    /// Along the simulated paths, `1/(2 sigma^2) sum_j |(K_j - P_j) z_j|^2 dt_j`.
    #[default]
    MonteCarlo,
    /// Its upper bound on the sphere, `1/(4 sigma^2) sum_j |K_j - P_j|_F^2 dt_j`, which does not depend on the path.
    FrobeniusBound,
}

/// The latent space and the process of paths in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LatentConfig {
    /// Homogeneous space.
    pub space: Space,
    /// Ambient dimension `n`.
    pub dim: usize,
    /// Drift of the posterior.
    pub drift: DriftKind,
    /// Process that the posterior is compared with.
    pub prior: PriorKind,
    /// How the divergence is computed.
    pub divergence: DivergenceKind,
    /// Diffusion scale that training starts from.
    pub sigma: f64,
    /// What a path keeps for its backward pass.
    pub memory: Memory,
    /// How a path is taken one step on.
    pub scheme: Scheme,
}

impl Default for LatentConfig {
    /// The paper's: `S^15`, six polynomials, driftless prior.
    fn default() -> Self {
        Self {
            space: Space::Sphere,
            dim: 16,
            drift: DriftKind::Chebyshev { terms: usual_terms(), interval: usual_interval() },
            prior: PriorKind::Driftless,
            divergence: DivergenceKind::MonteCarlo,
            sigma: 0.1,
            memory: Memory::Stored,
            scheme: Scheme::GeometricEuler,
        }
    }
}

/// Why the choices about a latent path are invalid.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum LatentConfigError {
    /// The dimension is too small.
    #[error("`latent.dim` is {dim}; a path needs at least {least} dimensions there")]
    Dimension {
        /// Given dimension.
        dim: usize,
        /// Smallest one.
        least: usize,
    },
    /// The drift has no polynomials, too few knots or no interval.
    #[error("`latent.drift` needs at least one polynomial, or two knots, and an interval that increases")]
    Drift,
    /// The diffusion scale is not positive.
    #[error("`latent.sigma` is {sigma}; it must be positive and finite")]
    Sigma {
        /// Given scale.
        sigma: f64,
    },
    /// The bound of the divergence holds on the sphere only.
    #[error("`latent.divergence = \"frobenius-bound\"` holds on the sphere only; use \"monte-carlo\"")]
    Bound,
    /// The bound of the divergence is a formula for polynomials.
    #[error("`latent.divergence = \"frobenius-bound\"` needs a drift of polynomials; use \"monte-carlo\"")]
    BoundOfDrift,
    /// Steered paths are on the sphere, and their prior has no drift.
    #[error(
        "`latent.scheme = \"steered\"` goes with `latent.space = \"sphere\"`, `latent.prior = \"driftless\"` and `latent.divergence = \"monte-carlo\"`"
    )]
    Steered,
    /// Steps of the scheme cannot be taken back.
    #[error(
        "`latent.memory = \"reversible\"` does not go with `latent.scheme`, whose steps cannot be taken back; use \"stored\""
    )]
    Memory,
}

impl LatentConfig {
    /// Checks the choices against each other.
    ///
    /// # Errors
    /// When one of them is invalid, or two exclude each other.
    pub fn check(&self) -> Result<(), LatentConfigError> {
        if self.dim < 2 {
            return Err(LatentConfigError::Dimension { dim: self.dim, least: 2 });
        }
        let (start, end) = self.interval();
        let least = if let DriftKind::PiecewiseLinear { .. } = self.drift { 2 } else { 1 };
        if self.terms() < least || !(start < end && start.is_finite() && end.is_finite()) {
            return Err(LatentConfigError::Drift);
        }
        if !(self.sigma > 0.0 && self.sigma.is_finite()) {
            return Err(LatentConfigError::Sigma { sigma: self.sigma });
        }
        if self.memory == Memory::Reversible && !self.scheme.reverses() {
            return Err(LatentConfigError::Memory);
        }
        let plain = (Space::Sphere, PriorKind::Driftless, DivergenceKind::MonteCarlo);
        if self.scheme.is_steered() && (self.space, self.prior, self.divergence) != plain {
            return Err(LatentConfigError::Steered);
        }
        match (self.divergence, self.space, self.drift) {
            (DivergenceKind::MonteCarlo, ..) => Ok(()),
            (_, Space::Sphere, DriftKind::PiecewiseLinear { .. }) => Err(LatentConfigError::BoundOfDrift),
            (_, Space::Sphere, _) => Ok(()),
            _ => Err(LatentConfigError::Bound),
        }
    }

    /// What the coefficients of a drift stand for.
    pub fn drift(&self) -> PathDrift {
        let (start, end) = self.interval();
        match self.drift {
            DriftKind::Constant | DriftKind::Chebyshev { .. } => {
                PathDrift::Chebyshev { terms: self.terms(), interval: (start, end) }
            }
            DriftKind::PiecewiseLinear { knots, .. } => {
                let place = |i: usize| start + (end - start) * i as f64 / (knots - 1) as f64;
                PathDrift::PiecewiseLinear { knots: PathGrid::Shared((0..knots).map(place).collect()) }
            }
        }
    }

    /// The shape of the drift coefficients of a series.
    pub fn drift_shape(&self) -> [usize; 2] {
        match self.drift {
            DriftKind::Constant | DriftKind::Chebyshev { .. } => [self.drift_len(), self.terms()],
            DriftKind::PiecewiseLinear { .. } => [self.terms(), self.drift_len()],
        }
    }

    /// Numbers of a drift at a time: the dimension of the Lie algebra, or `n` for steered paths.
    pub fn drift_len(&self) -> usize {
        self.scheme.drift_len(self.space, self.dim)
    }

    /// Dimension `m` of the Lie algebra.
    pub fn algebra_dim(&self) -> usize {
        self.space.algebra_dim(self.dim)
    }

    /// Polynomials or knots of the drift.
    pub fn terms(&self) -> usize {
        match self.drift {
            DriftKind::Constant => 1,
            DriftKind::Chebyshev { terms, .. } => terms,
            DriftKind::PiecewiseLinear { knots, .. } => knots,
        }
    }

    /// The interval of the polynomials or knots; a constant drift may have any.
    pub fn interval(&self) -> (f64, f64) {
        match self.drift {
            DriftKind::Constant => (0.0, 1.0),
            DriftKind::Chebyshev { interval, .. } | DriftKind::PiecewiseLinear { interval, .. } => interval,
        }
    }
}
