//! What can be wrong with an argument, and the two checks that every space shares.

use thiserror::Error;

use crate::Real;

/// Why a geometric operation refused its arguments: the argument's name and the offending values.
///
/// ```
/// use stroock_geometry::{GeometryError, Sphere};
/// assert_eq!(Sphere::new(1), Err(GeometryError::DimensionTooSmall { minimum: 2, actual: 1 }));
/// ```
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum GeometryError {
    /// The ambient dimension `n` leaves no group to act.
    #[error("the ambient dimension is {actual}, and must be at least {minimum}")]
    DimensionTooSmall {
        /// Smallest dimension that works.
        minimum: usize,
        /// The dimension given.
        actual: usize,
    },
    /// A symplectic form needs an even dimension.
    #[error("a symplectic form needs an even dimension, not {actual}")]
    OddDimension {
        /// The dimension given.
        actual: usize,
    },
    /// A slice has the wrong number of entries.
    #[error("`{argument}` has {actual} entries, and must have {expected}")]
    LengthMismatch {
        /// Name of the slice.
        argument: &'static str,
        /// Number of entries that the shapes ask for.
        expected: usize,
        /// Number of entries given.
        actual: usize,
    },
    /// An entry is infinite or not a number.
    #[error("`{argument}[{index}]` is {value}, and must be finite")]
    NonFinite {
        /// Name of the slice.
        argument: &'static str,
        /// Position in the slice.
        index: usize,
        /// The entry.
        value: f64,
    },
    /// A vector is zero where a direction is needed.
    #[error("`{argument}` is the zero vector, which has no direction")]
    ZeroVector {
        /// Name of the vector.
        argument: &'static str,
    },
    /// The form `P` of a quadratic group has no inverse.
    #[error("the form P is singular: its reciprocal condition number is {reciprocal_condition:e}")]
    SingularForm {
        /// Smallest singular value of `P` divided by the largest.
        reciprocal_condition: f64,
    },
    /// Only the zero matrix satisfies `V^T P + P V = 0`.
    #[error("the Lie algebra of the form P is zero: its group does not move any point")]
    EmptyAlgebra,
    /// No point but the origin satisfies `z^T P z = level`.
    #[error("no point z other than the origin satisfies z^T P z = {level}")]
    EmptyLevelSet {
        /// The level given.
        level: f64,
    },
    /// The matrices `E_k` that a space supplies are linearly dependent.
    #[error("the {algebra_dim} basis matrices of the Lie algebra are linearly dependent")]
    DependentBasis {
        /// Number `m` of basis matrices.
        algebra_dim: usize,
    },
    /// A matrix is not a combination of the basis `E_k`.
    #[error("the matrix is not in the Lie algebra: relative residual {residual:e} > {tolerance:e}")]
    NotInAlgebra {
        /// Distance to the Lie algebra, relative to the norm of the matrix.
        residual: f64,
        /// The largest residual that rounding explains.
        tolerance: f64,
    },
    /// A point is not on the space.
    #[error("the point is not on the space: residual {residual:e} > {tolerance:e}")]
    NotOnSpace {
        /// The point's membership residual.
        residual: f64,
        /// The largest residual accepted.
        tolerance: f64,
    },
    /// The exponential of so large a matrix has no correct digits, or overflows.
    #[error("the norm {norm:e} in the exponential is above {limit:e}, where rounding eats the result")]
    NormTooLarge {
        /// Bound of the 2-norm of the matrix.
        norm: f64,
        /// The largest norm accepted.
        limit: f64,
    },
    /// Without noise the diffusion matrix is zero, and the divergence of path distributions is infinite.
    #[error("the noise scale sigma is {sigma}, and must be finite and not zero")]
    VanishingNoise {
        /// The noise scale given.
        sigma: f64,
    },
    /// Time runs backwards.
    #[error("time step {index} is {value}, and must not be negative")]
    NegativeTimeStep {
        /// Number of the step.
        index: usize,
        /// Its length.
        value: f64,
    },
}

/// Checks that the slice called `argument` has `expected` entries.
///
/// ```
/// use stroock_geometry::ensure_length;
/// let error = ensure_length("z", &[1.0, 2.0], 3).unwrap_err();
/// assert_eq!(error.to_string(), "`z` has 2 entries, and must have 3");
/// ```
#[inline]
pub fn ensure_length<T>(argument: &'static str, slice: &[T], expected: usize) -> Result<(), GeometryError> {
    if slice.len() == expected {
        return Ok(());
    }
    Err(GeometryError::LengthMismatch { argument, expected, actual: slice.len() })
}

/// Checks that every entry of the slice called `argument` is finite.
///
/// ```
/// use stroock_geometry::ensure_finite;
/// let error = ensure_finite("z", &[1.0, f64::NAN]).unwrap_err();
/// assert_eq!(error.to_string(), "`z[1]` is NaN, and must be finite");
/// ```
#[inline]
pub fn ensure_finite<T: Real>(argument: &'static str, slice: &[T]) -> Result<(), GeometryError> {
    match slice.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(index) => Err(GeometryError::NonFinite { argument, index, value: slice[index].as_f64() }),
    }
}

/// Checks that a noise scale is finite and not zero.
pub(crate) fn ensure_noise<T: Real>(sigma: T) -> Result<(), GeometryError> {
    if sigma.is_finite() && sigma != T::zero() {
        return Ok(());
    }
    Err(GeometryError::VanishingNoise { sigma: sigma.as_f64() })
}
