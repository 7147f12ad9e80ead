//! The scalar field: `f32` and `f64` behind one trait.

use std::fmt::{Debug, Display};
use std::iter::Sum;

use num_traits::{Float, FloatConst, NumAssign};

/// A real number of fixed precision: [`f32`] or [`f64`].
///
/// Everything in the geometry is written once over `Real`; the `f64` instance is what finite-difference
/// tests of the `f32` kernels are measured against.
///
/// ```
/// use stroock_geometry::Real;
/// fn unit_roundoff<T: Real>() -> T {
///     T::epsilon() * T::of(0.5)
/// }
/// assert_eq!(unit_roundoff::<f32>(), 2f32.powi(-24));
/// ```
pub trait Real:
    Float + FloatConst + NumAssign + Sum + Debug + Display + Default + Send + Sync + 'static
{
    /// The nearest number of this type to `x`.
    fn of(x: f64) -> Self;

    /// This number in double precision (exact).
    fn as_f64(self) -> f64;
}

impl Real for f32 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        x as f32
    }

    #[inline(always)]
    fn as_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        x
    }

    #[inline(always)]
    fn as_f64(self) -> f64 {
        self
    }
}
