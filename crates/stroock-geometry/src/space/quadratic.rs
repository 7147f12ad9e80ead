//! Level sets of a quadratic form under the matrices that preserve it.

use nalgebra::DMatrix;

use super::HomogeneousSpace;
use super::linear_algebra::{null_space, reciprocal_condition, square_matrix, strictly_lower_triangle};
use crate::{GeometryError, Real, ensure_finite, ensure_length};

/// The level set `{z : z^T P z = level}`, without the origin, under `G(P) = {G : G^T P G = P}` (the
/// paper's Definition of a quadratic matrix Lie group and Eq. (4)).
///
/// The Lie algebra is `{V : V^T P + P V = 0}`. Its basis is
/// - for symmetric `P`: `P^{-1} (e_i e_j^T - e_j e_i^T)`, `i > j`, in the order of [`Sphere`](crate::Sphere),
///   which `P = I` and `level = 1` give back;
/// - for antisymmetric `P`: `P^{-1} (e_i e_j^T + e_j e_i^T)`, `i >= j`, row by row of the lower triangle,
///   with a single 1 where `i = j`;
/// - for any other `P`: an orthonormal basis of the null space, in no particular order. The group then
///   preserves the symmetric and the antisymmetric part of `P` at once, and its orbits can be smaller than
///   the level set.
///
/// ```
/// use stroock_geometry::{HomogeneousSpace, QuadraticGroup};
/// let ellipse = QuadraticGroup::new(2, &[1.0, 0.0, 0.0, 4.0], 1.0)?;
/// let mut moved = [0.0; 2];
/// ellipse.exponential_action(&[1.3], &[1.0, 0.0], &mut moved)?;
/// assert!(ellipse.membership_residual(&moved)? < 1e-15);
/// # Ok::<(), stroock_geometry::GeometryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct QuadraticGroup<T> {
    n: usize,
    form: Vec<T>,
    level: T,
    basis: Vec<SparseMatrix<T>>,
}

/// The entries of a row-major matrix that are not zero, with their positions.
type SparseMatrix<T> = Vec<(usize, T)>;

impl<T: Real> QuadraticGroup<T> {
    /// The group that preserves `form` `P` `[n, n]`, on the points with `z^T P z = level`.
    ///
    /// # Errors
    /// When `n < 2`, on wrong lengths and entries that are not finite, when `P` is singular, when its Lie
    /// algebra is zero, and when no point but the origin is on the level set.
    pub fn new(n: usize, form: &[T], level: T) -> Result<Self, GeometryError> {
        if n < 2 {
            return Err(GeometryError::DimensionTooSmall { minimum: 2, actual: n });
        }
        ensure_length("form", form, n * n)?;
        ensure_finite("form", form)?;
        ensure_finite("level", &[level])?;
        let p = square_matrix(n, form);
        ensure_level_set(&p, level.as_f64())?;
        let basis = algebra_basis(&p, n as f64 * T::epsilon().as_f64())?;
        if basis.is_empty() {
            return Err(GeometryError::EmptyAlgebra);
        }
        let basis = basis.iter().map(sparse).collect();
        Ok(Self { n, form: form.to_vec(), level, basis })
    }

    /// `O(p, q)` on `{z : z_1^2 + .. + z_p^2 - z_{p+1}^2 - .. - z_{p+q}^2 = 1}`.
    ///
    /// `p = 1` is the hyperboloid of hyperbolic space of dimension `q`, `q = 0` the sphere.
    ///
    /// ```
    /// use stroock_geometry::{HomogeneousSpace, QuadraticGroup};
    /// let hyperboloid = QuadraticGroup::<f64>::indefinite_orthogonal(1, 2)?;
    /// assert_eq!(hyperboloid.algebra_dim(), 3);
    /// assert!(hyperboloid.ensure_member(&[1f64.cosh(), 1f64.sinh(), 0.0], 1e-15).is_ok());
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// When `p + q < 2`, and when `p = 0`.
    pub fn indefinite_orthogonal(p: usize, q: usize) -> Result<Self, GeometryError> {
        let n = p + q;
        let mut form = vec![T::zero(); n * n];
        for (i, diagonal) in form.iter_mut().step_by(n + 1).enumerate() {
            *diagonal = if i < p { T::one() } else { -T::one() };
        }
        Self::new(n, &form, T::one())
    }

