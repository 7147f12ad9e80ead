//! The convolution itself: every destination pixel gathers along its links.
//!
//! ```text
//! y[o, d] = b[d] + sum over links (o, k, i), channels c of  w[k, c, d] x[i, c]
//! ```
//!
//! A group of frames stands in `P` vectors (two, or one for a last few frames), side by side in the lanes: images
//! are `[pixel, channel, frame]`. The inner loop multiplies the vectors of a source pixel with the weights of up to
//! six destination channels, so that twelve sums stay in registers and no lane is idle whatever the number of
//! channels.

use std::ops::Range;

use stroock_geometry::Real;

use super::Activation;
use super::frames::pixel_distance;
use super::links::Links;
use crate::simd::{Kernel, Lanes, SimdReal};

/// Destination channels that are summed at once.
const ROWS: usize = 6;

/// Products per destination before the next channels have their turn: as many as keep the source pixels
/// and the weights in the first-level cache.
const CHUNK: usize = 256;

/// Source channels between two tests for the end of the loop.
const UNROLL: usize = 4;

/// Cuts `0..count` into the fewest tiles of at most `rows`, as equal as can be.
pub(super) fn tiles(count: usize, rows: usize) -> Vec<Range<usize>> {
    let tiles = count.div_ceil(rows);
    (0..tiles).map(|tile| tile * count / tiles..(tile + 1) * count / tiles).collect()
}

/// Weights in the order in which they are read: `[phase, tile, tap, source channel, channel of the tile]`.
#[derive(Clone, Debug)]
pub(crate) struct TiledWeight<T> {
    values: Vec<T>,
    tiles: Vec<Range<usize>>,
    /// Channels of a source and of a destination pixel.
    sources: usize,
    destinations: usize,
}

impl<T: Real> TiledWeight<T> {
    /// From `at(source channel, destination channel, tap)`, for the taps of `links`.
    pub fn new(
        links: &Links,
        sources: usize,
        destinations: usize,
        at: impl Fn(usize, usize, usize) -> T,
    ) -> Self {
        let tiles = tiles(destinations, ROWS);
        let taps: usize = links.phases.iter().map(|phase| phase.taps.len()).sum();
        let mut values = Vec::with_capacity(taps * sources * destinations);
        for phase in &links.phases {
            for tile in &tiles {
                for &tap in &phase.taps {
                    for source in 0..sources {
                        values.extend(tile.clone().map(|destination| at(source, destination, tap as usize)));
                    }
                }
            }
        }
        Self { values, tiles, sources, destinations }
    }
}

/// Computes all destination pixels of a group of frames.
///
/// It is a kernel of its own, so that its loops are compiled once and not once in every pass that needs them.
pub struct GatherTask<'g, T> {
    pub(crate) links: &'g Links,
    pub(crate) weight: &'g TiledWeight<T>,
    /// A number for every destination channel.
    pub(crate) bias: &'g [T],
    pub(crate) activation: Activation,
    /// Vectors that the group fills.
    pub(crate) vectors: usize,
    /// In the order of [`frames_to_lanes`](super::frames::frames_to_lanes), as the destination.
    pub(crate) source: &'g [T],
    pub(crate) destination: &'g mut [T],
}

impl<T: SimdReal> Kernel<T> for GatherTask<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) {
        match self.vectors {
            1 => gather::<V, 1>(self),
            _ => gather::<V, 2>(self),
        }
    }
}

