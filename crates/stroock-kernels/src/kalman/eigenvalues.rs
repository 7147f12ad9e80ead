//! Transitions in an orthogonal basis that all steps share.
//!
//! With `A = E diag(lambda) E'`, covariances in the basis are `C = E' S E`, and over a gap `t` they become
//!
//! ```text
//! Z_ij = C_ij e^{z_ij} + (E' diag(q) E)_ij t phi(z_ij),   z_ij = (lambda_i + lambda_j) t,   phi(z) = (e^z - 1) / z,
//! ```
//!
//! so that a step costs two products of matrices: `S` has three diagonals, and of `E Z E'` only three are needed.

use stroock_geometry::Real;

use super::belief::parts;
use super::matrix::{Extent, add_from_left, add_outer, dot, pair_rows, rounding};
use super::transition::Predict;
use crate::simd::Lanes;

pub(super) struct Eigenvalues<'p, V: Lanes> {
    half: usize,
    extent: Extent,
    noise: &'p [V::Real],
    basis: Vec<V::Real>,
    /// The noise in the basis.
    noise_in_basis: Vec<V::Real>,
    growth: Growth<V>,
    /// `E' S E`.
    covariance: Vec<V::Real>,
    /// `Z`.
    moved: Vec<V::Real>,
    /// `E Z`.
    product: Vec<V::Real>,
    scratch: Vec<V::Real>,
    /// `E' m`, and the same after the gap.
    mean: [Vec<V::Real>; 2],
    of_mean: Vec<V::Real>,
    of_moved: Vec<V::Real>,
    of_basis: Vec<V::Real>,
    of_noise_in_basis: Vec<V::Real>,
}

impl<'p, V: Lanes> Eigenvalues<'p, V> {
    #[inline(always)]
    pub fn new(half: usize, basis: &'p [V::Real], noise: &'p [V::Real]) -> Self {
        let extent = Extent::new::<V>(2 * half);
        let basis = extent.padded(basis);
        let mut scaled = extent.zeros();
        for (i, row) in scaled.chunks_exact_mut(extent.stride).enumerate() {
            for (to, from) in row.iter_mut().zip(extent.row(&basis, i)) {
                *to = noise[i] * *from;
            }
        }
        let mut noise_in_basis = extent.zeros();
        extent.product::<V>((&basis, true), &scaled, (1.0, false), &mut noise_in_basis);
        let vector = || vec![V::Real::of(0.0); extent.stride];
        Self {
            half,
            extent,
            noise,
            basis,
            noise_in_basis,
            growth: Growth::new(extent),
            covariance: extent.zeros(),
            moved: extent.zeros(),
            product: extent.zeros(),
            scratch: scaled,
            mean: [vector(), vector()],
            of_mean: vector(),
            of_moved: extent.zeros(),
            of_basis: extent.zeros(),
            of_noise_in_basis: extent.zeros(),
        }
    }
}

