//! Homogeneous spaces: a matrix group `G` in `GL(n)` that moves the points of `M` in `R^n`.
//!
//! A new space is one file: a type that implements the five required methods of [`HomogeneousSpace`].
//! Everything else follows from them; closed forms override the provided methods where they exist.

mod exponential_action;
mod general_linear;
mod hyperbolic;
mod linear_algebra;
mod quadratic;
mod sphere;

use std::fmt::Debug;

use nalgebra::DMatrix;

pub use exponential_action::{TaylorPlan, exponential_action, exponential_action_pullback};
pub use general_linear::GeneralLinear;
pub use hyperbolic::Hyperbolic;
pub use quadratic::QuadraticGroup;
pub use sphere::Sphere;

use crate::error::ensure_noise;
use crate::{GeometryError, Real, ensure_finite, ensure_length};

/// A space `M` in `R^n` and the matrix Lie group `G` that acts on it by `z -> G z`.
///
/// The Lie algebra has a basis `E_1 .. E_m`; its elements are given by `m` coefficients. Matrices are
/// row-major `[n, n]`; results are written to the last slices, which are overwritten. The noise of the
/// stochastic differential equation (the paper's Eq. (3) and (5)) is `V_i = sigma E_i`.
///
/// Slices of a wrong length give [`GeometryError::LengthMismatch`]. The provided methods may take
/// scratch vectors from the heap, which costs little beside their products; closed forms do not.
///
/// # A new space
/// The rotations of the plane and nothing else:
/// ```
/// use stroock_geometry::{GeometryError, HomogeneousSpace, Real, ensure_length};
///
/// #[derive(Debug)]
/// struct Circle;
///
/// impl<T: Real> HomogeneousSpace<T> for Circle {
///     fn ambient_dim(&self) -> usize { 2 }
///     fn algebra_dim(&self) -> usize { 1 }
///     fn matrix(&self, coefficients: &[T], out: &mut [T]) -> Result<(), GeometryError> {
///         ensure_length("coefficients", coefficients, 1)?;
///         ensure_length("out", out, 4)?;
///         out.copy_from_slice(&[T::zero(), -coefficients[0], coefficients[0], T::zero()]);
///         Ok(())
///     }
///     fn membership_residual(&self, z: &[T]) -> Result<T, GeometryError> {
///         ensure_length("z", z, 2)?;
///         Ok((z[0].hypot(z[1]) - T::one()).abs())
///     }
///     fn group_residual(&self, g: &[T]) -> Result<T, GeometryError> {
///         ensure_length("g", g, 4)?;
///         Ok((g[0] - g[3]).abs() + (g[1] + g[2]).abs() + (g[0].hypot(g[1]) - T::one()).abs())
///     }
/// }
///
/// let mut z = [0.0; 2];
/// Circle.exponential_action(&[std::f64::consts::PI], &[1.0, 0.0], &mut z)?;
/// assert!((z[0] + 1.0).abs() < 1e-14);
/// # Ok::<(), GeometryError>(())
/// ```
pub trait HomogeneousSpace<T: Real>: Debug + Send + Sync {
    /// The dimension `n` of the vectors that the group acts on.
    ///
    /// ```
    /// use stroock_geometry::{HomogeneousSpace, Sphere};
    /// let sphere: Box<dyn HomogeneousSpace<f32>> = Box::new(Sphere::new(16)?);
    /// assert_eq!((sphere.ambient_dim(), sphere.algebra_dim()), (16, 120));
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    fn ambient_dim(&self) -> usize;

    /// The dimension `m` of the Lie algebra: the number of basis matrices `E_k` and of Wiener processes.
    fn algebra_dim(&self) -> usize;

    /// The algebra element `A = sum_k c_k E_k` `[n, n]` of `coefficients` `c` `[m]`.
    ///
    /// ```
    /// use stroock_geometry::{HomogeneousSpace, Sphere};
    /// let mut a = [0.0; 9];
    /// Sphere::new(3)?.matrix(&[1.0, 2.0, 3.0], &mut a)?;
    /// assert_eq!(a, [0.0, -1.0, -2.0, 1.0, 0.0, -3.0, 2.0, 3.0, 0.0]);
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// On wrong lengths.
    fn matrix(&self, coefficients: &[T], out: &mut [T]) -> Result<(), GeometryError>;

    /// How far `z` `[n]` is from `M`: zero on the space, of the order of the relative distance near it.
    ///
    /// ```
    /// use stroock_geometry::{HomogeneousSpace, Sphere};
    /// assert_eq!(Sphere::new(2)?.membership_residual(&[0.0, 3.0])?, 2.0);
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// On wrong lengths and on entries that are not finite.
    fn membership_residual(&self, z: &[T]) -> Result<T, GeometryError>;

