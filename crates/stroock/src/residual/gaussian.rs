//! Normal distributions of a few numbers, with covariances that stay positive semidefinite.
//!
//! Covariances are only ever made as sums of products `A P A^T`, so that rounding cannot make a variance negative.

/// A vector `[N]`.
pub(super) type Vector<const N: usize> = [f64; N];
/// A matrix `[N, N]`, row by row.
pub(super) type Matrix<const N: usize> = [[f64; N]; N];

/// Pivots below this share of their variance are taken for zero, and those that cannot be divided by.
const SINGULAR: f64 = 1e-13;
const NOTHING: f64 = 1e-200;

/// The identity.
pub(super) fn identity<const N: usize>() -> Matrix<N> {
    let mut matrix = [[0.0; N]; N];
    for (i, row) in matrix.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    matrix
}

/// `A x`.
#[inline]
pub(super) fn times_vector<const N: usize>(a: &Matrix<N>, x: &Vector<N>) -> Vector<N> {
    let mut product = [0.0; N];
    for i in 0..N {
        for k in 0..N {
            product[i] += a[i][k] * x[k];
        }
    }
    product
}

/// `A B`.
#[inline]
pub(super) fn times<const N: usize>(a: &Matrix<N>, b: &Matrix<N>) -> Matrix<N> {
    let mut product = [[0.0; N]; N];
    for i in 0..N {
        for k in 0..N {
            for j in 0..N {
                product[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    product
}

/// `A P A^T`.
#[inline]
pub(super) fn congruent<const N: usize>(a: &Matrix<N>, p: &Matrix<N>) -> Matrix<N> {
    let half = times(a, p);
    let mut product = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..=i {
            let mut sum = 0.0;
            for k in 0..N {
                sum += half[i][k] * a[j][k];
            }
            product[i][j] = sum;
            product[j][i] = sum;
        }
    }
    product
}

/// `A + B`.
#[inline]
pub(super) fn sum<const N: usize>(a: &Matrix<N>, b: &Matrix<N>) -> Matrix<N> {
    let mut sum = *a;
    for i in 0..N {
        for j in 0..N {
            sum[i][j] += b[i][j];
        }
    }
    sum
}

/// Unit lower triangular `L` and pivots `D` with `L D L^T = P`. Directions without variance have a pivot of zero.
#[inline]
fn factors<const N: usize>(p: &Matrix<N>) -> (Matrix<N>, Vector<N>) {
    let (mut lower, mut pivots) = (identity(), [0.0; N]);
    for j in 0..N {
        let mut pivot = p[j][j];
        for k in 0..j {
            pivot -= lower[j][k] * lower[j][k] * pivots[k];
        }
        if pivot <= SINGULAR * p[j][j] || pivot < NOTHING {
            continue;
        }
        pivots[j] = pivot;
        for i in j + 1..N {
            let mut rest = p[i][j];
            for k in 0..j {
                rest -= lower[i][k] * lower[j][k] * pivots[k];
            }
            lower[i][j] = rest / pivot;
        }
    }
    (lower, pivots)
}

/// The lower triangular `L` with `L L^T = P`. Columns of directions without variance are zero.
pub(super) fn root<const N: usize>(p: &Matrix<N>) -> Matrix<N> {
    let (mut lower, pivots) = factors(p);
    for row in &mut lower {
        row.iter_mut().zip(&pivots).for_each(|(entry, pivot)| *entry *= pivot.sqrt());
    }
    lower
}

/// `B P^-1` for a covariance `P`, as far as `P` has variance.
#[inline]
pub(super) fn divided<const N: usize>(b: &Matrix<N>, p: &Matrix<N>) -> Matrix<N> {
    let (lower, pivots) = factors(p);
    let inverse = pivots.map(|pivot| if pivot > 0.0 { 1.0 / pivot } else { 0.0 });
    let mut quotient = *b;
    for row in &mut quotient {
        // Solves `L y = row`, then `L^T x = y / D`.
        for i in 0..N {
            for k in 0..i {
                row[i] -= lower[i][k] * row[k];
            }
        }
        for i in (0..N).rev() {
            row[i] *= inverse[i];
            for k in i + 1..N {
                row[i] -= lower[k][i] * row[k];
            }
        }
    }
    quotient
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: Matrix<3> = [[4.0, 1.0, -2.0], [1.0, 3.0, 0.5], [-2.0, 0.5, 5.0]];

    fn close(a: &Matrix<3>, b: &Matrix<3>) -> bool {
        a.iter().flatten().zip(b.iter().flatten()).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn roots_and_quotients_give_back_what_they_are_of() {
        let lower = root(&P);
        assert!(close(&congruent(&lower, &identity()), &P));
        let b = [[1.0, 2.0, 3.0], [0.0, -1.0, 4.0], [2.0, 2.0, 2.0]];
        assert!(close(&times(&divided(&b, &P), &P), &b));
        assert_eq!(times_vector(&P, &[1.0, 0.0, 1.0]), [2.0, 1.5, 3.0]);
    }

    #[test]
    fn directions_without_variance_are_left_out() {
        // The third number is the sum of the others.
        let p = [[1.0, 0.0, 1.0], [0.0, 2.0, 2.0], [1.0, 2.0, 3.0]];
        assert!(close(&congruent(&root(&p), &identity()), &p));
        assert!(close(&congruent(&divided(&p, &p), &p), &p));
        assert_eq!(root(&[[0.0; 3]; 3]), [[0.0; 3]; 3]);
        assert_eq!(divided(&P, &[[0.0; 3]; 3]), [[0.0; 3]; 3]);
    }
}
