//! What can be wrong with the arguments of a distribution.

use thiserror::Error;

use crate::Real;

/// An argument that a distribution on the sphere cannot accept.
///
/// ```
/// use stroock_geometry::distribution::{DistributionError, PowerSpherical};
///
/// let error = PowerSpherical::new(&[3.0, 4.0], 1.0).unwrap_err();
/// assert_eq!(error, DistributionError::NotUnit { argument: "mu", norm: 5.0 });
/// assert_eq!(error.to_string(), "mu must be a unit vector, but its norm is 5");
/// ```
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum DistributionError {
    /// The sphere S^{n-1} has a density only for n >= 2.
    #[error("the sphere needs an ambient dimension of at least 2, got {dimension}")]
    DimensionTooSmall {
        /// The ambient dimension n that was asked for.
        dimension: usize,
    },

    /// The concentration is negative, infinite or not a number.
    #[error("kappa must be finite and not negative, got {kappa}")]
    InvalidKappa {
        /// The concentration that was given.
        kappa: f64,
    },

    /// A vector holds an infinity or a NaN.
    #[error("{argument} must be finite, but {argument}[{index}] is {value}")]
    NotFinite {
        /// Name of the argument.
        argument: &'static str,
        /// Where the first such entry stands.
        index: usize,
        /// The entry.
        value: f64,
    },

    /// A vector that must lie on the sphere does not, beyond what rounding explains.
    #[error("{argument} must be a unit vector, but its norm is {norm}")]
    NotUnit {
        /// Name of the argument.
        argument: &'static str,
        /// Its Euclidean norm.
        norm: f64,
    },

    /// A slice is not as long as the ambient dimension.
    #[error("{argument} must have length {expected}, got {actual}")]
    LengthMismatch {
        /// Name of the argument.
        argument: &'static str,
        /// The ambient dimension n.
        expected: usize,
        /// The length that was given.
        actual: usize,
    },
}

/// How far from 1 the norm of a unit vector may be: generous for accumulated `f32` rounding, and far too
/// small for a vector that was never normalised.
const UNIT_TOLERANCE: f64 = 1e-3;

/// Checks the length of a slice against the ambient dimension.
pub(super) fn check_length<T>(
    argument: &'static str,
    slice: &[T],
    expected: usize,
) -> Result<(), DistributionError> {
    if slice.len() == expected {
        Ok(())
    } else {
        Err(DistributionError::LengthMismatch { argument, expected, actual: slice.len() })
    }
}

/// The norm of a vector that must be finite and, up to rounding, a unit vector.
pub(super) fn unit_norm<T: Real>(argument: &'static str, vector: &[T]) -> Result<f64, DistributionError> {
    if let Some((index, value)) = vector.iter().enumerate().find(|(_, x)| !x.is_finite()) {
        return Err(DistributionError::NotFinite { argument, index, value: value.as_f64() });
    }
    let norm = vector.iter().map(|x| x.as_f64() * x.as_f64()).sum::<f64>().sqrt();
    if (norm - 1.0).abs() <= UNIT_TOLERANCE {
        Ok(norm)
    } else {
        Err(DistributionError::NotUnit { argument, norm })
    }
}