    /// How far the matrix `g` `[n, n]` is from `G`: zero in the group, infinite or large elsewhere.
    ///
    /// ```
    /// use stroock_geometry::{HomogeneousSpace, Sphere};
    /// let reflection = [1.0, 0.0, 0.0, -1.0];
    /// assert_eq!(Sphere::new(2)?.group_residual(&reflection)?, 2.0);
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// On wrong lengths and on entries that are not finite.
    fn group_residual(&self, g: &[T]) -> Result<T, GeometryError>;

    /// An upper bound of the 2-norm of the algebra element `matrix` `[n, n]`; provided: the Frobenius norm.
    ///
    /// ```
    /// use stroock_geometry::{HomogeneousSpace, Sphere};
    /// assert_eq!(Sphere::new(2)?.operator_norm_bound(&[0.0, -3.0, 3.0, 0.0]), 3.0);
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    fn operator_norm_bound(&self, matrix: &[T]) -> T {
        linear_algebra::norm(matrix)
    }

    /// The adjoint of [`Self::matrix`]: from `dL/dA` `[n, n]` to `dL/dc_k = <dL/dA, E_k>` `[m]`.
    ///
    /// ```
    /// use stroock_geometry::{HomogeneousSpace, Sphere};
    /// let mut gradient = [0.0];
    /// Sphere::new(2)?.matrix_pullback(&[0.0, 1.0, 5.0, 0.0], &mut gradient)?;
    /// assert_eq!(gradient, [4.0]);
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// On wrong lengths.
    fn matrix_pullback(&self, matrix_cotangent: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        let (n, m) = (self.ambient_dim(), self.algebra_dim());
        ensure_length("matrix_cotangent", matrix_cotangent, n * n)?;
        ensure_length("out", out, m)?;
        for_each_basis_matrix(self, |k, e_k| {
            out[k] = linear_algebra::dot(matrix_cotangent, e_k);
        })
    }

    /// The coefficients `[m]` of the algebra element nearest to `matrix` `[n, n]` in the Frobenius norm.
    ///
    /// ```
    /// use stroock_geometry::{HomogeneousSpace, Sphere};
    /// let mut c = [0.0];
    /// Sphere::new(2)?.project_to_algebra(&[7.0, 0.0, 2.0, 7.0], &mut c)?;
    /// assert_eq!(c, [1.0]); // half of the difference across the diagonal
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// On wrong lengths, on entries that are not finite, and when the basis is linearly dependent.
    fn project_to_algebra(&self, matrix: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        let (n, m) = (self.ambient_dim(), self.algebra_dim());
        ensure_length("matrix", matrix, n * n)?;
        ensure_length("out", out, m)?;
        ensure_finite("matrix", matrix)?;
        let mut basis = DMatrix::zeros(n * n, m);
        for_each_basis_matrix(self, |k, e_k| {
            basis.set_column(k, &linear_algebra::vector(e_k));
        })?;
        let nearest = linear_algebra::least_squares(basis, linear_algebra::vector(matrix))
            .ok_or(GeometryError::DependentBasis { algebra_dim: m })?;
        linear_algebra::write(&nearest, out);
        Ok(())
    }

    /// The inverse of [`Self::matrix`]: the coefficients `[m]` of an algebra element `matrix` `[n, n]`.
    ///
    /// ```
    /// use stroock_geometry::{GeometryError, HomogeneousSpace, Sphere};
    /// let (sphere, mut c) = (Sphere::new(2)?, [0.0]);
    /// sphere.coefficients(&[0.0, -2.0, 2.0, 0.0], &mut c)?;
    /// assert_eq!(c, [2.0]);
    /// let identity = [1.0, 0.0, 0.0, 1.0];
    /// let error = sphere.coefficients(&identity, &mut c).unwrap_err();
    /// assert!(matches!(error, GeometryError::NotInAlgebra { residual: 1.0, .. }));
    /// # Ok::<(), GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::project_to_algebra`], and when `matrix` is not in the algebra up to rounding.
    fn coefficients(&self, matrix: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        self.project_to_algebra(matrix, out)?;
        let n = self.ambient_dim();
        let mut nearest = vec![T::zero(); n * n];
        self.matrix(out, &mut nearest)?;
        for (difference, &entry) in nearest.iter_mut().zip(matrix) {
            *difference = entry - *difference;
        }
        let residual =
            linear_algebra::norm(&nearest) / linear_algebra::norm(matrix).max(T::min_positive_value());
        let tolerance = T::of(16.0 * n as f64) * T::epsilon();
        if residual <= tolerance {
            return Ok(());
        }
        Err(GeometryError::NotInAlgebra { residual: residual.as_f64(), tolerance: tolerance.as_f64() })
    }

