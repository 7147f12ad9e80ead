//! Dense row-major helpers: products in the caller's precision, decompositions in double precision.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use crate::Real;

pub(super) fn dot<T: Real>(x: &[T], y: &[T]) -> T {
    x.iter().zip(y).map(|(&a, &b)| a * b).sum()
}

pub(super) fn norm<T: Real>(x: &[T]) -> T {
    dot(x, x).sqrt()
}

/// `out = factor A x`.
pub(super) fn multiply<T: Real>(matrix: &[T], x: &[T], factor: T, out: &mut [T]) {
    for (y, row) in out.iter_mut().zip(matrix.chunks_exact(x.len())) {
        *y = factor * dot(row, x);
    }
}

/// `out = factor A^T x`.
pub(super) fn multiply_transposed<T: Real>(matrix: &[T], x: &[T], factor: T, out: &mut [T]) {
    out.fill(T::zero());
    for (row, &x_i) in matrix.chunks_exact(x.len()).zip(x) {
        for (y, &a) in out.iter_mut().zip(row) {
            *y += factor * x_i * a;
        }
    }
}

/// The pairs `(i, j)`, `j < i < n`, row by row: the order of the basis of skew matrices.
pub(super) fn strictly_lower_triangle(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(|i| (0..i).map(move |j| (i, j)))
}

pub(super) fn square_matrix<T: Real>(n: usize, entries: &[T]) -> DMatrix<f64> {
    DMatrix::from_row_iterator(n, n, entries.iter().map(|x| x.as_f64()))
}

pub(super) fn vector<T: Real>(entries: &[T]) -> DVector<f64> {
    DVector::from_iterator(entries.len(), entries.iter().map(|x| x.as_f64()))
}

pub(super) fn write<T: Real>(source: &DVector<f64>, out: &mut [T]) {
    for (target, &value) in out.iter_mut().zip(source.iter()) {
        *target = T::of(value);
    }
}

/// Smallest singular value divided by the largest.
pub(super) fn reciprocal_condition(matrix: &DMatrix<f64>) -> f64 {
    let singular_values = matrix.singular_values();
    if singular_values.max() > 0.0 { singular_values.min() / singular_values.max() } else { 0.0 }
}

/// The coefficients of the combination of the columns of `basis` nearest to `target`, or `None` where
/// the columns are dependent up to rounding.
pub(super) fn least_squares(basis: DMatrix<f64>, target: DVector<f64>) -> Option<DVector<f64>> {
    let (rows, columns) = basis.shape();
    if columns > rows {
        return None;
    }
    let qr = basis.qr();
    let r = qr.r();
    let pivots = r.diagonal().abs();
    if pivots.min() <= rows as f64 * f64::EPSILON * pivots.max() {
        return None;
    }
    let mut rotated = target;
    qr.q_tr_mul(&mut rotated);
    r.solve_upper_triangular(&rotated.rows(0, columns).clone_owned())
}

/// `S^+ v` for symmetric `S`: eigenvalues below `cutoff` times the largest count as zero.
pub(super) fn symmetric_pseudo_inverse(s: DMatrix<f64>, v: &DVector<f64>, cutoff: f64) -> DVector<f64> {
    let eigen = SymmetricEigen::new(s);
    let threshold = cutoff * eigen.eigenvalues.amax();
    let mut coordinates = eigen.eigenvectors.tr_mul(v);
    for (coordinate, &eigenvalue) in coordinates.iter_mut().zip(eigen.eigenvalues.iter()) {
        *coordinate = if eigenvalue.abs() > threshold { *coordinate / eigenvalue } else { 0.0 };
    }
    eigen.eigenvectors * coordinates
}

/// An orthonormal basis, as rows, of the null space of a square matrix: the right singular vectors whose
/// singular value is below `cutoff` times the largest.
pub(super) fn null_space(matrix: DMatrix<f64>, cutoff: f64) -> Vec<DVector<f64>> {
    let svd = matrix.svd(false, true);
    let threshold = cutoff * svd.singular_values.max();
    let Some(right) = svd.v_t else {
        return Vec::new();
    };
    right
        .row_iter()
        .zip(svd.singular_values.iter())
        .filter(|&(_, &value)| value <= threshold)
        .map(|(row, _)| row.transpose())
        .collect()
}
