//! The choices about a latent path: space, drift, prior, divergence.

use serde::{Deserialize, Serialize};
use stroock_kernels::path::{Memory, Space};
use thiserror::Error;

/// The homogeneous space that paths live on, and the group that moves them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpaceKind {
    /// The sphere `S^{n-1}` under rotations.
    #[default]
    Sphere,
    /// `R^n` without the origin under `GL(n)`; paths start on the unit sphere.
    GeneralLinear,
}

/// How the drift of the posterior depends on time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DriftKind {
    /// Not at all.
    Constant,
    /// Through Chebyshev polynomials `T_0 .. T_{terms - 1}` on an interval of model time.
    Chebyshev {
        /// Number of polynomials.
        terms: usize,
        /// Model times that are taken to 0 and 1.
        interval: (f64, f64),
    },
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

/// What a path keeps for its backward pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryKind {
    /// Every state.
    #[default]
    Stored,
    /// The last state only: memory does not grow with the number of steps.
    Reversible,
}

/// The latent space and the process of paths in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LatentConfig {
    /// Homogeneous space.
    pub space: SpaceKind,
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
    pub memory: MemoryKind,
}

impl Default for LatentConfig {
    /// The paper's: `S^15`, six polynomials, driftless prior.
    fn default() -> Self {
        Self {
            space: SpaceKind::Sphere,
            dim: 16,
            drift: DriftKind::Chebyshev { terms: 6, interval: (0.0, 2.0) },
            prior: PriorKind::Driftless,
            divergence: DivergenceKind::MonteCarlo,
            sigma: 0.1,
            memory: MemoryKind::Stored,
        }
    }
}

/// Why a latent space cannot be.
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
    /// The drift has no polynomials or no interval.
    #[error("`latent.drift` needs at least one polynomial and an interval that increases")]
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
}

impl LatentConfig {
    /// Checks the choices against each other.
    ///
    /// # Errors
    /// When one of them cannot be.
    pub fn check(&self) -> Result<(), LatentConfigError> {
        if self.dim < 2 {
            return Err(LatentConfigError::Dimension { dim: self.dim, least: 2 });
        }
        let (start, end) = self.interval();
        if self.terms() == 0 || !(start < end && start.is_finite() && end.is_finite()) {
            return Err(LatentConfigError::Drift);
        }
        if !(self.sigma > 0.0 && self.sigma.is_finite()) {
            return Err(LatentConfigError::Sigma { sigma: self.sigma });
        }
        match (self.space, self.divergence) {
            (SpaceKind::GeneralLinear, DivergenceKind::FrobeniusBound) => Err(LatentConfigError::Bound),
            _ => Ok(()),
        }
    }

    /// The space of the kernels.
    pub fn space(&self) -> Space {
        match self.space {
            SpaceKind::Sphere => Space::Sphere,
            SpaceKind::GeneralLinear => Space::GeneralLinear,
        }
    }

    /// The space in words, such as `sphere in R^16`.
    pub fn space_in_words(&self) -> String {
        match self.space {
            SpaceKind::Sphere => format!("sphere in R^{}", self.dim),
            SpaceKind::GeneralLinear => format!("R^{} without the origin, under GL({})", self.dim, self.dim),
        }
    }

    /// The memory of the kernels.
    pub fn memory(&self) -> Memory {
        match self.memory {
            MemoryKind::Stored => Memory::Stored,
            MemoryKind::Reversible => Memory::Reversible,
        }
    }

    /// Dimension `m` of the Lie algebra.
    pub fn algebra_dim(&self) -> usize {
        self.space().algebra_dim(self.dim)
    }

    /// Polynomials of the drift.
    pub fn terms(&self) -> usize {
        match self.drift {
            DriftKind::Constant => 1,
            DriftKind::Chebyshev { terms, .. } => terms,
        }
    }

    /// The interval of the polynomials; a constant drift may have any.
    pub fn interval(&self) -> (f64, f64) {
        match self.drift {
            DriftKind::Constant => (0.0, 1.0),
            DriftKind::Chebyshev { interval, .. } => interval,
        }
    }
}
