//! Matrix products in lanes: `C += A B`.
//!
//! An entry of the product is one chain of multiply-adds along the inner dimension that starts from what
//! the entry held. It does not depend on the extent of the matrices or on the tile that it is computed in:
//! a row gives the same bits whatever rows stand beside it, which general libraries do not promise.

use crate::precision::kernels;
use crate::simd::{Kernel, Lanes, Level, MAX_WIDTH, SimdReal};

/// Vectors side by side in a panel.
const VECTORS: usize = 2;
/// Most rows of a tile: its sums fill the registers that the factors leave free.
const TILE: usize = 6;

kernels! {
    /// A real number that products are computed in.
    trait ProductReal: SimdReal {
        fn multiply(Product);
    }
}

/// The right factor `B`, `[depth, columns]`, cut into panels of as many columns as a tile is wide. A panel
/// is contiguous, row by row; the last one is filled up with zeros.
#[derive(Clone, Debug)]
pub struct Panels<T> {
    depth: usize,
    columns: usize,
    /// Columns of a panel.
    width: usize,
    entries: Vec<T>,
}

impl<T: SimdReal> Panels<T> {
    /// The matrix of zeros, for products at `level`.
    pub(crate) fn zeros(level: Level, depth: usize, columns: usize) -> Self {
        let width = VECTORS * T::width(level);
        Self { depth, columns, width, entries: vec![T::zero(); columns.next_multiple_of(width) * depth] }
    }

    /// Replaces row `k`.
    pub(crate) fn set_row(&mut self, k: usize, row: &[T]) {
        let panels = self.entries.chunks_exact_mut(self.width * self.depth);
        for (panel, part) in panels.zip(row.chunks(self.width)) {
            panel[k * self.width..][..part.len()].copy_from_slice(part);
        }
    }

    /// Replaces column `j`.
    pub(crate) fn set_column(&mut self, j: usize, column: &[T]) {
        let panel = &mut self.entries[j / self.width * self.width * self.depth..];
        for (row, entry) in panel.chunks_exact_mut(self.width).zip(column) {
            row[j % self.width] = *entry;
        }
    }
}

/// The left factor `A`, `[rows, depth]`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Left<'a, T> {
    /// Row `i` is contiguous and starts at `i * stride`.
    Rows { entries: &'a [T], stride: usize },
    /// Column `k` is contiguous and starts at `k * stride`.
    Columns { entries: &'a [T], stride: usize },
}

impl<'a, T> Left<'a, T> {
    /// Without the first `i` rows.
    #[inline(always)]
    fn skip_rows(self, i: usize) -> Self {
        match self {
            Left::Rows { entries, stride } => Left::Rows { entries: &entries[i * stride..], stride },
            Left::Columns { entries, stride } => Left::Columns { entries: &entries[i..], stride },
        }
    }
}

/// `C += A B` for `C` of shape `[rows, columns of B]`, whose row `i` starts at `i * stride`.
pub struct Product<'a, T> {
    pub(crate) left: Left<'a, T>,
    pub(crate) right: &'a Panels<T>,
    pub(crate) rows: usize,
    pub(crate) out: &'a mut [T],
    pub(crate) stride: usize,
}

impl<T: SimdReal> Kernel<T> for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) {
        let Product { left, right, rows, out, stride } = self;
        // Tiles of about the same height: a low tile waits for its few chains of additions.
        let tiles = rows.div_ceil(TILE);
        let panels = right.entries.chunks((right.width * right.depth).max(1));
        for (first, panel) in (0..right.columns).step_by(right.width).zip(panels) {
            let columns = right.width.min(right.columns - first);
            for i in 0..tiles {
                let [from, to] = [rows * i / tiles, rows * (i + 1) / tiles];
                let (left, out) = (left.skip_rows(from), &mut out[from * stride + first..]);
                match to - from {
                    1 => tile::<V, 1>(left, panel, out, stride, columns),
                    2 => tile::<V, 2>(left, panel, out, stride, columns),
                    3 => tile::<V, 3>(left, panel, out, stride, columns),
                    4 => tile::<V, 4>(left, panel, out, stride, columns),
                    5 => tile::<V, 5>(left, panel, out, stride, columns),
                    _ => tile::<V, TILE>(left, panel, out, stride, columns),
                }
            }
        }
    }
}