    /// `Sp(n)` for even `n` on `R^n` without the origin: `P = [[0, I], [-I, 0]]`.
    ///
    /// ```
    /// use stroock_geometry::{HomogeneousSpace, QuadraticGroup};
    /// assert_eq!(QuadraticGroup::<f32>::symplectic(4)?.algebra_dim(), 10);
    /// # Ok::<(), stroock_geometry::GeometryError>(())
    /// ```
    ///
    /// # Errors
    /// When `n` is odd or less than 2.
    pub fn symplectic(n: usize) -> Result<Self, GeometryError> {
        if !n.is_multiple_of(2) {
            return Err(GeometryError::OddDimension { actual: n });
        }
        let half = n / 2;
        let mut form = vec![T::zero(); n * n];
        for i in 0..half {
            form[i * n + half + i] = T::one();
            form[(half + i) * n + i] = -T::one();
        }
        Self::new(n, &form, T::zero())
    }

    /// The form `P` `[n, n]`.
    pub fn form(&self) -> &[T] {
        &self.form
    }

    /// The value of `z^T P z` on the space.
    pub fn level(&self) -> T {
        self.level
    }
}

impl<T: Real> HomogeneousSpace<T> for QuadraticGroup<T> {
    fn ambient_dim(&self) -> usize {
        self.n
    }

    fn algebra_dim(&self) -> usize {
        self.basis.len()
    }

    fn matrix(&self, coefficients: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        ensure_length("coefficients", coefficients, self.basis.len())?;
        ensure_length("out", out, self.n * self.n)?;
        out.fill(T::zero());
        for (e_k, &c) in self.basis.iter().zip(coefficients) {
            for &(position, entry) in e_k {
                out[position] += c * entry;
            }
        }
        Ok(())
    }

    /// `|z^T P z - level|`, relative to the size of the summands; infinite at the origin.
    fn membership_residual(&self, z: &[T]) -> Result<T, GeometryError> {
        ensure_length("z", z, self.n)?;
        ensure_finite("z", z)?;
        if z.iter().all(|&z_i| z_i == T::zero()) {
            return Ok(T::infinity());
        }
        let (mut value, mut size) = (T::zero(), T::zero());
        for (row, &z_i) in self.form.chunks_exact(self.n).zip(z) {
            for (&p_ij, &z_j) in row.iter().zip(z) {
                value += z_i * p_ij * z_j;
                size += (z_i * p_ij * z_j).abs();
            }
        }
        let size = size.max(self.level.abs()).max(T::min_positive_value());
        Ok((value - self.level).abs() / size)
    }

    /// `|G^T P G - P|_F`, relative to `|P|_F` and to the mean squared length of the columns of `G`.
    fn group_residual(&self, g: &[T]) -> Result<T, GeometryError> {
        ensure_length("g", g, self.n * self.n)?;
        ensure_finite("g", g)?;
        let (g, p) = (square_matrix(self.n, g), square_matrix(self.n, &self.form));
        let defect = g.tr_mul(&p) * &g - &p;
        let growth = (g.norm_squared() / self.n as f64).max(1.0);
        Ok(T::of(defect.norm() / (p.norm() * growth)))
    }

    fn matrix_pullback(&self, matrix_cotangent: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        ensure_length("matrix_cotangent", matrix_cotangent, self.n * self.n)?;
        ensure_length("out", out, self.basis.len())?;
        for (gradient, e_k) in out.iter_mut().zip(&self.basis) {
            *gradient = e_k.iter().map(|&(position, entry)| entry * matrix_cotangent[position]).sum();
        }
        Ok(())
    }

