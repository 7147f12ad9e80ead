//! The mean and the deviation of a frame.

use num_traits::Float;
use stroock_geometry::Real;

use crate::simd::Lanes;

/// Vectors that are summed side by side, since one sum would wait for every addition.
const SUMS: usize = 4;

/// Mean and deviation of the numbers of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments<T> {
    /// The mean, rounded.
    pub mean: T,
    /// What rounding has taken from it: numbers that differ by little beside their mean keep their digits.
    pub remainder: T,
    /// `1 / sqrt(variance + epsilon)`; not a number where the variance is not finite.
    pub inverse: T,
}

/// The moments of a frame of at least one number, in two passes. The first subtracts the first number, so that
/// a constant frame has its own number as its mean, to the last bit.
#[inline(always)]
pub(super) fn moments<V: Lanes>(frame: &[V::Real], epsilon: V::Real) -> Moments<V::Real> {
    let (one, zero) = (V::Real::of(1.0), V::Real::of(0.0));
    let count = V::Real::of(frame.len() as f64);
    let mean = frame[0] + sums::<V, false>(frame, frame[0]).0 / count;
    let (sum, squares) = sums::<V, true>(frame, mean);
    let remainder = sum / count;
    let variance = (squares - sum * remainder) / (count - one).max(one);
    // Rounding can leave less than nothing. What is not a number is not less than 0, and stays.
    let variance = if variance < zero { zero } else { variance };
    let inverse = one / (variance + epsilon).sqrt();
    let inverse = if inverse > zero { inverse } else { V::Real::nan() };
    Moments { mean, remainder, inverse }
}

/// `sum_i (x_i - shift)`, and with `SQUARES` also `sum_i (x_i - shift)^2`.
#[inline(always)]
fn sums<V: Lanes, const SQUARES: bool>(frame: &[V::Real], shift: V::Real) -> (V::Real, V::Real) {
    let shift = V::splat(shift);
    let mut sums = [V::zero(); SUMS];
    let mut squares = [V::zero(); SUMS];
    let mut blocks = frame.chunks_exact(SUMS * V::WIDTH);
    for block in &mut blocks {
        for i in 0..SUMS {
            let x = V::load(&block[i * V::WIDTH..]).sub(shift);
            sums[i] = sums[i].add(x);
            if SQUARES {
                squares[i] = x.mul_add(x, squares[i]);
            }
        }
    }
    for part in blocks.remainder().chunks(V::WIDTH) {
        let x = V::load_part(part, shift).sub(shift);
        sums[0] = sums[0].add(x);
        if SQUARES {
            squares[0] = x.mul_add(x, squares[0]);
        }
    }
    let sum = sums[0].add(sums[1]).add(sums[2].add(sums[3])).total();
    let square = squares[0].add(squares[1]).add(squares[2].add(squares[3])).total();
    (sum, square)
}
