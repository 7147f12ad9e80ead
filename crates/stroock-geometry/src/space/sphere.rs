//! The unit sphere under rotations.

use super::HomogeneousSpace;
use super::linear_algebra::{dot, norm, square_matrix, strictly_lower_triangle};
use crate::error::ensure_noise;
use crate::{GeometryError, Real, ensure_finite, ensure_length};

/// The unit sphere `S^{n-1} = {z in R^n : |z| = 1}` under the rotations `SO(n)` (the paper's Section 3.3).
///
/// The basis of `so(n)`, `m = n(n-1)/2`, runs over the pairs `i > j` row by row of the strictly lower
/// triangle, (1,0), (2,0), (2,1), (3,0) ...: `E_k = e_i e_j^T - e_j e_i^T`.
///
/// ```
/// use stroock_geometry::Sphere;
/// let sphere = Sphere::new(16)?;
/// assert_eq!((sphere.ambient_dim(), sphere.algebra_dim()), (16, 120));
/// # Ok::<(), stroock_geometry::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sphere {
    n: usize,
}

impl Sphere {
    /// The unit sphere of `R^n`.
    ///
    /// # Errors
    /// [`GeometryError::DimensionTooSmall`] when `n < 2`: two points do not rotate.
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

    /// The dimension `n(n-1)/2` of `so(n)`.
    pub fn algebra_dim(&self) -> usize {
        self.n * (self.n - 1) / 2
    }

    /// Moves `z` `[n]` to the nearest point `z/|z|` of the sphere.
    ///
    /// ```
    /// use stroock_geometry::Sphere;
    /// let mut z = [3e200f64, 4e200];
    /// Sphere::new(2)?.project(&mut z)?;
    /// assert!((z[0] - 0.6).abs() < 1e-15 && (z[1] - 0.8).abs() < 1e-15);
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// On wrong lengths, on entries that are not finite, and on the zero vector.
    pub fn project<T: Real>(&self, z: &mut [T]) -> Result<(), GeometryError> {
        ensure_length("z", z, self.n)?;
        ensure_finite("z", z)?;
        let largest = z.iter().fold(T::zero(), |largest, x| largest.max(x.abs()));
        if largest == T::zero() {
            return Err(GeometryError::ZeroVector { argument: "z" });
        }
        // Twice: the squares of the largest and the smallest numbers leave the range of T.
        z.iter_mut().for_each(|x| *x /= largest);
        let length = norm(z);
        z.iter_mut().for_each(|x| *x /= length);
        Ok(())
    }

    /// The part `v - z (z^T v)/|z|^2` `[n]` of `v` `[n]` that is tangent to the sphere at `z` `[n]`.
    ///
    /// ```
    /// use stroock_geometry::Sphere;
    /// let mut tangent = [0.0; 2];
    /// Sphere::new(2)?.tangent(&[1.0, 0.0], &[5.0, 7.0], &mut tangent)?;
    /// assert_eq!(tangent, [0.0, 7.0]);
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// On wrong lengths and at the zero vector.
    pub fn tangent<T: Real>(&self, z: &[T], v: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        ensure_length("z", z, self.n)?;
        ensure_length("v", v, self.n)?;
        ensure_length("out", out, self.n)?;
        let squared_length = dot(z, z);
        if squared_length == T::zero() {
            return Err(GeometryError::ZeroVector { argument: "z" });
        }
        let radial = dot(z, v) / squared_length;
        for ((t, &v_i), &z_i) in out.iter_mut().zip(v).zip(z) {
            *t = v_i - radial * z_i;
        }
        Ok(())
    }
}

impl<T: Real> HomogeneousSpace<T> for Sphere {
    fn ambient_dim(&self) -> usize {
        self.n
    }

    fn algebra_dim(&self) -> usize {
        Sphere::algebra_dim(self)
    }