#[inline(always)]
fn gather<V: Lanes, const P: usize>(task: GatherTask<'_, V::Real>) {
    let GatherTask { links, weight, bias, activation, source, destination, .. } = task;
    let group = P * V::WIDTH;
    let chunk = (CHUNK / weight.sources).max(1);
    let mut rest = &weight.values[..];
    for phase in &links.phases {
        let taps = phase.taps.len();
        let of_phase;
        (of_phase, rest) = rest.split_at(taps * weight.sources * weight.destinations);
        for (place, &pixel) in phase.destinations.iter().enumerate() {
            let sums = &mut destination[pixel as usize * pixel_distance(weight.destinations, group)..];
            let sums = &mut sums[..weight.destinations * group];
            for (sums, bias) in sums.chunks_exact_mut(group).zip(bias) {
                sums.fill(*bias);
            }
            let sources = &phase.sources[place * taps..][..taps];
            for first in (0..taps).step_by(chunk) {
                let sources = &sources[first..(first + chunk).min(taps)];
                for tile in &weight.tiles {
                    let first = (tile.start * taps + first * tile.len()) * weight.sources;
                    let weight = &of_phase[first..][..sources.len() * weight.sources * tile.len()];
                    let gather = Gather { source, sources, outside: links.outside, weight };
                    let sums = &mut sums[tile.start * group..tile.end * group];
                    // Few channels: several sums for each hide the latency of an addition.
                    match tile.len() {
                        1 => gather.add::<V, P, 1, 4>(sums),
                        2 => gather.add::<V, P, 2, 2>(sums),
                        3 => gather.add::<V, P, 3, 2>(sums),
                        4 => gather.add::<V, P, 4, 1>(sums),
                        5 => gather.add::<V, P, 5, 1>(sums),
                        _ => gather.add::<V, P, ROWS, 1>(sums),
                    }
                }
            }
            match activation {
                Activation::Identity => {}
                Activation::Relu => rectify::<V>(sums),
                Activation::Sigmoid => squash::<V>(sums),
            }
        }
    }
}

/// Some taps of one destination pixel, for the channels of one tile.
struct Gather<'g, T> {
    source: &'g [T],
    /// The source pixel of every tap.
    sources: &'g [u32],
    outside: u32,
    /// `[tap, source channel, channel of the tile]`.
    weight: &'g [T],
}

impl<T: Real> Gather<'_, T> {
    /// Adds to `sums`, `[R, frame]`, over `U` interleaved subsets of the source channels.
    #[inline(always)]
    fn add<V: Lanes<Real = T>, const P: usize, const R: usize, const U: usize>(&self, sums: &mut [T]) {
        let group = P * V::WIDTH;
        let channels = self.weight.len() / (self.sources.len() * R);
        let distance = pixel_distance(channels, group);
        let mut acc = [[[V::zero(); P]; R]; U];
        for r in 0..R {
            for v in 0..P {
                acc[0][r][v] = V::load(&sums[r * group + v * V::WIDTH..]);
            }
        }
        let mut rest = self.weight;
        for &pixel in self.sources {
            let w;
            (w, rest) = rest.split_at(channels * R);
            if pixel == self.outside {
                continue;
            }
            let x = &self.source[pixel as usize * distance..][..channels * group];
            let mut c = 0;
            while c + UNROLL <= channels {
                let (x, w) = (&x[c * group..][..UNROLL * group], &w[c * R..][..UNROLL * R]);
                for u in 0..UNROLL {
                    multiply_add::<V, P, R>(&x[u * group..], &w[u * R..], &mut acc[u % U]);
                }
                c += UNROLL;
            }
            while c < channels {
                multiply_add::<V, P, R>(&x[c * group..][..group], &w[c * R..][..R], &mut acc[0]);
                c += 1;
            }
        }
        for r in 0..R {
            for v in 0..P {
                let mut sum = acc[0][r][v];
                for u in 1..U {
                    sum = sum.add(acc[u][r][v]);
                }
                sum.store(&mut sums[r * group + v * V::WIDTH..]);
            }
        }
    }
}

#[inline(always)]
fn multiply_add<V: Lanes, const P: usize, const R: usize>(
    source: &[V::Real],
    w: &[V::Real],
    acc: &mut [[V; P]; R],
) {
    let mut x = [V::zero(); P];
    for v in 0..P {
        x[v] = V::load(&source[v * V::WIDTH..]);
    }
    for r in 0..R {
        let w = V::splat(w[r]);
        for v in 0..P {
            acc[r][v] = x[v].mul_add(w, acc[r][v]);
        }
    }
}

/// `max(y, 0)` of finite numbers; what has diverged becomes not a number, to be seen.
#[inline(always)]
fn rectify<V: Lanes>(values: &mut [V::Real]) {
    for values in values.chunks_exact_mut(V::WIDTH) {
        let y = V::load(values);
        // The difference is 0 unless `y` is infinite or not a number.
        y.where_greater(V::Real::of(0.0), y).add(y.sub(y)).store(values);
    }
}

/// `1 / (1 + e^{-y})`.
#[inline(always)]
fn squash<V: Lanes>(values: &mut [V::Real]) {
    for values in values.chunks_exact_mut(V::WIDTH) {
        V::load(values).sigmoid().store(values);
    }
}