/// The first `M` rows and `columns` columns of the product.
#[inline(always)]
fn tile<V: Lanes, const M: usize>(
    left: Left<'_, V::Real>,
    panel: &[V::Real],
    out: &mut [V::Real],
    stride: usize,
    columns: usize,
) {
    let width = VECTORS * V::WIDTH;
    let mut sums = [[V::zero(); VECTORS]; M];
    for i in 0..M {
        sums[i] = load::<V>(&out[i * stride..][..columns]);
    }
    match left {
        Left::Rows { entries, stride } => {
            let depth = panel.len() / width;
            let mut rows = [entries; M];
            for i in 0..M {
                rows[i] = &entries[i * stride..][..depth];
            }
            for k in 0..depth {
                let b = &panel[k * width..][..width];
                let b = [V::load(b), V::load(&b[V::WIDTH..])];
                for i in 0..M {
                    let a = V::splat(rows[i][k]);
                    for j in 0..VECTORS {
                        sums[i][j] = a.mul_add(b[j], sums[i][j]);
                    }
                }
            }
        }
        Left::Columns { entries, stride } => {
            for (column, b) in entries.chunks(stride).zip(panel.chunks_exact(width)) {
                let column = &column[..M];
                let b = [V::load(b), V::load(&b[V::WIDTH..])];
                for i in 0..M {
                    let a = V::splat(column[i]);
                    for j in 0..VECTORS {
                        sums[i][j] = a.mul_add(b[j], sums[i][j]);
                    }
                }
            }
        }
    }
    for i in 0..M {
        store(sums[i], &mut out[i * stride..][..columns]);
    }
}

/// Up to a panel's width of numbers; zeros behind them.
#[inline(always)]
fn load<V: Lanes>(from: &[V::Real]) -> [V; VECTORS] {
    if from.len() == VECTORS * V::WIDTH {
        return [V::load(from), V::load(&from[V::WIDTH..])];
    }
    let mut full = [V::Real::default(); VECTORS * MAX_WIDTH];
    full[..from.len()].copy_from_slice(from);
    [V::load(&full), V::load(&full[V::WIDTH..])]
}

#[inline(always)]
fn store<V: Lanes>(sums: [V; VECTORS], to: &mut [V::Real]) {
    if to.len() == VECTORS * V::WIDTH {
        sums[0].store(to);
        sums[1].store(&mut to[V::WIDTH..]);
        return;
    }
    let mut full = [V::Real::default(); VECTORS * MAX_WIDTH];
    sums[0].store(&mut full);
    sums[1].store(&mut full[V::WIDTH..]);
    to.copy_from_slice(&full[..to.len()]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: usize, columns: usize, seed: usize) -> Vec<f64> {
        (0..rows * columns).map(|i| ((i * 7919 + seed * 104_729) % 1000) as f64 / 500.0 - 1.0).collect()
    }

    #[test]
    fn entries_are_sums_of_products_in_every_layout() {
        for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
            for (rows, depth, columns) in [(1, 1, 1), (7, 5, 3), (13, 17, 16), (6, 9, 35), (25, 3, 64)] {
                let (a, b) = (matrix(rows, depth, 1), matrix(depth, columns, 2));
                let mut transposed = vec![0.0; a.len()];
                let mut expected = matrix(rows, columns, 3);
                for i in 0..rows {
                    for k in 0..depth {
                        transposed[k * rows + i] = a[i * depth + k];
                        for j in 0..columns {
                            expected[i * columns + j] += a[i * depth + k] * b[k * columns + j];
                        }
                    }
                }
                let [mut by_rows, mut by_columns] = [(); 2].map(|()| Panels::zeros(level, depth, columns));
                b.chunks(columns).enumerate().for_each(|(k, row)| by_rows.set_row(k, row));
                for j in 0..columns {
                    let column: Vec<f64> = (0..depth).map(|k| b[k * columns + j]).collect();
                    by_columns.set_column(j, &column);
                }
                assert_eq!(by_rows.entries, by_columns.entries);
                for left in [
                    Left::Rows { entries: &a, stride: depth },
                    Left::Columns { entries: &transposed, stride: rows },
                ] {
                    let mut out = matrix(rows, columns, 3);
                    let product = Product { left, right: &by_rows, rows, out: &mut out, stride: columns };
                    f64::multiply(level, product);
                    for (actual, expected) in out.iter().zip(&expected) {
                        assert!((actual - expected).abs() < 1e-13, "{level:?} {rows} {depth} {columns}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_row_does_not_depend_on_the_others() {
        let (depth, columns) = (37, 29);
        let a: Vec<f32> = matrix(20, depth, 1).iter().map(|&x| x as f32).collect();
        let mut right = Panels::zeros(Level::detect(), depth, columns);
        for k in 0..depth {
            let row: Vec<f32> = matrix(1, columns, k).iter().map(|&x| x as f32).collect();
            right.set_row(k, &row);
        }
        let multiply = |rows: &[f32]| {
            let count = rows.len() / depth;
            let mut out = vec![0f32; count * columns];
            let left = Left::Rows { entries: rows, stride: depth };
            let product = Product { left, right: &right, rows: count, out: &mut out, stride: columns };
            f32::multiply(Level::detect(), product);
            out
        };
        let whole = multiply(&a);
        for count in 1..20 {
            let parts: Vec<f32> = a.chunks(count * depth).flat_map(multiply).collect();
            assert!(parts == whole, "{count} rows at a time");
        }
    }
}
