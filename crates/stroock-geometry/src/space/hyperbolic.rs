//! Hyperbolic space under boosts and rotations.

use super::HomogeneousSpace;
use super::linear_algebra::{dot, norm, square_matrix, strictly_lower_triangle};
use crate::error::ensure_noise;
use crate::{GeometryError, Real, ensure_finite, ensure_length};

/// Hyperbolic space in the Lorentz model, `z = (z_0, x)` with `z_0^2 - |x|^2 = 1` and `z_0 > 0` in `R^n`, under the
/// group `SO(1, n-1)` of boosts and rotations that keep its sheet.
///
/// With `J = diag(-1, 1, .., 1)` the algebra is `J S` for skew `S`. The basis, `m = n(n-1)/2`, runs over the pairs
/// `i > j` row by row of the strictly lower triangle, as that of [`Sphere`](super::Sphere):
/// `E_k = J (e_i e_j^T - e_j e_i^T)`, a boost for `j = 0` and a rotation otherwise.
///
/// ```
/// use stroock_geometry::{HomogeneousSpace, Hyperbolic};
/// let plane = Hyperbolic::new(3)?;
/// let mut moved = [0.0; 3];
/// plane.exponential_action(&[0.5, 0.0, 0.0], &[1.0, 0.0, 0.0], &mut moved)?;
/// assert!((moved[0] - 0.5f64.cosh()).abs() < 1e-15 && (moved[1] - 0.5f64.sinh()).abs() < 1e-15);
/// # Ok::<(), stroock_geometry::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hyperbolic {
    n: usize,
}

impl Hyperbolic {
    /// Hyperbolic space of dimension `n - 1` in `R^n`.
    ///
    /// # Errors
    /// [`GeometryError::DimensionTooSmall`] when `n < 2`.
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

    /// The dimension `n(n-1)/2` of `so(1, n-1)`.
    pub fn algebra_dim(&self) -> usize {
        self.n * (self.n - 1) / 2
    }

    /// Moves `z` `[n]` to the point above the same `x`, `z_0 = sqrt(1 + |x|^2)`.
    ///
    /// ```
    /// use stroock_geometry::Hyperbolic;
    /// let mut z = [0.0, 0.75, 0.0];
    /// Hyperbolic::new(3)?.project(&mut z)?;
    /// assert_eq!(z, [1.25, 0.75, 0.0]);
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// On wrong lengths and on entries that are not finite.
    pub fn project<T: Real>(&self, z: &mut [T]) -> Result<(), GeometryError> {
        ensure_length("z", z, self.n)?;
        ensure_finite("z", z)?;
        z[0] = norm(&z[1..]).hypot(T::one());
        Ok(())
    }
}

/// The diagonal of `J`.
fn sign<T: Real>(i: usize) -> T {
    if i == 0 { -T::one() } else { T::one() }
}

impl<T: Real> HomogeneousSpace<T> for Hyperbolic {
    fn ambient_dim(&self) -> usize {
        self.n
    }

    fn algebra_dim(&self) -> usize {
        Hyperbolic::algebra_dim(self)
    }

    fn matrix(&self, coefficients: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        let n = self.n;
        ensure_length("coefficients", coefficients, Hyperbolic::algebra_dim(self))?;
        ensure_length("out", out, n * n)?;
        for i in 0..n {
            out[i * n + i] = T::zero();
        }
        for ((i, j), &c) in strictly_lower_triangle(n).zip(coefficients) {
            out[i * n + j] = c;
            out[j * n + i] = -sign::<T>(j) * c;
        }
        Ok(())
    }

    /// `|z_0 - sqrt(1 + |x|^2)|`, relative to the latter.
    fn membership_residual(&self, z: &[T]) -> Result<T, GeometryError> {
        ensure_length("z", z, self.n)?;
        ensure_finite("z", z)?;
        let expected = norm(&z[1..]).hypot(T::one());
        Ok((z[0] - expected).abs() / expected)
    }

