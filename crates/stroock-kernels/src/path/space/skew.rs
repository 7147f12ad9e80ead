//! Skew-symmetric matrices by their strictly lower triangle, row by row, as factors of vectors.
//!
//! Each coefficient stands for two entries of the matrix. Four rows at a time share the loads of `x_j` and
//! `y_j` and keep their sums in registers, which leaves the arithmetic as the limit.

use crate::simd::{LaneKernel, Lanes};

const BLOCK: usize = 4;

/// Index of the first coefficient of row `i` of the strictly lower triangle.
#[inline(always)]
fn row_start(i: usize) -> usize {
    i * i.saturating_sub(1) / 2
}

/// The coefficients of row `i`, columns `0..i`.
#[inline(always)]
fn row<V>(a: &[V], i: usize) -> &[V] {
    &a[row_start(i)..row_start(i) + i]
}

/// `y = S x`.
#[inline(always)]
pub(super) fn apply<V: Lanes>(a: &[V], x: &[V], y: &mut [V]) {
    V::inline(Apply { a, x, y });
}

struct Apply<'c, V> {
    a: &'c [V],
    x: &'c [V],
    y: &'c mut [V],
}

impl<V: Lanes> LaneKernel for Apply<'_, V> {
    #[inline(always)]
    fn run(self) {
        multiply(self.a, self.x, self.y);
    }
}

#[inline(always)]
fn multiply<V: Lanes>(a: &[V], x: &[V], y: &mut [V]) {
    let n = x.len();
    let mut i = 0;
    while i + BLOCK <= n {
        let rows = [row(a, i), row(a, i + 1), row(a, i + 2), row(a, i + 3)];
        let [head0, head1, head2, head3] = [&rows[0][..i], &rows[1][..i], &rows[2][..i], &rows[3][..i]];
        let [x0, x1, x2, x3] = [x[i], x[i + 1], x[i + 2], x[i + 3]];
        let mut sums = [V::zero(); BLOCK];
        let (x_head, y_head) = (&x[..i], &mut y[..i]);
        for j in 0..i {
            let x_j = x_head[j];
            let mut y_j = y_head[j];
            sums[0] = head0[j].mul_add(x_j, sums[0]);
            y_j = head0[j].neg_mul_add(x0, y_j);
            sums[1] = head1[j].mul_add(x_j, sums[1]);
            y_j = head1[j].neg_mul_add(x1, y_j);
            sums[2] = head2[j].mul_add(x_j, sums[2]);
            y_j = head2[j].neg_mul_add(x2, y_j);
            sums[3] = head3[j].mul_add(x_j, sums[3]);
            y_j = head3[j].neg_mul_add(x3, y_j);
            y_head[j] = y_j;
        }
        for r in 1..BLOCK {
            for c in 0..r {
                let coefficient = rows[r][i + c];
                sums[r] = coefficient.mul_add(x[i + c], sums[r]);
                sums[c] = coefficient.neg_mul_add(x[i + r], sums[c]);
            }
        }
        y[i..i + BLOCK].copy_from_slice(&sums);
        i += BLOCK;
    }
    for i in i..n {
        let (row, x_i) = (row(a, i), x[i]);
        let mut sum = V::zero();
        for j in 0..i {
            sum = row[j].mul_add(x[j], sum);
            y[j] = row[j].neg_mul_add(x_i, y[j]);
        }
        y[i] = sum;
    }
}

/// `g_ij += p_i x_j - p_j x_i`: the adjoint of `S -> S x` at the cotangent `p`.
#[inline(always)]
pub(super) fn accumulate<V: Lanes>(p: &[V], x: &[V], g: &mut [V]) {
    V::inline(Accumulate { p, x, g });
}

struct Accumulate<'c, V> {
    p: &'c [V],
    x: &'c [V],
    g: &'c mut [V],
}

impl<V: Lanes> LaneKernel for Accumulate<'_, V> {
    #[inline(always)]
    fn run(self) {
        add_outer(self.p, self.x, self.g);
    }
}

#[inline(always)]
fn add_outer<V: Lanes>(p: &[V], x: &[V], g: &mut [V]) {
    let n = x.len();
    for i in 1..n {
        let (p_i, x_i) = (p[i], x[i]);
        let row = &mut g[row_start(i)..row_start(i) + i];
        let (p, x) = (&p[..i], &x[..i]);
        for j in 0..i {
            row[j] = p_i.mul_add(x[j], p[j].neg_mul_add(x_i, row[j]));
        }
    }
}

/// Dimension of the skew-symmetric matrices.
pub(super) fn dim(n: usize) -> usize {
    n * n.saturating_sub(1) / 2
}
