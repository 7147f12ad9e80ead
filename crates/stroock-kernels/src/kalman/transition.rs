//! What a filter asks of the equation between two points.

use crate::simd::Lanes;

/// The prediction of a belief over a gap, and its adjoint by replay: [`pull_back`](Predict::pull_back) belongs to the
/// prediction just made.
///
/// With the coefficients of the drift matrix `A`, mean and covariance `S` after the gap `t` are
///
/// ```text
/// e^{A t} m,   e^{A t} S e^{A' t} + int_0^t e^{A v} diag(q) e^{A' v} dv,
/// ```
///
/// of which a belief keeps the diagonals of the four blocks.
pub(super) trait Predict<V: Lanes> {
    /// The belief `to` after a gap, from the belief `from`.
    fn predict(&mut self, coefficients: &[V::Real], gap: V::Real, from: &[V::Real], to: &mut [V::Real]);

    /// Sets the cotangent of `from` to what the cotangent `of_to` makes of it, writes that of the coefficients, and
    /// keeps those of everything that all steps share.
    fn pull_back(
        &mut self,
        from: &[V::Real],
        of_to: &[V::Real],
        of_from: &mut [V::Real],
        of_coefficients: &mut [V::Real],
    );

    /// The gradients of the noise, `[2d]`, and of the basis, `[2d, 2d]` or empty where there is none.
    fn finish(self) -> (Vec<V::Real>, Vec<V::Real>);
}