impl<V: Lanes> Predict<V> for Eigenvalues<'_, V> {
    #[inline(always)]
    fn predict(&mut self, coefficients: &[V::Real], gap: V::Real, from: &[V::Real], to: &mut [V::Real]) {
        let (half, extent) = (self.half, self.extent);
        let from = parts(from, half);
        self.growth.set(coefficients, gap);
        let one = V::Real::of(1.0);
        let diagonals = [from.upper, from.lower, from.cross];
        pair_rows(extent, diagonals, &self.basis, ([one; 2], false), &mut self.scratch);
        extent.product::<V>((&self.basis, true), &self.scratch, (1.0, false), &mut self.covariance);
        for i in 0..extent.n {
            let at = i * extent.stride;
            for j in (0..extent.stride).step_by(V::WIDTH) {
                let covariance = V::load(&self.covariance[at + j..]);
                let noise = V::load(&self.noise_in_basis[at + j..]);
                let (factor, integral) = self.growth.at(i, j);
                covariance.mul_add(factor, noise.mul(integral)).store(&mut self.moved[at + j..]);
            }
        }
        extent.product::<V>((&self.basis, false), &self.moved, (1.0, false), &mut self.product);

        let [mean, mean_after] = &mut self.mean;
        mean.fill(V::Real::of(0.0));
        add_from_left(extent, from.mean, &self.basis, mean);
        for (after, (mean, factor)) in mean_after.iter_mut().zip(mean.iter().zip(&self.growth.factors)) {
            *after = *mean * *factor;
        }
        for i in 0..half {
            let [above, below] = [extent.row(&self.basis, i), extent.row(&self.basis, half + i)];
            let [of_above, of_below] = [extent.row(&self.product, i), extent.row(&self.product, half + i)];
            to[i] = dot::<V>(above, mean_after);
            to[half + i] = dot::<V>(below, mean_after);
            to[2 * half + i] = dot::<V>(of_above, above);
            to[3 * half + i] = dot::<V>(of_below, below);
            to[4 * half + i] = dot::<V>(of_above, below);
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

        // Of the covariances: D has the cotangents of the diagonals, half of them on either side for the covariances.
        let diagonals = [of_to.upper, of_to.lower, of_to.cross];
        pair_rows(extent, diagonals, &self.product, ([two, one], true), &mut self.of_basis);
        pair_rows(extent, diagonals, &self.basis, ([one, half_one], false), &mut self.scratch);
        extent.product::<V>((&self.basis, true), &self.scratch, (1.0, false), &mut self.of_moved);
        for i in 0..extent.n {
            let at = i * extent.stride;
            let mut of_eigenvalue = V::zero();
            for j in (0..extent.stride).step_by(V::WIDTH) {
                let of_moved = V::load(&self.of_moved[at + j..]);
                let covariance = V::load(&self.covariance[at + j..]);
                let noise = V::load(&self.noise_in_basis[at + j..]);
                let (factor, integral, slope) = self.growth.with_slope_at(i, j);
                let of_noise = V::load(&self.of_noise_in_basis[at + j..]);
                of_moved.mul_add(integral, of_noise).store(&mut self.of_noise_in_basis[at + j..]);
                let of_covariance = of_moved.mul(factor);
                of_covariance.store(&mut self.of_moved[at + j..]);
                of_eigenvalue = of_covariance.mul_add(covariance, of_eigenvalue);
                of_eigenvalue = of_moved.mul(noise).mul_add(slope, of_eigenvalue);
            }
            // An eigenvalue stands in a row and in a column.
            of_coefficients[i] = two * self.growth.gap * sum_of_lanes(of_eigenvalue);
        }
        extent.product::<V>((&self.basis, false), &self.of_moved, (1.0, false), &mut self.scratch);
        let before = [from.upper, from.lower, from.cross];
        pair_rows(extent, before, &self.scratch, ([two, two], true), &mut self.of_basis);
        for i in 0..half {
            let [above, below] = [extent.row(&self.basis, i), extent.row(&self.basis, half + i)];
            let [of_above, of_below] = [extent.row(&self.scratch, i), extent.row(&self.scratch, half + i)];
            of_from[2 * half + i] = dot::<V>(of_above, above);
            of_from[3 * half + i] = dot::<V>(of_below, below);
            of_from[4 * half + i] = two * dot::<V>(of_above, below);
        }

        // Of the mean.
        let [_, mean_after] = &self.mean;
        add_outer(extent, of_to.mean, mean_after, &mut self.of_basis);
        self.of_mean.fill(zero);
        add_from_left(extent, of_to.mean, &self.basis, &mut self.of_mean);
        for i in 0..extent.n {
            of_coefficients[i] += self.growth.gap * self.of_mean[i] * mean_after[i];
            self.of_mean[i] *= self.growth.factors[i];
        }
        add_outer(extent, from.mean, &self.of_mean, &mut self.of_basis);
        for i in 0..extent.n {
            of_from[i] = dot::<V>(extent.row(&self.basis, i), &self.of_mean);
        }
    }

    #[inline(always)]
    fn finish(mut self) -> (Vec<V::Real>, Vec<V::Real>) {
        let (extent, two) = (self.extent, V::Real::of(2.0));
        extent.product::<V>((&self.basis, false), &self.of_noise_in_basis, (1.0, false), &mut self.scratch);
        let mut of_noise = vec![V::Real::of(0.0); extent.n];
        let mut of_basis = Vec::with_capacity(extent.n * extent.n);
        for i in 0..extent.n {
            let row = extent.row(&self.scratch, i);
            of_noise[i] = dot::<V>(row, extent.row(&self.basis, i));
            let of_row = &extent.row(&self.of_basis, i)[..extent.n];
            for (of_entry, entry) in of_row.iter().zip(row) {
                of_basis.push(*of_entry + two * self.noise[i] * *entry);
            }
        }
        (of_noise, of_basis)
    }
}

