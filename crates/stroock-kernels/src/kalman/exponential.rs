//! Transitions by banded matrices: the exponential and the noise that gathers over a gap.
//!
//! With `B = A t / 2^j` and `X_0 = diag(q) t / 2^j`, both are sums of powers over the `2^j`-th part of the gap,
//!
//! ```text
//! Phi = sum_k P_k,   P_k = B P_{k-1} / k,                        P_0 = I,
//! N   = sum_k X_k,   X_k = (B X_{k-1} + X_{k-1} B') / (k + 1),
//! ```
//!
//! and for twice the time `N + Phi N Phi'` and `Phi^2`, `j` times. The number of doublings and of summands follows the norm
//! of the matrix, so that what is left out is below the rounding, of values and of gradients.

use stroock_geometry::Real;

use super::belief::parts;
use super::matrix::{Extent, add, add_from_left, add_outer, dot, pair_rows, rounding};
use super::problem::Transition;
use super::transition::Predict;
use crate::simd::Lanes;

/// Largest norm of a matrix whose powers are summed.
const NEAR: f64 = 0.5;
/// Most doublings and summands, for norms beyond all use.
const MOST_DOUBLINGS: usize = 24;
const MOST_TERMS: usize = 24;

pub(super) struct Exponential<'p, V: Lanes> {
    half: usize,
    extent: Extent,
    /// Places of the entries inside the bands.
    places: Vec<usize>,
    noise: &'p [V::Real],
    /// `t / 2^j`.
    part: V::Real,
    /// `B`.
    matrix: Vec<V::Real>,
    /// `P_k` and `X_k`; there is room for more than the last gap has needed.
    terms: Vec<[Vec<V::Real>; 2]>,
    count: usize,
    /// `Phi` and `N` before every doubling and after the last.
    levels: Vec<[Vec<V::Real>; 2]>,
    doublings: usize,
    scratch: [Vec<V::Real>; 2],
    adjoint: Adjoint<V>,
}

/// Cotangents.
struct Adjoint<V: Lanes> {
    /// Of `Phi` and `N`.
    of_level: [Vec<V::Real>; 2],
    /// Of `P_k` and `X_k`.
    of_term: [Vec<V::Real>; 2],
    /// Of `B`.
    of_matrix: Vec<V::Real>,
    of_noise: Vec<V::Real>,
    /// Sums over columns.
    sums: [Vec<V::Real>; 2],
}

impl<'p, V: Lanes> Exponential<'p, V> {
    #[inline(always)]
    pub fn new(half: usize, bandwidth: usize, noise: &'p [V::Real]) -> Self {
        let extent = Extent::new::<V>(2 * half);
        let places = Transition::<V::Real>::banded_places(half, bandwidth);
        let pair = || [extent.zeros(), extent.zeros()];
        let vector = || vec![V::Real::of(0.0); extent.stride];
        Self {
            half,
            extent,
            places: places.map(|(i, j)| i * extent.stride + j).collect(),
            noise,
            part: V::Real::of(0.0),
            matrix: extent.zeros(),
            terms: vec![pair()],
            count: 0,
            levels: vec![pair()],
            doublings: 0,
            scratch: pair(),
            adjoint: Adjoint {
                of_level: pair(),
                of_term: pair(),
                of_matrix: extent.zeros(),
                of_noise: vec![V::Real::of(0.0); extent.n],
                sums: [vector(), vector()],
            },
        }
    }

    /// Sets `B`, and how often it is doubled and how many powers are summed.
    #[inline(always)]
    fn set(&mut self, coefficients: &[V::Real], gap: V::Real) {
        for (place, coefficient) in self.places.iter().zip(coefficients) {
            self.matrix[*place] = *coefficient * gap;
        }
        let mut norm = largest_row_sum(self.extent, &self.matrix).as_f64();
        self.doublings = 0;
        while norm > NEAR && self.doublings < MOST_DOUBLINGS {
            norm *= 0.5;
            self.doublings += 1;
        }
        let scale = V::Real::of(0.5f64.powi(self.doublings as i32));
        self.part = gap * scale;
        for entry in &mut self.matrix {
            *entry *= scale;
        }
        // The gradient of the summand after the last, relative to that of the first.
        let (mut left_out, least) = (norm, rounding::<V::Real>());
        self.count = 1;
        while left_out > least && self.count < MOST_TERMS {
            self.count += 1;
            left_out *= 2.0 * norm / (self.count + 1) as f64;
        }
        while self.terms.len() <= self.count {
            self.terms.push([self.extent.zeros(), self.extent.zeros()]);
        }
        while self.levels.len() <= self.doublings {
            self.levels.push([self.extent.zeros(), self.extent.zeros()]);
        }
    }

