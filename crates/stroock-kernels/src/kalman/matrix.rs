//! Small square matrices, row by row, whose columns stand in the lanes of vector registers.
//!
//! Rows are filled up with zeros to whole vectors, and stay so in every operation here.

use std::marker::PhantomData;

use stroock_geometry::Real;

use crate::simd::{LaneKernel, Lanes, MAX_WIDTH};

/// Extents of matrices: `n` rows and columns, with `stride` places a row.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub n: usize,
    pub stride: usize,
}

impl Extent {
    #[inline(always)]
    pub fn new<V: Lanes>(n: usize) -> Self {
        Self { n, stride: n.next_multiple_of(V::WIDTH) }
    }

    /// A matrix of zeros.
    #[inline(always)]
    pub fn zeros<T: Real>(self) -> Vec<T> {
        vec![T::zero(); self.n * self.stride]
    }

    /// The matrix of the given entries, `[n, n]`.
    #[inline(always)]
    pub fn padded<T: Real>(self, entries: &[T]) -> Vec<T> {
        let mut matrix = self.zeros();
        for (to, from) in matrix.chunks_exact_mut(self.stride).zip(entries.chunks_exact(self.n)) {
            to[..self.n].copy_from_slice(from);
        }
        matrix
    }

    /// Row `i` of a matrix.
    #[inline(always)]
    pub fn row<T>(self, matrix: &[T], i: usize) -> &[T] {
        &matrix[i * self.stride..(i + 1) * self.stride]
    }

    /// `to = from'`.
    #[inline(always)]
    pub fn transpose<T: Real>(self, from: &[T], to: &mut [T]) {
        for (i, to) in to.chunks_exact_mut(self.stride).enumerate() {
            for j in 0..self.n {
                to[j] = from[j * self.stride + i];
            }
        }
    }

    /// `matrix = start + factor (matrix + matrix')`; without a start, from zero.
    #[inline(always)]
    pub fn symmetrise<T: Real>(self, matrix: &mut [T], factor: T, start: Option<&[T]>) {
        for i in 0..self.n {
            for j in 0..=i {
                let (low, high) = (i * self.stride + j, j * self.stride + i);
                let sum = factor * (matrix[low] + matrix[high]);
                matrix[low] = start.map_or(sum, |start| start[low] + sum);
                matrix[high] = start.map_or(sum, |start| start[high] + sum);
            }
        }
    }

    /// `out = scale A B`, where `A` is `left` or its transpose; added to what `out` holds with `add`.
    #[inline(always)]
    pub fn product<V: Lanes>(
        self,
        (left, transposed): (&[V::Real], bool),
        right: &[V::Real],
        (scale, add): (f64, bool),
        out: &mut [V::Real],
    ) {
        let (row, column) = if transposed { (1, self.stride) } else { (self.stride, 1) };
        let scale = V::splat(V::Real::of(scale));
        V::call(Product { extent: self, left, row, column, right, scale, add, out, lanes: PhantomData::<V> });
    }
}

/// Rows of the sums that are in registers together; as many sums as hide the latency of a multiply-add.
const ROWS: usize = 4;

struct Product<'a, V: Lanes> {
    extent: Extent,
    left: &'a [V::Real],
    row: usize,
    column: usize,
    right: &'a [V::Real],
    scale: V,
    add: bool,
    out: &'a mut [V::Real],
    lanes: PhantomData<V>,
}

impl<V: Lanes> LaneKernel for Product<'_, V> {
    #[inline(always)]
    fn run(mut self) {
        let Extent { n, stride } = self.extent;
        let mut first = 0;
        // Their number is even.
        while first < n {
            let rows = if n - first >= ROWS { ROWS } else { 2 };
            let mut column = 0;
            while column < stride {
                let vectors = (stride - column) / V::WIDTH;
                let taken = match (rows, vectors) {
                    (ROWS, 1) => self.tile::<ROWS, 1>(first, column),
                    (ROWS, 2 | 4) => self.tile::<ROWS, 2>(first, column),
                    (ROWS, _) => self.tile::<ROWS, 3>(first, column),
                    (_, 1) => self.tile::<2, 1>(first, column),
                    _ => self.tile::<2, 2>(first, column),
                };
                column += taken * V::WIDTH;
            }
            first += rows;
        }
    }
}