    /// The larger of `|G^T J G - J|_F` and `|det G - 1|`; infinite where the sheets are swapped.
    fn group_residual(&self, g: &[T]) -> Result<T, GeometryError> {
        ensure_length("g", g, self.n * self.n)?;
        ensure_finite("g", g)?;
        if g[0] <= T::zero() {
            return Ok(T::infinity());
        }
        let g = square_matrix(self.n, g);
        let mut turned = g.clone();
        turned.row_mut(0).neg_mut();
        let mut defect = g.tr_mul(&turned);
        for i in 0..self.n {
            defect[(i, i)] -= sign::<f64>(i);
        }
        Ok(T::of(defect.norm().max((g.determinant() - 1.0).abs())))
    }

    /// `|A|_F/sqrt(2)`: `J` keeps lengths, and the singular values of a skew matrix come in pairs.
    fn operator_norm_bound(&self, matrix: &[T]) -> T {
        norm(matrix) * T::FRAC_1_SQRT_2()
    }

    fn matrix_pullback(&self, matrix_cotangent: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        let n = self.n;
        ensure_length("matrix_cotangent", matrix_cotangent, n * n)?;
        ensure_length("out", out, Hyperbolic::algebra_dim(self))?;
        for ((i, j), gradient) in strictly_lower_triangle(n).zip(out) {
            *gradient = matrix_cotangent[i * n + j] - sign::<T>(j) * matrix_cotangent[j * n + i];
        }
        Ok(())
    }

    fn project_to_algebra(&self, matrix: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        ensure_finite("matrix", matrix)?;
        // The basis matrices are orthogonal and of norm sqrt(2).
        self.matrix_pullback(matrix, out)?;
        out.iter_mut().for_each(|c| *c *= T::of(0.5));
        Ok(())
    }

    fn infinitesimal_action(&self, coefficients: &[T], z: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        ensure_length("coefficients", coefficients, Hyperbolic::algebra_dim(self))?;
        ensure_length("z", z, self.n)?;
        ensure_length("out", out, self.n)?;
        out.fill(T::zero());
        for ((i, j), &c) in strictly_lower_triangle(self.n).zip(coefficients) {
            out[i] += c * z[j];
            out[j] -= sign::<T>(j) * c * z[i];
        }
        Ok(())
    }

    /// `sigma^2/2 (z - (n - 2) J z)`.
    fn pinning_drift(&self, sigma: T, z: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        ensure_length("z", z, self.n)?;
        ensure_length("out", out, self.n)?;
        let (rate, turned) = (T::of(0.5) * sigma * sigma, T::of(self.n as f64 - 2.0));
        for (i, (drift, &z_i)) in out.iter_mut().zip(z).enumerate() {
            *drift = rate * (z_i - turned * sign::<T>(i) * z_i);
        }
        Ok(())
    }

    /// `sigma^2 (|z|^2 I - (J z)(J z)^T)`, with the Euclidean length.
    fn diffusion_matrix(&self, sigma: T, z: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        let n = self.n;
        ensure_length("z", z, n)?;
        ensure_length("out", out, n * n)?;
        let variance = sigma * sigma;
        for (i, row) in out.chunks_exact_mut(n).enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = -variance * sign::<T>(i) * z[i] * sign::<T>(j) * z[j];
            }
        }
        let scale = variance * dot(z, z);
        for i in 0..n {
            out[i * n + i] += scale;
        }
        Ok(())
    }

    /// The part of `v` across `J z`, divided by `sigma^2 |z|^2`.
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
        let along = (dot(z, v) - T::of(2.0) * z[0] * v[0]) / squared_length;
        for (i, (weighted, &v_i)) in out.iter_mut().zip(v).enumerate() {
            *weighted = (v_i - along * sign::<T>(i) * z[i]) / (sigma * sigma * squared_length);
        }
        Ok(())
    }
}