    /// `Phi` and `N` of the part of the gap.
    #[inline(always)]
    fn sum_powers(&mut self) {
        let Self { extent, matrix, terms, levels, count, .. } = self;
        let [transition, gathered] = &mut levels[0];
        let [identity, first] = &mut terms[0];
        identity.fill(V::Real::of(0.0));
        first.fill(V::Real::of(0.0));
        for i in 0..extent.n {
            identity[i * extent.stride + i] = V::Real::of(1.0);
            first[i * extent.stride + i] = self.noise[i] * self.part;
        }
        transition.copy_from_slice(identity);
        gathered.copy_from_slice(first);
        for k in 1..=*count {
            let (done, next) = terms.split_at_mut(k);
            let ([power, integral], [next_power, next_integral]) = (&done[k - 1], &mut next[0]);
            if k == 1 {
                next_power.copy_from_slice(matrix);
            } else {
                extent.product::<V>((matrix, false), power, (1.0 / k as f64, false), next_power);
            }
            extent.product::<V>((matrix, false), integral, (1.0, false), next_integral);
            extent.symmetrise(next_integral, V::Real::of(1.0 / (k + 1) as f64), None);
            add(next_power, transition);
            add(next_integral, gathered);
        }
    }

    #[inline(always)]
    fn double(&mut self) {
        let Self { extent, levels, scratch: [scratch, transposed], .. } = self;
        for level in 0..self.doublings {
            let (done, next) = levels.split_at_mut(level + 1);
            let ([transition, gathered], [next_transition, next_gathered]) = (&done[level], &mut next[0]);
            extent.transpose(transition, transposed);
            extent.product::<V>((transition, false), gathered, (1.0, false), scratch);
            next_gathered.copy_from_slice(gathered);
            extent.product::<V>((scratch, false), transposed, (1.0, true), next_gathered);
            extent.product::<V>((transition, false), transition, (1.0, false), next_transition);
        }
    }

    /// The adjoint of [`double`](Self::double): with the cotangents `G` of `N + Phi N Phi'` and `H` of `Phi^2`, those of
    /// `N` and `Phi` are `G + Phi' G Phi` and `2 G Phi N + H Phi' + Phi' H`.
    #[inline(always)]
    fn pull_back_double(&mut self) {
        let Self { extent, levels, scratch: [scratch, transposed], adjoint, .. } = self;
        let Adjoint { of_level: [of_transition, of_gathered], of_term: [of_next, _], .. } = adjoint;
        for level in (0..self.doublings).rev() {
            let [transition, gathered] = &levels[level];
            extent.product::<V>((of_gathered, false), transition, (1.0, false), scratch);
            extent.product::<V>((transition, true), scratch, (1.0, true), of_gathered);
            of_next.copy_from_slice(of_transition);
            extent.product::<V>((scratch, false), gathered, (2.0, false), of_transition);
            extent.transpose(transition, transposed);
            extent.product::<V>((of_next, false), transposed, (1.0, true), of_transition);
            extent.product::<V>((transition, true), of_next, (1.0, true), of_transition);
        }
    }

    /// The adjoint of [`sum_powers`](Self::sum_powers).
    #[inline(always)]
    fn pull_back_powers(&mut self) {
        let Self { extent, matrix, terms, scratch: [scratch, transposed], adjoint, .. } = self;
        let Adjoint { of_level: [of_transition, of_gathered], of_term, of_matrix, of_noise, .. } = adjoint;
        let [of_power, of_integral] = of_term;
        of_power.copy_from_slice(of_transition);
        of_integral.copy_from_slice(of_gathered);
        of_matrix.fill(V::Real::of(0.0));
        for k in (1..=self.count).rev() {
            let [power, integral] = &terms[k - 1];
            let share = 1.0 / (k + 1) as f64;
            if k == 1 {
                add(of_power, of_matrix);
            } else {
                extent.transpose(power, transposed);
                extent.product::<V>((of_power, false), transposed, (1.0 / k as f64, true), of_matrix);
                scratch.copy_from_slice(of_transition);
                extent.product::<V>((matrix, true), of_power, (1.0 / k as f64, true), scratch);
                std::mem::swap(scratch, of_power);
            }
            extent.product::<V>((of_integral, false), integral, (2.0 * share, true), of_matrix);
            extent.product::<V>((matrix, true), of_integral, (1.0, false), scratch);
            extent.symmetrise(scratch, V::Real::of(share), Some(of_gathered));
            std::mem::swap(scratch, of_integral);
        }
        for i in 0..extent.n {
            of_noise[i] += of_integral[i * extent.stride + i] * self.part;
        }
    }
}