    /// The velocity `A z` `[n]` of `z` `[n]` under the algebra element of `coefficients` `[m]`.
    ///
    /// ```
    /// use stroock_geometry::{HomogeneousSpace, Sphere};
    /// let mut velocity = [0.0; 2];
    /// Sphere::new(2)?.infinitesimal_action(&[2.0], &[1.0, 0.0], &mut velocity)?;
    /// assert_eq!(velocity, [0.0, 2.0]);
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// On wrong lengths.
    fn infinitesimal_action(&self, coefficients: &[T], z: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        let n = self.ambient_dim();
        ensure_length("z", z, n)?;
        ensure_length("out", out, n)?;
        let mut a = vec![T::zero(); n * n];
        self.matrix(coefficients, &mut a)?;
        linear_algebra::multiply(&a, z, T::one(), out);
        Ok(())
    }

    /// The move `exp(A) z` `[n]` of `z` `[n]` by the group element of `coefficients` `[m]`.
    ///
    /// The step of the geometric Euler-Maruyama scheme (the paper's Algorithm 1, acting from the left).
    ///
    /// ```
    /// use stroock_geometry::{HomogeneousSpace, Sphere};
    /// let mut moved = [0.0; 2];
    /// Sphere::new(2)?.exponential_action(&[0.5], &[1.0, 0.0], &mut moved)?;
    /// assert!((moved[0] - 0.5f64.cos()).abs() < 1e-15 && (moved[1] - 0.5f64.sin()).abs() < 1e-15);
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// On wrong lengths, on entries that are not finite, on overflow, and on norms that are too large.
    fn exponential_action(&self, coefficients: &[T], z: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        let a = finite_algebra_element(self, coefficients, z)?;
        exponential_action(&a, self.operator_norm_bound(&a), z, out)
    }

    /// The adjoint of [`Self::exponential_action`]: from `cotangent = dL/d(exp(A) z)` `[n]` to
    /// `dL/dcoefficients` `[m]` and `dL/dz` `[n]`.
    ///
    /// ```
    /// use stroock_geometry::{HomogeneousSpace, Sphere};
    /// // L is the second coordinate of exp(A) e_1, which is sin(c).
    /// let (mut by_c, mut by_z) = ([0.0], [0.0; 2]);
    /// let circle = Sphere::new(2)?;
    /// circle.exponential_action_pullback(&[0.5], &[1.0, 0.0], &[0.0, 1.0], &mut by_c, &mut by_z)?;
    /// assert!((by_c[0] - 0.5f64.cos()).abs() < 1e-15);
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::exponential_action`].
    fn exponential_action_pullback(
        &self,
        coefficients: &[T],
        z: &[T],
        cotangent: &[T],
        coefficients_cotangent: &mut [T],
        z_cotangent: &mut [T],
    ) -> Result<(), GeometryError> {
        let a = finite_algebra_element(self, coefficients, z)?;
        let bound = self.operator_norm_bound(&a);
        let mut matrix_cotangent = vec![T::zero(); a.len()];
        exponential_action_pullback(&a, bound, z, cotangent, &mut matrix_cotangent, z_cotangent)?;
        self.matrix_pullback(&matrix_cotangent, coefficients_cotangent)
    }

    /// The pinning drift `1/2 sum_i V_i^2 z` `[n]` with `V_i = sigma E_i`: the Ito correction that keeps the
    /// motion on `M` (the paper's Eq. (4)).
    ///
    /// ```
    /// use stroock_geometry::{HomogeneousSpace, Sphere};
    /// let mut drift = [0.0; 3];
    /// Sphere::new(3)?.pinning_drift(0.5, &[0.0, 0.0, 1.0], &mut drift)?;
    /// assert_eq!(drift, [0.0, 0.0, -0.25]); // -sigma^2 (n - 1)/2 z
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// On wrong lengths.
    fn pinning_drift(&self, sigma: T, z: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        let n = self.ambient_dim();
        ensure_length("z", z, n)?;
        ensure_length("out", out, n)?;
        let (mut once, mut twice) = (vec![T::zero(); n], vec![T::zero(); n]);
        let half_variance = T::of(0.5) * sigma * sigma;
        out.fill(T::zero());
        for_each_basis_matrix(self, |_, e_k| {
            linear_algebra::multiply(e_k, z, T::one(), &mut once);
            linear_algebra::multiply(e_k, &once, half_variance, &mut twice);
            for (drift, &t) in out.iter_mut().zip(&twice) {
                *drift += t;
            }
        })
    }

