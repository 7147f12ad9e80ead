//! Group normalisation of frames in lanes, with all channels of a frame in one group.
//!
//! With the mean `m` and the unbiased variance `v` of the `N` numbers `x` of a frame and `r = 1 / sqrt(v + epsilon)`,
//!
//! ```text
//! h_i = r (x_i - m),     y_i = max(scale_c h_i + offset_c, 0).
//! ```
//!
//! Let `g` be the gradient of a loss with respect to `y`, and 0 where the output was cut at 0. Then
//!
//! ```text
//! d/dx_i = r (scale_c g_i - 1/N sum_j scale_c g_j - h_i / (N-1) sum_j scale_c g_j h_j),
//! d/dscale_c = sum_{i in c} g_i h_i,     d/doffset_c = sum_{i in c} g_i.
//! ```
//!
//! Every lane is a frame, so that sums over a frame are sums of vectors, and nothing is added across lanes but the
//! gradients of the parameters at the end. The output is not needed backward, since the sign of every number is made
//! again from its image.

use num_traits::Float;
use stroock_geometry::Real;

use super::convolution::frames::pixel_distance;
use super::convolution::layout::Side;
use crate::simd::Lanes;

/// Sums side by side, since one would wait for every addition.
const SUMS: usize = 4;

/// Means and standard deviations of the frames in one vector.
#[derive(Clone, Copy)]
struct Moments<V> {
    /// The mean, rounded.
    mean: V,
    /// What rounding has taken from it: numbers that differ by little beside their mean keep their digits.
    remainder: V,
    /// `1 / sqrt(variance + epsilon)`; not a number where the variance is not finite.
    inverse: V,
}

/// Numbers that a vector of frames keeps: mean, remainder and inverse.
const KEPT: usize = 3;

/// Numbers that a group of frames keeps of its moments.
pub(super) fn moments_extent(group: usize) -> usize {
    KEPT * group
}

impl<V: Lanes> Moments<V> {
    #[inline(always)]
    fn load(kept: &[V::Real]) -> Self {
        let at = |i: usize| V::load(&kept[i * V::WIDTH..]);
        Self { mean: at(0), remainder: at(1), inverse: at(2) }
    }

    #[inline(always)]
    fn store(self, kept: &mut [V::Real]) {
        for (i, numbers) in [self.mean, self.remainder, self.inverse].into_iter().enumerate() {
            numbers.store(&mut kept[i * V::WIDTH..]);
        }
    }
}

/// The runs of one vector of frames: those of every channel of every pixel.
#[derive(Clone, Copy)]
struct Runs {
    pixels: usize,
    channels: usize,
    /// From a channel to the next one, and from a pixel to the next one.
    group: usize,
    distance: usize,
}

impl Runs {
    #[inline(always)]
    fn new(side: Side, group: usize) -> Self {
        let distance = pixel_distance(side.channels, group);
        Self { pixels: side.pixels(), channels: side.channels, group, distance }
    }

    /// `sum (x - shift)`, and with `SQUARES` also `sum (x - shift)^2`.
    #[inline(always)]
    fn sums<V: Lanes, const SQUARES: bool>(self, x: &[V::Real], shift: V) -> (V, V) {
        let mut sums = [V::zero(); SUMS];
        let mut squares = [V::zero(); SUMS];
        for pixel in 0..self.pixels {
            let x = &x[pixel * self.distance..];
            for channel in 0..self.channels {
                let centred = V::load(&x[channel * self.group..]).sub(shift);
                sums[channel % SUMS] = sums[channel % SUMS].add(centred);
                if SQUARES {
                    squares[channel % SUMS] = centred.mul_add(centred, squares[channel % SUMS]);
                }
            }
        }
        let total = |parts: [V; SUMS]| parts[0].add(parts[1]).add(parts[2].add(parts[3]));
        (total(sums), total(squares))
    }

    /// Moments in two passes. The first subtracts the first number of a frame, so that a constant frame has its own
    /// number as its mean, to the last bit.
    #[inline(always)]
    fn moments<V: Lanes>(self, x: &[V::Real], epsilon: V::Real) -> Moments<V> {
        let numbers = V::Real::of((self.pixels * self.channels) as f64);
        let one = V::Real::of(1.0);
        let (count, rest) = (V::splat(numbers), V::splat((numbers - one).max(one)));
        let first = V::load(x);
        let mean = first.add(self.sums::<V, false>(x, first).0.div(count));
        let (sum, squares) = self.sums::<V, true>(x, mean);
        let remainder = sum.div(count);
        // Rounding can leave less than nothing, and the square root takes that for 0. What is not finite shows in
        // the difference, which is 0 otherwise.
        let variance = sum.neg_mul_add(remainder, squares).div(rest);
        let inverse = V::splat(one).div(V::zero().max(variance).add(V::splat(epsilon)).sqrt());
        Moments { mean, remainder, inverse: inverse.add(variance.sub(variance)) }
    }
}

/// `y = factor (x - mean) + addend` of one channel.
#[derive(Clone, Copy)]
struct Channel<V> {
    mean: V,
    factor: V,
    addend: V,
}

impl<V: Lanes> Channel<V> {
    #[inline(always)]
    fn new(moments: Moments<V>, scale: V::Real, offset: V::Real) -> Self {
        let factor = moments.inverse.mul(V::splat(scale));
        let addend = moments.remainder.neg_mul_add(factor, V::splat(offset));
        Self { mean: moments.mean, factor, addend }
    }

    /// The output in front of the activation.
    #[inline(always)]
    fn output(&self, centred: V) -> V {
        centred.mul_add(self.factor, self.addend)
    }
}

