//! The punctured vector space under all invertible matrices.

use super::HomogeneousSpace;
use super::linear_algebra::{dot, multiply, reciprocal_condition, square_matrix};
use crate::error::ensure_noise;
use crate::{GeometryError, Real, ensure_finite, ensure_length};

/// `R^n` without the origin under the general linear group `GL(n)` (the paper's Appendix, "SDEs in
/// quadratic matrix Lie groups").
///
/// The basis of `gl(n)`, `m = n^2`, runs row by row over the full matrix: `E_k` has a single 1 at
/// `(k / n, k % n)`, so the coefficients of a matrix are its entries.
///
/// ```
/// use stroock_geometry::{GeneralLinear, HomogeneousSpace};
/// let space = GeneralLinear::new(2)?;
/// let mut moved = [0.0; 2];
/// space.exponential_action(&[1.0, 0.0, 0.0, -1.0], &[1.0, 1.0], &mut moved)?;
/// assert!((moved[0] - 1f64.exp()).abs() < 1e-15 && (moved[1] - (-1f64).exp()).abs() < 1e-15);
/// # Ok::<(), stroock_geometry::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct GeneralLinear {
    n: usize,
}

impl GeneralLinear {
    /// The group of all invertible `n x n` matrices.
    ///
    /// # Errors
    /// [`GeometryError::DimensionTooSmall`] when `n < 2`: the line without the origin falls in two halves,
    /// which no continuous motion connects.
    pub fn new(n: usize) -> Result<Self, GeometryError> {
        if n < 2 {
            return Err(GeometryError::DimensionTooSmall { minimum: 2, actual: n });
        }
        Ok(Self { n })
    }

    /// The dimension `n` of the ambient `R^n`.
    pub fn ambient_dim(&self) -> usize {
        self.n
    }

    /// The dimension `n^2` of `gl(n)`.
    pub fn algebra_dim(&self) -> usize {
        self.n * self.n
    }
}

impl<T: Real> HomogeneousSpace<T> for GeneralLinear {
    fn ambient_dim(&self) -> usize {
        self.n
    }

    fn algebra_dim(&self) -> usize {
        GeneralLinear::algebra_dim(self)
    }

    fn matrix(&self, coefficients: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        ensure_length("coefficients", coefficients, self.n * self.n)?;
        ensure_length("out", out, self.n * self.n)?;
        out.copy_from_slice(coefficients);
        Ok(())
    }

    /// Zero, but infinite at the origin.
    fn membership_residual(&self, z: &[T]) -> Result<T, GeometryError> {
        ensure_length("z", z, self.n)?;
        ensure_finite("z", z)?;
        let origin = z.iter().all(|&z_i| z_i == T::zero());
        Ok(if origin { T::infinity() } else { T::zero() })
    }

    /// Zero, but infinite for matrices that are singular up to rounding.
    fn group_residual(&self, g: &[T]) -> Result<T, GeometryError> {
        ensure_length("g", g, self.n * self.n)?;
        ensure_finite("g", g)?;
        let singular =
            reciprocal_condition(&square_matrix(self.n, g)) <= self.n as f64 * T::epsilon().as_f64();
        Ok(if singular { T::infinity() } else { T::zero() })
    }

    fn matrix_pullback(&self, matrix_cotangent: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        ensure_length("matrix_cotangent", matrix_cotangent, self.n * self.n)?;
        self.matrix(matrix_cotangent, out)
    }

    fn project_to_algebra(&self, matrix: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        ensure_length("matrix", matrix, self.n * self.n)?;
        ensure_finite("matrix", matrix)?;
        self.matrix(matrix, out)
    }

    fn infinitesimal_action(&self, coefficients: &[T], z: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        ensure_length("coefficients", coefficients, self.n * self.n)?;
        ensure_length("z", z, self.n)?;
        ensure_length("out", out, self.n)?;
        multiply(coefficients, z, T::one(), out);
        Ok(())
    }

    /// `sigma^2/2 z`: of the squares of the basis only `E_ii^2 = E_ii` are not zero.
    fn pinning_drift(&self, sigma: T, z: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        ensure_length("z", z, self.n)?;
        ensure_length("out", out, self.n)?;
        for (drift, &z_i) in out.iter_mut().zip(z) {
            *drift = T::of(0.5) * sigma * sigma * z_i;
        }
        Ok(())
    }

    /// `sigma^2 |z|^2 I`.
    fn diffusion_matrix(&self, sigma: T, z: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        ensure_length("z", z, self.n)?;
        ensure_length("out", out, self.n * self.n)?;
        out.fill(T::zero());
        let scale = sigma * sigma * dot(z, z);
        out.iter_mut().step_by(self.n + 1).for_each(|diagonal| *diagonal = scale);
        Ok(())
    }

    /// `v/(sigma^2 |z|^2)`.
    fn diffusion_pseudo_inverse(
        &self,
        sigma: T,
        z: &[T],
        v: &[T],
        out: &mut [T],
    ) -> Result<(), GeometryError> {
        ensure_length("z", z, self.n)?;
        ensure_length("v", v, self.n)?;
        ensure_length("out", out, self.n)?;
        ensure_noise(sigma)?;
        ensure_finite("z", z)?;
        ensure_finite("v", v)?;
        let squared_length = dot(z, z);
        if squared_length == T::zero() {
            return Err(GeometryError::ZeroVector { argument: "z" });
        }
        for (weighted, &v_i) in out.iter_mut().zip(v) {
            *weighted = v_i / (sigma * sigma * squared_length);
        }
        Ok(())
    }
}
