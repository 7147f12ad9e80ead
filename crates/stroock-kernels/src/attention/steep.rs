//! Channels that are observed only far below the largest score of their series.
//!
//! Relative to that score all their weights vanish, and a quotient of vanished sums says nothing. Their
//! softmax is computed relative to the largest score of the channel itself, for a block of reference points
//! at a time.

use num_traits::Float;
use stroock_geometry::Real;

use super::problem::Series;
use super::{BLOCK, load, row, store};
use crate::simd::{Lanes, SimdReal};

/// The softmax of one channel at one block of reference points: `exp(s - maximum) * inverse`.
#[derive(Clone, Debug)]
pub struct Steep<T> {
    pub(super) channel: usize,
    /// First reference point of the block.
    pub(super) first: usize,
    /// The largest score of the channel, by reference point.
    maximum: Vec<T>,
    /// One over the sum of the weights, by reference point.
    inverse: Vec<T>,
}

/// Sums below this are computed again. It splits the range of exponents in half: what has been rounded to
/// zero in a larger sum is far less than its rounding error, and its inverse is far from overflow.
#[inline(always)]
pub(super) fn threshold<T: Real>() -> T {
    T::min_positive_value().sqrt()
}

/// The softmax of a channel at a block, and its attended values.
#[inline(always)]
pub(super) fn attend<V: Lanes>(
    series: &Series<'_, V::Real>,
    scores: &[V::Real],
    padded: usize,
    channel: usize,
    first: usize,
) -> (Steep<V::Real>, [V; BLOCK]) {
    let score = |point: usize| row(scores, padded, series.times[point] as usize);
    let mut maximum = [V::splat(V::Real::neg_infinity()); BLOCK];
    for (point, _) in series.entries(channel) {
        let s = load::<V>(score(point), first);
        for i in 0..BLOCK {
            maximum[i] = s[i].max(maximum[i]);
        }
    }
    let [mut numerator, mut denominator] = [[V::zero(); BLOCK]; 2];
    for (point, x) in series.entries(channel) {
        let s = load::<V>(score(point), first);
        for i in 0..BLOCK {
            let weight = s[i].sub(maximum[i]).exp();
            numerator[i] = weight.mul_add(V::splat(x), numerator[i]);
            denominator[i] = denominator[i].add(weight);
        }
    }
    let mut inverse = [V::zero(); BLOCK];
    let mut attended = [V::zero(); BLOCK];
    for i in 0..BLOCK {
        inverse[i] = V::splat(V::Real::of(1.0)).div(denominator[i]);
        attended[i] = numerator[i].mul(inverse[i]);
    }
    let numbers = || vec![V::Real::of(0.0); BLOCK * V::WIDTH];
    let mut steep = Steep { channel, first, maximum: numbers(), inverse: numbers() };
    store(maximum, &mut steep.maximum, 0);
    store(inverse, &mut steep.inverse, 0);
    (steep, attended)
}

impl<T: SimdReal> Steep<T> {
    /// The softmax at the scores of a point.
    #[inline(always)]
    pub(super) fn softmax<V: Lanes<Real = T>>(&self, scores: &[T]) -> [V; BLOCK] {
        let s = load::<V>(scores, self.first);
        let (maximum, inverse) = (load::<V>(&self.maximum, 0), load::<V>(&self.inverse, 0));
        let mut softmax = [V::zero(); BLOCK];
        for i in 0..BLOCK {
            softmax[i] = s[i].sub(maximum[i]).exp().mul(inverse[i]);
        }
        softmax
    }
}