impl<V: Lanes> Product<'_, V> {
    /// `R` rows and `C` vectors of columns, in registers from the first summand to the last.
    #[inline(always)]
    fn tile<const R: usize, const C: usize>(&mut self, first: usize, column: usize) -> usize {
        let stride = self.extent.stride;
        let mut sums = [[V::zero(); C]; R];
        for (k, right) in self.right.chunks_exact(stride).enumerate() {
            let right = &right[column..column + C * V::WIDTH];
            let mut vectors = [V::zero(); C];
            for c in 0..C {
                vectors[c] = V::load(&right[c * V::WIDTH..]);
            }
            for r in 0..R {
                let left = V::splat(self.left[(first + r) * self.row + k * self.column]);
                for c in 0..C {
                    sums[r][c] = left.mul_add(vectors[c], sums[r][c]);
                }
            }
        }
        for r in 0..R {
            let out = &mut self.out[(first + r) * stride + column..];
            for c in 0..C {
                let out = &mut out[c * V::WIDTH..];
                let start = if self.add { V::load(out) } else { V::zero() };
                sums[r][c].mul_add(self.scale, start).store(out);
            }
        }
        C
    }
}

/// The inner product of two lists of the same length.
#[inline(always)]
pub(super) fn dot<V: Lanes>(a: &[V::Real], b: &[V::Real]) -> V::Real {
    const CHAINS: usize = 4;
    let mut sums = [V::zero(); CHAINS];
    let (blocks_a, blocks_b) = (a.chunks_exact(CHAINS * V::WIDTH), b.chunks_exact(CHAINS * V::WIDTH));
    let (rest_a, rest_b) = (blocks_a.remainder(), blocks_b.remainder());
    for (a, b) in blocks_a.zip(blocks_b) {
        for c in 0..CHAINS {
            sums[c] = V::load(&a[c * V::WIDTH..]).mul_add(V::load(&b[c * V::WIDTH..]), sums[c]);
        }
    }
    let (vectors_a, vectors_b) = (rest_a.chunks_exact(V::WIDTH), rest_b.chunks_exact(V::WIDTH));
    let (last_a, last_b) = (vectors_a.remainder(), vectors_b.remainder());
    for (a, b) in vectors_a.zip(vectors_b) {
        sums[0] = V::load(a).mul_add(V::load(b), sums[0]);
    }
    let mut lanes = [V::Real::of(0.0); MAX_WIDTH];
    sums[0].add(sums[1]).add(sums[2].add(sums[3])).store(&mut lanes);
    let mut sum = V::Real::of(0.0);
    for lane in &lanes[..V::WIDTH] {
        sum += *lane;
    }
    for (a, b) in last_a.iter().zip(last_b) {
        sum += *a * *b;
    }
    sum
}

/// `out = [[diag a, diag c], [diag c, diag b]] matrix`, added to what it holds with `add`.
#[inline(always)]
pub(super) fn pair_rows<T: Real>(
    extent: Extent,
    [a, b, c]: [&[T]; 3],
    matrix: &[T],
    (factors, add): ([T; 2], bool),
    out: &mut [T],
) {
    let (half, stride) = (a.len(), extent.stride);
    let [of_variances, of_covariances] = factors;
    let (above, below) = matrix.split_at(half * stride);
    let (out_above, out_below) = out.split_at_mut(half * stride);
    for i in 0..half {
        let at = i * stride..(i + 1) * stride;
        let (above, below) = (&above[at.clone()], &below[at.clone()]);
        let (out_above, out_below) = (&mut out_above[at.clone()], &mut out_below[at]);
        let [a, b, c] = [of_variances * a[i], of_variances * b[i], of_covariances * c[i]];
        for j in 0..stride {
            let [upper, lower] = [a * above[j] + c * below[j], c * above[j] + b * below[j]];
            out_above[j] = if add { out_above[j] + upper } else { upper };
            out_below[j] = if add { out_below[j] + lower } else { lower };
        }
    }
}

/// `y += x' M` for a row vector `x`.
#[inline(always)]
pub(super) fn add_from_left<T: Real>(extent: Extent, x: &[T], matrix: &[T], y: &mut [T]) {
    for (x, row) in x.iter().zip(matrix.chunks_exact(extent.stride)) {
        for (y, entry) in y.iter_mut().zip(row) {
            *y += *x * *entry;
        }
    }
}

/// `M += x y'`.
#[inline(always)]
pub(super) fn add_outer<T: Real>(extent: Extent, x: &[T], y: &[T], matrix: &mut [T]) {
    for (x, row) in x.iter().zip(matrix.chunks_exact_mut(extent.stride)) {
        for (entry, y) in row.iter_mut().zip(y) {
            *entry += *x * *y;
        }
    }
}

/// `y += x`.
#[inline(always)]
pub(super) fn add<T: Real>(x: &[T], y: &mut [T]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += *x;
    }
}

/// The distance from 1 to the next number.
#[inline(always)]
pub(super) fn rounding<T: Real>() -> f64 {
    T::epsilon().as_f64()
}