    fn infinitesimal_action(&self, coefficients: &[T], z: &[T], out: &mut [T]) -> Result<(), GeometryError> {
        ensure_length("coefficients", coefficients, self.basis.len())?;
        ensure_length("z", z, self.n)?;
        ensure_length("out", out, self.n)?;
        out.fill(T::zero());
        for (e_k, &c) in self.basis.iter().zip(coefficients) {
            for &(position, entry) in e_k {
                out[position / self.n] += c * entry * z[position % self.n];
            }
        }
        Ok(())
    }
}

/// The extreme eigenvalues of the symmetric part of `P` say which levels `z^T P z` takes.
fn ensure_level_set(p: &DMatrix<f64>, level: f64) -> Result<(), GeometryError> {
    let eigenvalues = ((p + p.transpose()) * 0.5).symmetric_eigenvalues();
    let (smallest, largest) = (eigenvalues.min(), eigenvalues.max());
    let rounding = p.nrows() as f64 * f64::EPSILON * p.amax();
    let taken = match level {
        level if level > 0.0 => largest > 0.0,
        level if level < 0.0 => smallest < 0.0,
        _ => smallest <= rounding && -rounding <= largest,
    };
    if taken { Ok(()) } else { Err(GeometryError::EmptyLevelSet { level }) }
}

/// A basis of `{V : V^T P + P V = 0}`; differences below `tolerance` relative to `P` are rounding.
fn algebra_basis(p: &DMatrix<f64>, tolerance: f64) -> Result<Vec<DMatrix<f64>>, GeometryError> {
    let n = p.nrows();
    let reciprocal_condition = reciprocal_condition(p);
    let singular = GeometryError::SingularForm { reciprocal_condition };
    if reciprocal_condition <= tolerance {
        return Err(singular);
    }
    let inverse = p.clone().try_inverse().ok_or(singular)?;
    let rounding = tolerance * p.amax();
    // P V is skew for symmetric P, and symmetric for antisymmetric P.
    if (p - p.transpose()).amax() <= rounding {
        return Ok(strictly_lower_triangle(n).map(|(i, j)| &inverse * two_entries(n, i, j, -1.0)).collect());
    }
    if (p + p.transpose()).amax() <= rounding {
        let lower_triangle = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j)));
        return Ok(lower_triangle.map(|(i, j)| &inverse * two_entries(n, i, j, 1.0)).collect());
    }
    let vectors = null_space(algebra_equations(p), n as f64 * tolerance);
    Ok(vectors.into_iter().map(|v| DMatrix::from_row_slice(n, n, v.as_slice())).collect())
}

/// `e_i e_j^T + sign e_j e_i^T`, and `e_i e_i^T` where `i = j`.
fn two_entries(n: usize, i: usize, j: usize, sign: f64) -> DMatrix<f64> {
    let mut matrix = DMatrix::zeros(n, n);
    matrix[(j, i)] = sign;
    matrix[(i, j)] = 1.0;
    matrix
}

/// The linear map `V -> V^T P + P V` on the `n^2` entries of `V`.
fn algebra_equations(p: &DMatrix<f64>) -> DMatrix<f64> {
    let n = p.nrows();
    let mut equations = DMatrix::zeros(n * n, n * n);
    for i in 0..n {
        for j in 0..n {
            for k in 0..n {
                equations[(i * n + j, k * n + i)] += p[(k, j)];
                equations[(i * n + j, k * n + j)] += p[(i, k)];
            }
        }
    }
    equations
}

fn sparse<T: Real>(matrix: &DMatrix<f64>) -> SparseMatrix<T> {
    let row_major = matrix.transpose();
    let entries = row_major.iter().enumerate();
    entries.filter(|&(_, &entry)| entry != 0.0).map(|(position, &entry)| (position, T::of(entry))).collect()
}