/// The parameters of a normalisation.
#[derive(Clone, Copy)]
pub(super) struct Parameters<'p, T> {
    pub scale: &'p [T],
    pub offset: &'p [T],
    pub epsilon: T,
}

impl<T: Real> Parameters<'_, T> {
    #[inline(always)]
    fn channels<V: Lanes<Real = T>>(&self, moments: Moments<V>) -> Vec<Channel<V>> {
        let mut channels = Vec::with_capacity(self.scale.len());
        for (scale, offset) in self.scale.iter().zip(self.offset) {
            channels.push(Channel::new(moments, *scale, *offset));
        }
        channels
    }
}

/// The moments of a group, into `kept`.
#[inline(always)]
pub(super) fn moments<V: Lanes>(
    side: Side,
    group: usize,
    parameters: Parameters<'_, V::Real>,
    x: &[V::Real],
    kept: &mut [V::Real],
) {
    let runs = Runs::new(side, group);
    for (vector, kept) in kept.chunks_exact_mut(KEPT * V::WIDTH).enumerate() {
        runs.moments::<V>(&x[vector * V::WIDTH..], parameters.epsilon).store(kept);
    }
}

/// `y = max(normalised x, 0)`; what is not a number stays so.
#[inline(always)]
pub(super) fn normalise<V: Lanes>(
    side: Side,
    group: usize,
    parameters: Parameters<'_, V::Real>,
    kept: &[V::Real],
    x: &[V::Real],
    y: &mut [V::Real],
) {
    let runs = Runs::new(side, group);
    for (vector, kept) in kept.chunks_exact(KEPT * V::WIDTH).enumerate() {
        let channels = parameters.channels(Moments::<V>::load(kept));
        for pixel in 0..runs.pixels {
            let first = pixel * runs.distance + vector * V::WIDTH;
            let (x, y) = (&x[first..], &mut y[first..]);
            for (number, channel) in channels.iter().enumerate() {
                let centred = V::load(&x[number * group..]).sub(channel.mean);
                V::zero().max(channel.output(centred)).store(&mut y[number * group..]);
            }
        }
    }
}

/// What comes back to one channel of a vector of frames.
#[derive(Clone, Copy)]
struct Sums<V> {
    /// `sum g`, and `sum g u` with `u = x - mean`.
    values: V,
    products: V,
}

/// From the gradient of the output in `g` to that of `x`, in place. The gradients of the scale and of the offset are
/// added to `of_scale` and `of_offset`, `[channel, lane]`.
#[inline(always)]
pub(super) fn pull_back<V: Lanes>(
    side: Side,
    group: usize,
    parameters: Parameters<'_, V::Real>,
    kept: &[V::Real],
    x: &[V::Real],
    g: &mut [V::Real],
    [of_scale, of_offset]: [&mut [V::Real]; 2],
) {
    let runs = Runs::new(side, group);
    let numbers = V::Real::of((runs.pixels * runs.channels) as f64);
    let one = V::Real::of(1.0);
    let (count, rest) = (V::splat(numbers), V::splat((numbers - one).max(one)));
    for (vector, kept) in kept.chunks_exact(KEPT * V::WIDTH).enumerate() {
        let moments = Moments::<V>::load(kept);
        let Moments { remainder, inverse, .. } = moments;
        let channels = parameters.channels(moments);
        let mut sums = vec![Sums { values: V::zero(), products: V::zero() }; channels.len()];
        for pixel in 0..runs.pixels {
            let first = pixel * runs.distance + vector * V::WIDTH;
            let (x, g) = (&x[first..], &mut g[first..]);
            for (number, (channel, sums)) in channels.iter().zip(&mut sums).enumerate() {
                let u = V::load(&x[number * group..]).sub(channel.mean);
                let g = &mut g[number * group..];
                let through = channel.output(u).where_greater(V::Real::of(0.0), V::load(g));
                through.store(g);
                sums.values = sums.values.add(through);
                sums.products = through.mul_add(u, sums.products);
            }
        }
        // Over the frame: `sum scale_c g` and `sum scale_c g u`.
        let [mut of_values, mut products] = [V::zero(); 2];
        for (number, sums) in sums.iter().enumerate() {
            let scale = V::splat(parameters.scale[number]);
            of_values = sums.values.mul_add(scale, of_values);
            products = sums.products.mul_add(scale, products);
            let of_offset = &mut of_offset[number * V::WIDTH..];
            V::load(of_offset).add(sums.values).store(of_offset);
            let of_scale = &mut of_scale[number * V::WIDTH..];
            let centred = sums.values.neg_mul_add(remainder, sums.products);
            centred.mul_add(inverse, V::load(of_scale)).store(of_scale);
        }
        // `r (scale_c g - mean of scale_c g - h q)` as a linear function of `g` and `u`.
        let q = inverse.mul(of_values.neg_mul_add(remainder, products)).div(rest);
        // Not the square of the inverse: it would overflow for a constant frame and a small epsilon.
        let of_u = inverse.mul(q).mul(inverse);
        let constant = remainder.mul(of_u).sub(inverse.mul(of_values).div(count));
        for pixel in 0..runs.pixels {
            let first = pixel * runs.distance + vector * V::WIDTH;
            let (x, g) = (&x[first..], &mut g[first..]);
            for (number, channel) in channels.iter().enumerate() {
                let u = V::load(&x[number * group..]).sub(channel.mean);
                let g = &mut g[number * group..];
                V::load(g).mul_add(channel.factor, u.neg_mul_add(of_u, constant)).store(g);
            }
        }
    }
}