    /// The diffusion matrix `Sigma(z) = sum_i V_i z z^T V_i^T` `[n, n]` with `V_i = sigma E_i` (the paper's
    /// Eq. (7)).
    ///
    /// ```
    /// use stroock_geometry::{HomogeneousSpace, Sphere};
    /// let mut diffusion = [0.0; 4];
    /// Sphere::new(2)?.diffusion_matrix(3.0, &[1.0, 0.0], &mut diffusion)?;
    /// assert_eq!(diffusion, [0.0, 0.0, 0.0, 9.0]); // sigma^2 (I - z z^T)
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// On wrong lengths.
    fn diffusion_matrix(&self, sigma: T, z: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        let n = self.ambient_dim();
        ensure_length("z", z, n)?;
        ensure_length("out", out, n * n)?;
        let mut v = vec![T::zero(); n];
        out.fill(T::zero());
        for_each_basis_matrix(self, |_, e_k| {
            linear_algebra::multiply(e_k, z, sigma, &mut v);
            for (row, &v_i) in out.chunks_exact_mut(n).zip(&v) {
                for (entry, &v_j) in row.iter_mut().zip(&v) {
                    *entry += v_i * v_j;
                }
            }
        })
    }

    /// `Sigma(z)^+ v` `[n]`, the weight of a drift difference `v` `[n]` in the divergence of path distributions (the
    /// paper's Eq. (7)).
    ///
    /// Provided: the eigendecomposition of `Sigma`, where eigenvalues below `8 n eps` times the largest
    /// count as zero.
    ///
    /// ```
    /// use stroock_geometry::{HomogeneousSpace, Sphere};
    /// let mut weighted = [0.0; 2];
    /// Sphere::new(2)?.diffusion_pseudo_inverse(0.5, &[1.0, 0.0], &[7.0, 1.0], &mut weighted)?;
    /// assert_eq!(weighted, [0.0, 4.0]); // the tangent part, divided by sigma^2
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// On wrong lengths, on entries that are not finite, and when `sigma` is zero.
    fn diffusion_pseudo_inverse(
        &self,
        sigma: T,
        z: &[T],
        v: &[T],
        out: &mut [T],
    ) -> Result<(), GeometryError> {
        let n = self.ambient_dim();
        ensure_length("v", v, n)?;
        ensure_length("out", out, n)?;
        ensure_noise(sigma)?;
        ensure_finite("z", z)?;
        ensure_finite("v", v)?;
        // With unit noise, so that a tiny sigma does not underflow when squared.
        let mut diffusion = vec![T::zero(); n * n];
        self.diffusion_matrix(T::one(), z, &mut diffusion)?;
        ensure_finite("diffusion matrix", &diffusion)?;
        let cutoff = 8.0 * n as f64 * T::epsilon().as_f64();
        let diffusion = linear_algebra::square_matrix(n, &diffusion);
        let weighted =
            linear_algebra::symmetric_pseudo_inverse(diffusion, &linear_algebra::vector(v), cutoff);
        linear_algebra::write(&(weighted / sigma.as_f64().powi(2)), out);
        Ok(())
    }

    /// Checks that `z` `[n]` is on the space up to `tolerance`.
    ///
    /// ```
    /// use stroock_geometry::{HomogeneousSpace, Sphere};
    /// let circle = Sphere::new(2)?;
    /// assert!(circle.ensure_member(&[0.6, 0.8], 1e-15).is_ok());
    /// assert!(circle.ensure_member(&[0.6, 0.9], 1e-15).is_err());
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// [`GeometryError::NotOnSpace`] with the residual, and as [`Self::membership_residual`].
    fn ensure_member(&self, z: &[T], tolerance: T) -> Result<(), GeometryError> {
        let residual = self.membership_residual(z)?;
        if residual <= tolerance {
            return Ok(());
        }
        Err(GeometryError::NotOnSpace { residual: residual.as_f64(), tolerance: tolerance.as_f64() })
    }
}

/// Calls `visit(k, E_k)` for every basis matrix.
fn for_each_basis_matrix<T: Real, S: HomogeneousSpace<T> + ?Sized>(
    space: &S,
    mut visit: impl FnMut(usize, &[T]),
) -> Result<(), GeometryError> {
    let n = space.ambient_dim();
    let mut unit = vec![T::zero(); space.algebra_dim()];
    let mut e_k = vec![T::zero(); n * n];
    for k in 0..unit.len() {
        unit[k] = T::one();
        space.matrix(&unit, &mut e_k)?;
        visit(k, &e_k);
        unit[k] = T::zero();
    }
    Ok(())
}

/// The matrix of `coefficients`, after a check of what the exponential is asked for.
fn finite_algebra_element<T: Real, S: HomogeneousSpace<T> + ?Sized>(
    space: &S,
    coefficients: &[T],
    z: &[T],
) -> Result<Vec<T>, GeometryError> {
    let n = space.ambient_dim();
    ensure_length("z", z, n)?;
    ensure_finite("coefficients", coefficients)?;
    let mut a = vec![T::zero(); n * n];
    space.matrix(coefficients, &mut a)?;
    Ok(a)
}