#[inline(always)]
fn sum_of_lanes<V: Lanes>(vector: V) -> V::Real {
    let mut lanes = [V::Real::of(0.0); crate::simd::MAX_WIDTH];
    vector.store(&mut lanes);
    let mut sum = V::Real::of(0.0);
    for lane in &lanes[..V::WIDTH] {
        sum += *lane;
    }
    sum
}

/// `e^{z_ij}`, `t phi(z_ij)` and its derivative for all pairs of eigenvalues.
struct Growth<V: Lanes> {
    gap: V::Real,
    /// `lambda_i t`, with zeros at the end.
    exponents: Vec<V::Real>,
    /// `e^{lambda_i t}`.
    factors: Vec<V::Real>,
    /// `1 / (k + 1)!` and `(k + 1) / (k + 2)!`: the powers of `phi` and of its derivative, the last ones first.
    powers: Vec<[V::Real; 2]>,
}

/// Up to here `phi` is a sum of powers; `(e^z - 1) / z` has lost its digits to cancellation before 0.
const NEAR: f64 = 1.0;

impl<V: Lanes> Growth<V> {
    #[inline(always)]
    fn new(extent: Extent) -> Self {
        let most = 8.0 / rounding::<V::Real>();
        let (mut powers, mut factorial, mut k) = (Vec::new(), 1.0, 1.0);
        while factorial < most {
            let of_slope = k / (factorial * (k + 1.0));
            powers.push([1.0 / factorial, of_slope].map(V::Real::of));
            k += 1.0;
            factorial *= k;
        }
        powers.reverse();
        let zeros = vec![V::Real::of(0.0); extent.stride];
        Self { gap: V::Real::of(0.0), exponents: zeros.clone(), factors: zeros, powers }
    }

    #[inline(always)]
    fn set(&mut self, eigenvalues: &[V::Real], gap: V::Real) {
        self.gap = gap;
        for (exponent, eigenvalue) in self.exponents.iter_mut().zip(eigenvalues) {
            *exponent = *eigenvalue * gap;
        }
        for j in (0..self.factors.len()).step_by(V::WIDTH) {
            V::load(&self.exponents[j..]).exp().store(&mut self.factors[j..]);
        }
    }

    /// `e^z` and `t phi(z)` of row `i` and the columns from `j` on.
    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> (V, V) {
        let (factor, integral, _) = self.with_slope_at(i, j);
        (factor, integral)
    }

    /// The same with `t phi'(z)`.
    #[inline(always)]
    fn with_slope_at(&self, i: usize, j: usize) -> (V, V, V) {
        let z = V::splat(self.exponents[i]).add(V::load(&self.exponents[j..]));
        let factor = V::splat(self.factors[i]).mul(V::load(&self.factors[j..]));
        let (one, near, gap) = (V::splat(V::Real::of(1.0)), V::Real::of(NEAR), V::splat(self.gap));
        let magnitude = z.max(V::zero().sub(z));
        let far_z = magnitude.where_greater(near, z);
        let near_z = z.sub(far_z);
        let [mut value, mut slope] = [V::zero(); 2];
        for [of_value, of_slope] in &self.powers {
            value = value.mul_add(near_z, V::splat(*of_value));
            slope = slope.mul_add(near_z, V::splat(*of_slope));
        }
        // Lanes that are near divide by 1 and are not taken.
        let divisor = far_z.add(one.sub(magnitude.where_greater(near, one)));
        let far_value = factor.sub(one).div(divisor);
        let far_slope = factor.sub(far_value).div(divisor);
        let value = value.sub(magnitude.where_greater(near, value));
        let value = value.add(magnitude.where_greater(near, far_value));
        let slope = slope.sub(magnitude.where_greater(near, slope));
        let slope = slope.add(magnitude.where_greater(near, far_slope));
        (factor, value.mul(gap), slope.mul(gap))
    }
}
