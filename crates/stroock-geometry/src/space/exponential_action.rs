//! `exp(A) z` and its adjoint by Taylor series of matrix-vector products: `O(n^2)`, and `exp(A)` is
//! never built.
//!
//! `exp(A) = exp(A/s)^s`, with so many sub-steps `s` that `|A/s| <= 1`: no term of the series is then
//! larger than the result by more than a factor of `e`, and nothing cancels.

use super::linear_algebra::{multiply, multiply_transposed};
use crate::{GeometryError, Real, ensure_finite, ensure_length};

/// How `exp(A) z` is summed: `substeps` times `terms` products with `A`.
///
/// With `x = norm/substeps <= 1`, the number `K` of terms is the smallest with `x^K/K! <= u`, the unit
/// roundoff. This bounds the truncation of the derivative; that of the value is smaller by `x/(K + 1)`.
///
/// ```
/// use stroock_geometry::TaylorPlan;
/// assert_eq!(TaylorPlan::for_norm(1.0f64).unwrap(), TaylorPlan { substeps: 1, terms: 19 });
/// assert_eq!(TaylorPlan::for_norm(1.0f32).unwrap(), TaylorPlan { substeps: 1, terms: 11 });
/// assert_eq!(TaylorPlan::for_norm(2.5f64).unwrap().substeps, 3);
/// assert!(TaylorPlan::for_norm(f64::NAN).is_err());
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TaylorPlan {
    /// The number `s` of equal sub-steps.
    pub substeps: usize,
    /// The number `K` of terms after the identity.
    pub terms: usize,
}

impl TaylorPlan {
    /// The largest norm accepted. Rounding grows with the norm: here `f32` keeps two digits of a
    /// rotation, and anything larger in a model is a mistake that should be heard of.
    pub const LARGEST_NORM: f64 = 65_536.0;

    /// The cheapest plan whose truncation stays below the rounding of `T`, for `|A| <= norm`.
    ///
    /// # Errors
    /// [`GeometryError::NormTooLarge`] above [`Self::LARGEST_NORM`], or when `norm` is not a number.
    pub fn for_norm<T: Real>(norm: T) -> Result<Self, GeometryError> {
        let norm = norm.as_f64();
        if norm.is_nan() || norm > Self::LARGEST_NORM {
            return Err(GeometryError::NormTooLarge { norm, limit: Self::LARGEST_NORM });
        }
        let substeps = norm.ceil().max(1.0);
        let step_norm = norm / substeps;
        let unit_roundoff = 0.5 * T::epsilon().as_f64();
        // At least one term: the derivative at A = 0 is not zero.
        let (mut terms, mut bound) = (1, step_norm);
        while bound > unit_roundoff {
            terms += 1;
            bound *= step_norm / terms as f64;
        }
        Ok(Self { substeps: substeps as usize, terms })
    }

    /// The factor of term `k`, so that `w_k = factor A w_{k-1}`.
    fn factor<T: Real>(self, k: usize) -> T {
        T::one() / T::of((self.substeps * k) as f64)
    }
}

/// Writes `exp(A) z` to `out`, for a dense `matrix` `A` `[n, n]` in row-major order.
///
/// `norm_bound` is an upper bound of the 2-norm of `A`, for instance the Frobenius norm. In every
/// sub-step `w_0 = z`, `w_k = A w_{k-1} / (s k)`, and the new `z` is the sum of the `w_k`.
///
/// # Errors
/// On wrong lengths, on entries that are not finite, and on norms that are too large.
///
/// ```
/// use stroock_geometry::exponential_action;
/// let quarter_turn = std::f64::consts::FRAC_PI_2;
/// let mut out = [0.0; 2];
/// exponential_action(&[0.0, -quarter_turn, quarter_turn, 0.0], quarter_turn, &[1.0, 0.0], &mut out)?;
/// assert!(out[0].abs() < 1e-15 && (out[1] - 1.0).abs() < 1e-15);
/// # Ok::<(), stroock_geometry::GeometryError>(())
/// ```
pub fn exponential_action<T: Real>(
    matrix: &[T],
    norm_bound: T,
    z: &[T],
    out: &mut [T],
) -> Result<(), GeometryError> {
    let plan = checked_plan(matrix, norm_bound, z)?;
    ensure_length("out", out, z.len())?;
    let mut terms = vec![T::zero(); (plan.terms + 1) * z.len()];
    out.copy_from_slice(z);
    for _ in 0..plan.substeps {
        write_terms(matrix, plan, out, &mut terms);
        add_terms(&terms, out);
    }
    // Finite arguments overflow where the group is not compact.
    ensure_finite("exp(A) z", out)
}