impl<V: Lanes> Predict<V> for Exponential<'_, V> {
    #[inline(always)]
    fn predict(&mut self, coefficients: &[V::Real], gap: V::Real, from: &[V::Real], to: &mut [V::Real]) {
        self.set(coefficients, gap);
        self.sum_powers();
        self.double();
        let (half, extent) = (self.half, self.extent);
        let from = parts(from, half);
        let [transition, gathered] = &self.levels[self.doublings];
        let covariance = &mut self.scratch[0];
        times_diagonals(extent, transition, [from.upper, from.lower, from.cross], covariance);
        let mean = &mut self.adjoint.sums[0];
        mean[..extent.n].copy_from_slice(from.mean);
        for i in 0..half {
            let j = half + i;
            let [above, below] = [extent.row(transition, i), extent.row(transition, j)];
            let [of_above, of_below] = [extent.row(covariance, i), extent.row(covariance, j)];
            to[i] = dot::<V>(above, mean);
            to[j] = dot::<V>(below, mean);
            to[2 * half + i] = dot::<V>(of_above, above) + gathered[i * extent.stride + i];
            to[3 * half + i] = dot::<V>(of_below, below) + gathered[j * extent.stride + j];
            to[4 * half + i] = dot::<V>(of_above, below) + gathered[i * extent.stride + j];
        }
    }

    #[inline(always)]
    fn pull_back(
        &mut self,
        from: &[V::Real],
        of_to: &[V::Real],
        of_from: &mut [V::Real],
        of_coefficients: &mut [V::Real],
    ) {
        let (half, extent) = (self.half, self.extent);
        let (from, of_to) = (parts(from, half), parts(of_to, half));
        let [zero, one, two, half_one] = [0.0, 1.0, 2.0, 0.5].map(V::Real::of);
        let transition = &self.levels[self.doublings][0];
        let [covariance, weighted] = &mut self.scratch;
        let Adjoint { of_level: [of_transition, of_gathered], sums: [sums, crosses], .. } = &mut self.adjoint;

        // D has the cotangents of the diagonals, half of them on either side for the covariances.
        let diagonals = [of_to.upper, of_to.lower, of_to.cross];
        times_diagonals(extent, transition, [from.upper, from.lower, from.cross], covariance);
        pair_rows(extent, diagonals, covariance, ([two, one], false), of_transition);
        add_outer(extent, of_to.mean, from.mean, of_transition);
        of_gathered.fill(zero);
        for i in 0..half {
            let j = half + i;
            of_gathered[i * extent.stride + i] = of_to.upper[i];
            of_gathered[j * extent.stride + j] = of_to.lower[i];
            of_gathered[i * extent.stride + j] = half_one * of_to.cross[i];
            of_gathered[j * extent.stride + i] = half_one * of_to.cross[i];
        }
        pair_rows(extent, diagonals, transition, ([one, half_one], false), weighted);
        sums.fill(zero);
        crosses.fill(zero);
        for i in 0..extent.n {
            let (weighted, row) = (extent.row(weighted, i), extent.row(transition, i));
            for (sum, (weighted, entry)) in sums.iter_mut().zip(weighted.iter().zip(row)) {
                *sum += *weighted * *entry;
            }
            for (sum, (weighted, entry)) in crosses[..half].iter_mut().zip(weighted.iter().zip(&row[half..]))
            {
                *sum += *weighted * *entry;
            }
        }
        of_from[2 * half..4 * half].copy_from_slice(&sums[..2 * half]);
        for i in 0..half {
            of_from[4 * half + i] = two * crosses[i];
        }
        sums.fill(zero);
        add_from_left(extent, of_to.mean, transition, sums);
        of_from[..extent.n].copy_from_slice(&sums[..extent.n]);

        self.pull_back_double();
        self.pull_back_powers();
        for (of_coefficient, place) in of_coefficients.iter_mut().zip(&self.places) {
            *of_coefficient = self.adjoint.of_matrix[*place] * self.part;
        }
    }

    #[inline(always)]
    fn finish(self) -> (Vec<V::Real>, Vec<V::Real>) {
        (self.adjoint.of_noise, Vec::new())
    }
}

/// `out = matrix [[diag a, diag c], [diag c, diag b]]`.
#[inline(always)]
fn times_diagonals<T: Real>(extent: Extent, matrix: &[T], [a, b, c]: [&[T]; 3], out: &mut [T]) {
    let half = a.len();
    for (row, out) in matrix.chunks_exact(extent.stride).zip(out.chunks_exact_mut(extent.stride)) {
        let (left, right) = (&row[..half], &row[half..2 * half]);
        let (out_left, out_right) = out.split_at_mut(half);
        for k in 0..half {
            out_left[k] = left[k] * a[k] + right[k] * c[k];
            out_right[k] = left[k] * c[k] + right[k] * b[k];
        }
        out_right[half..].fill(T::zero());
    }
}

/// The largest sum of magnitudes of a row: a norm that bounds those of all powers.
#[inline(always)]
fn largest_row_sum<T: Real>(extent: Extent, matrix: &[T]) -> T {
    let mut largest = T::zero();
    for row in matrix.chunks_exact(extent.stride) {
        let mut sum = T::zero();
        for entry in row {
            sum += entry.abs();
        }
        largest = largest.max(sum);
    }
    largest
}