    fn matrix(&self, coefficients: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        let n = self.n;
        ensure_length("coefficients", coefficients, Sphere::algebra_dim(self))?;
        ensure_length("out", out, n * n)?;
        for i in 0..n {
            out[i * n + i] = T::zero();
        }
        for ((i, j), &c) in strictly_lower_triangle(n).zip(coefficients) {
            out[i * n + j] = c;
            out[j * n + i] = -c;
        }
        Ok(())
    }

    /// The distance `| |z| - 1 |`.
    fn membership_residual(&self, z: &[T]) -> Result<T, GeometryError> {
        ensure_length("z", z, self.n)?;
        ensure_finite("z", z)?;
        Ok((norm(z) - T::one()).abs())
    }

    /// The larger of `|G^T G - I|_F` and `|det G - 1|`.
    fn group_residual(&self, g: &[T]) -> Result<T, GeometryError> {
        ensure_length("g", g, self.n * self.n)?;
        ensure_finite("g", g)?;
        let g = square_matrix(self.n, g);
        let mut defect = g.tr_mul(&g);
        defect.iter_mut().step_by(self.n + 1).for_each(|diagonal| *diagonal -= 1.0);
        Ok(T::of(defect.norm().max((g.determinant() - 1.0).abs())))
    }

    /// `|A|_F/sqrt(2)`: the eigenvalues of a skew matrix come in pairs of equal modulus.
    fn operator_norm_bound(&self, matrix: &[T]) -> T {
        norm(matrix) * T::FRAC_1_SQRT_2()
    }

    fn matrix_pullback(&self, matrix_cotangent: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        let n = self.n;
        ensure_length("matrix_cotangent", matrix_cotangent, n * n)?;
        ensure_length("out", out, Sphere::algebra_dim(self))?;
        for ((i, j), gradient) in strictly_lower_triangle(n).zip(out) {
            *gradient = matrix_cotangent[i * n + j] - matrix_cotangent[j * n + i];
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
        ensure_length("coefficients", coefficients, Sphere::algebra_dim(self))?;
        ensure_length("z", z, self.n)?;
        ensure_length("out", out, self.n)?;
        out.fill(T::zero());
        for ((i, j), &c) in strictly_lower_triangle(self.n).zip(coefficients) {
            out[i] += c * z[j];
            out[j] -= c * z[i];
        }
        Ok(())
    }

    /// `-sigma^2 (n - 1)/2 z` (the paper's Eq. (8)).
    fn pinning_drift(&self, sigma: T, z: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        ensure_length("z", z, self.n)?;
        ensure_length("out", out, self.n)?;
        let rate = -sigma * sigma * T::of((self.n - 1) as f64 / 2.0);
        for (drift, &z_i) in out.iter_mut().zip(z) {
            *drift = rate * z_i;
        }
        Ok(())
    }

    /// `sigma^2 (|z|^2 I - z z^T)`.
    fn diffusion_matrix(&self, sigma: T, z: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        let n = self.n;
        ensure_length("z", z, n)?;
        ensure_length("out", out, n * n)?;
        let variance = sigma * sigma;
        for (row, &z_i) in out.chunks_exact_mut(n).zip(z) {
            for (entry, &z_j) in row.iter_mut().zip(z) {
                *entry = -variance * z_i * z_j;
            }
        }
        let scale = variance * dot(z, z);
        for i in 0..n {
            out[i * n + i] += scale;
        }
        Ok(())
    }

    /// The tangent part of `v`, divided by `sigma^2`, for `z` on the sphere.
    ///
    /// The length of `z` does not enter: for `v = K z` with skew `K` the weight is `|K z|^2/sigma^2`, as in
    /// the paper's Eq. (10), also where `z` has left the sphere by rounding or by a finite difference.
    fn diffusion_pseudo_inverse(
        &self,
        sigma: T,
        z: &[T],
        v: &[T],
        out: &mut [T],
    ) -> Result<(), GeometryError> {
        ensure_noise(sigma)?;
        ensure_finite("z", z)?;
        ensure_finite("v", v)?;
        self.tangent(z, v, out)?;
        out.iter_mut().for_each(|weighted| *weighted /= sigma * sigma);
        Ok(())
    }
}