/// The adjoint of [`exponential_action`]: from `cotangent = dL/d(exp(A) z)` to `dL/dA` `[n, n]` and
/// `dL/dz` `[n]`, both overwritten.
///
/// In every sub-step, backwards, `v_K = a`, `v_{k-1} = a + A^T v_k / (s k)`, where `a` is the cotangent;
/// `dL/dA` gains the sum of `v_k w_{k-1}^T / (s k)`, and `v_0` is the cotangent of the step before.
///
/// # Errors
/// As [`exponential_action`].
///
/// ```
/// use stroock_geometry::exponential_action_pullback;
/// // At A = 0 the derivative is the first term: dL/dA = a z^T, dL/dz = a.
/// let (mut matrix_cotangent, mut z_cotangent) = ([0.0; 4], [0.0; 2]);
/// exponential_action_pullback(
///     &[0.0; 4], 0.0, &[1.0, 2.0], &[3.0, 5.0], &mut matrix_cotangent, &mut z_cotangent,
/// )?;
/// assert_eq!(matrix_cotangent, [3.0, 6.0, 5.0, 10.0]);
/// assert_eq!(z_cotangent, [3.0, 5.0]);
/// # Ok::<(), stroock_geometry::GeometryError>(())
/// ```
pub fn exponential_action_pullback<T: Real>(
    matrix: &[T],
    norm_bound: T,
    z: &[T],
    cotangent: &[T],
    matrix_cotangent: &mut [T],
    z_cotangent: &mut [T],
) -> Result<(), GeometryError> {
    let n = z.len();
    let plan = checked_plan(matrix, norm_bound, z)?;
    ensure_length("cotangent", cotangent, n)?;
    ensure_length("matrix_cotangent", matrix_cotangent, n * n)?;
    ensure_length("z_cotangent", z_cotangent, n)?;
    ensure_finite("cotangent", cotangent)?;

    let mut terms = vec![T::zero(); (plan.terms + 1) * n];
    let mut states = vec![T::zero(); plan.substeps * n];
    let mut state = z.to_vec();
    for slot in states.chunks_exact_mut(n) {
        slot.copy_from_slice(&state);
        write_terms(matrix, plan, slot, &mut terms);
        add_terms(&terms, &mut state);
    }

    matrix_cotangent.fill(T::zero());
    z_cotangent.copy_from_slice(cotangent);
    let (mut v, mut transported) = (z.to_vec(), z.to_vec());
    for state in states.rchunks_exact(n) {
        write_terms(matrix, plan, state, &mut terms);
        v.copy_from_slice(z_cotangent);
        for k in (1..=plan.terms).rev() {
            let (factor, w) = (plan.factor(k), &terms[(k - 1) * n..k * n]);
            for (row, &v_i) in matrix_cotangent.chunks_exact_mut(n).zip(&v) {
                for (entry, &w_j) in row.iter_mut().zip(w) {
                    *entry += factor * v_i * w_j;
                }
            }
            multiply_transposed(matrix, &v, factor, &mut transported);
            for ((v_i, &a), &t) in v.iter_mut().zip(z_cotangent.iter()).zip(&transported) {
                *v_i = a + t;
            }
        }
        z_cotangent.copy_from_slice(&v);
    }
    ensure_finite("z_cotangent", z_cotangent)
}

/// The terms `w_0 .. w_K` `[K + 1, n]` of one sub-step from `state`.
fn write_terms<T: Real>(matrix: &[T], plan: TaylorPlan, state: &[T], terms: &mut [T]) {
    let n = state.len();
    terms[..n].copy_from_slice(state);
    for k in 1..=plan.terms {
        let (known, next) = terms.split_at_mut(k * n);
        multiply(matrix, &known[(k - 1) * n..], plan.factor(k), &mut next[..n]);
    }
}

/// Adds `w_1 .. w_K` to `state`, which holds `w_0`; the smallest first, for the rounding's sake.
fn add_terms<T: Real>(terms: &[T], state: &mut [T]) {
    let n = state.len();
    let (_, tail) = terms.split_at(n);
    for (i, x) in state.iter_mut().enumerate() {
        *x += tail.iter().skip(i).step_by(n).rev().copied().sum::<T>();
    }
}

fn checked_plan<T: Real>(matrix: &[T], norm_bound: T, z: &[T]) -> Result<TaylorPlan, GeometryError> {
    if z.is_empty() {
        return Err(GeometryError::DimensionTooSmall { minimum: 1, actual: 0 });
    }
    ensure_length("matrix", matrix, z.len() * z.len())?;
    ensure_finite("matrix", matrix)?;
    ensure_finite("z", z)?;
    TaylorPlan::for_norm(norm_bound)
}
