//! Matrices whose products with vectors in lanes, and whose gradients, are computed in registers.

use stroock_geometry::Real;

use crate::simd::Lanes;

/// Rows of a panel: as many sums as hide the latency of a multiply-add.
const TILE: usize = 8;

/// A matrix `A`, `[rows, columns]`, in panels of [`TILE`] rows, column by column; the last one is filled up with zeros.
pub(super) struct Matrix<T> {
    columns: usize,
    panels: Vec<T>,
}

impl<T: Real> Matrix<T> {
    /// The matrix of the given entries.
    pub fn new(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> T) -> Self {
        let mut panels = vec![T::zero(); rows.next_multiple_of(TILE) * columns];
        for i in 0..rows {
            for k in 0..columns {
                panels[(i / TILE * columns + k) * TILE + i % TILE] = entry(i, k);
            }
        }
        Self { columns, panels }
    }

    /// `y += A x`. An entry is one chain of multiply-adds from what it held.
    #[inline(always)]
    pub fn add_product<V: Lanes<Real = T>>(&self, x: &[V], y: &mut [V]) {
        let panels = self.panels.chunks_exact((TILE * self.columns).max(1));
        for (panel, y) in panels.zip(y.chunks_mut(TILE)) {
            let mut sums = [V::zero(); TILE];
            sums[..y.len()].copy_from_slice(y);
            let (columns, _) = panel.as_chunks::<TILE>();
            for (column, x) in columns.iter().zip(x) {
                for i in 0..TILE {
                    sums[i] = V::splat(column[i]).mul_add(*x, sums[i]);
                }
            }
            y.copy_from_slice(&sums[..y.len()]);
        }
    }
}

/// Steps whose factors are kept for their products with each other: a sum is then in a register for all of them.
pub(super) const WINDOW: usize = 8;

/// A number in lanes at every step of a window.
pub(super) type Window<V> = [V; WINDOW];

/// Rows and columns of the sums that are in registers together.
const LEFT: usize = 4;
const RIGHT: usize = 2;

/// `sum[i, k] += sum over the window of left[i] right[k]`, with `sum` of the shape `[left, right]`.
#[inline(always)]
pub(super) fn add_outer_products<V: Lanes>(left: &[Window<V>], right: &[Window<V>], sum: &mut [V]) {
    let stride = right.len();
    let (tiles, single) = left.as_chunks::<LEFT>();
    let (pairs, odd) = right.as_chunks::<RIGHT>();
    let mut rows = sum.chunks_mut(stride.max(1) * LEFT);
    for (left, sum) in tiles.iter().zip(&mut rows) {
        for (pair, right) in pairs.iter().enumerate() {
            add_tile(left, right, &mut sum[pair * RIGHT..], stride);
        }
        for right in odd {
            add_tile(left, &[*right], &mut sum[stride - 1..], stride);
        }
    }
    if let Some(sum) = rows.next() {
        for (left, sum) in single.iter().zip(sum.chunks_mut(stride)) {
            for (right, sum) in right.iter().zip(sum.chunks_mut(1)) {
                add_tile(&[*left], &[*right], sum, 1);
            }
        }
    }
}

#[inline(always)]
fn add_tile<V: Lanes, const L: usize, const R: usize>(
    left: &[Window<V>; L],
    right: &[Window<V>; R],
    sum: &mut [V],
    stride: usize,
) {
    let mut sums = [[V::zero(); R]; L];
    for i in 0..L {
        sums[i].copy_from_slice(&sum[i * stride..][..R]);
    }
    for s in 0..WINDOW {
        for i in 0..L {
            for k in 0..R {
                sums[i][k] = left[i][s].mul_add(right[k][s], sums[i][k]);
            }
        }
    }
    for i in 0..L {
        sum[i * stride..][..R].copy_from_slice(&sums[i]);
    }
}

/// The sum over the lanes of every number, from the first lane to the last.
#[inline(always)]
pub(super) fn sum_over_lanes<V: Lanes>(numbers: &[V]) -> Vec<V::Real> {
    let mut lanes = [V::Real::of(0.0); crate::simd::MAX_WIDTH];
    let mut sums = vec![V::Real::of(0.0); numbers.len()];
    for (sum, number) in sums.iter_mut().zip(numbers) {
        number.store(&mut lanes);
        for lane in &lanes[..V::WIDTH] {
            *sum += *lane;
        }
    }
    sums
}
