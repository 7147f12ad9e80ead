//! The gradient of the weights of layers with few channels: [`correlate`](super::correlate) without turning the images.
//!
//! Here source and destination both stand with their frames in the lanes, and so do the sums: they are added up over
//! their lanes once, at the end of the pass. The inner loop multiplies vectors of source numbers with vectors of
//! destination channels, and the sums stay in registers over a run of pixels that is short enough for the first-level
//! cache. With many channels, the sums of all pairs of them would not fit into any cache.

use std::ops::Range;

use stroock_geometry::Real;

use super::frames::pixel_distance;
use super::links::{Links, Phase};
use crate::simd::{Kernel, Lanes, SimdReal};

/// Numbers of pairs of a tap and a source channel that are summed at once.
const ROWS: &[usize] = &[4, 2, 1];
/// Numbers of destination channels that are summed at once: as many as there are registers for.
const COLUMNS: &[usize] = &[3, 2, 1];
const WIDE_COLUMNS: &[usize] = &[6, 4, 3, 2, 1];
/// Lanes of the instruction set that has twice as many registers.
const WIDE: usize = 16;
/// Numbers of a run of destination pixels: half of the first-level cache.
const RUN: usize = 4096;

/// Adds the correlation of a group of frames to `sums`, `[tap, source channel, destination channel, lane]`.
pub struct CorrelateFramesTask<'c, T> {
    pub(crate) links: &'c Links,
    /// Vectors that the group fills.
    pub(crate) vectors: usize,
    /// Channels of the source and of the destination, both in the order of
    /// [`frames_to_lanes`](super::frames::frames_to_lanes).
    pub(crate) channels: [usize; 2],
    pub(crate) source: &'c [T],
    pub(crate) destination: &'c [T],
    pub(crate) sums: &'c mut [T],
}

impl<T: SimdReal> Kernel<T> for CorrelateFramesTask<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) {
        match self.vectors {
            1 => correlate::<V, 1>(self),
            _ => correlate::<V, 2>(self),
        }
    }
}

/// Cuts `0..count` into tiles of the given sizes, the largest first.
fn cut(count: usize, sizes: &[usize]) -> Vec<Range<usize>> {
    let mut tiles = Vec::new();
    let mut first = 0;
    for &size in sizes {
        while first + size <= count {
            tiles.push(first..first + size);
            first += size;
        }
    }
    tiles
}

#[inline(always)]
fn correlate<V: Lanes, const P: usize>(task: CorrelateFramesTask<'_, V::Real>) {
    let CorrelateFramesTask { links, channels, source, destination, sums, .. } = task;
    let wide = V::WIDTH == WIDE;
    let columns = cut(channels[1], if wide { WIDE_COLUMNS } else { COLUMNS });
    let pixels = (RUN / (channels[1] * P * V::WIDTH)).max(4);
    for phase in &links.phases {
        let pairs = cut(phase.taps.len() * channels[0], ROWS);
        for first in (0..phase.destinations.len()).step_by(pixels) {
            let run = first..(first + pixels).min(phase.destinations.len());
            let correlate = Correlate { outside: links.outside, phase, run, channels, source, destination };
            for columns in &columns {
                for pairs in &pairs {
                    let first = columns.start;
                    match columns.len() {
                        1 => correlate.add_pairs::<V, P, 1>(pairs, first, sums),
                        2 => correlate.add_pairs::<V, P, 2>(pairs, first, sums),
                        4 if wide => correlate.add_pairs::<V, P, 4>(pairs, first, sums),
                        6 if wide => correlate.add_pairs::<V, P, 6>(pairs, first, sums),
                        _ => correlate.add_pairs::<V, P, 3>(pairs, first, sums),
                    }
                }
            }
        }
    }
}

/// Some destination pixels of a phase.
struct Correlate<'c, T> {
    outside: u32,
    phase: &'c Phase,
    /// Which destinations of the phase.
    run: Range<usize>,
    channels: [usize; 2],
    source: &'c [T],
    destination: &'c [T],
}

impl<T: Real> Correlate<'_, T> {
    /// Adds the sums of some pairs of a tap and a source channel with `D` destination channels.
    #[inline(always)]
    fn add_pairs<V: Lanes<Real = T>, const P: usize, const D: usize>(
        &self,
        pairs: &Range<usize>,
        column: usize,
        sums: &mut [T],
    ) {
        match pairs.len() {
            1 => self.add::<V, P, 1, D>(pairs.start, column, sums),
            2 => self.add::<V, P, 2, D>(pairs.start, column, sums),
            _ => self.add::<V, P, 4, D>(pairs.start, column, sums),
        }
    }

    #[inline(always)]
    fn add<V: Lanes<Real = T>, const P: usize, const R: usize, const D: usize>(
        &self,
        first: usize,
        column: usize,
        sums: &mut [T],
    ) {
        // Known to the compiler, so that all places below are at fixed distances.
        let group = P * V::WIDTH;
        let [sources, destinations] = self.channels;
        let (mut taps, mut offsets) = ([0; R], [0; R]);
        for r in 0..R {
            taps[r] = (first + r) / sources;
            offsets[r] = (first + r) % sources * group;
        }
        let from_distance = pixel_distance(sources, group);
        let to_distance = pixel_distance(destinations, group);
        let count = self.phase.taps.len();
        let mut places = [0; R];
        let mut acc = [[V::zero(); D]; R];
        for r in 0..R {
            let pair = self.phase.taps[taps[r]] as usize * sources + (first + r) % sources;
            places[r] = (pair * destinations + column) * V::WIDTH;
            for d in 0..D {
                acc[r][d] = V::load(&sums[places[r] + d * V::WIDTH..]);
            }
        }
        let links = &self.phase.sources[self.run.start * count..self.run.end * count];
        let pixels = &self.phase.destinations[self.run.clone()];
        for (links, &pixel) in links.chunks_exact(count).zip(pixels) {
            // The padding is a pixel of zeros. Where no pair has another source, there is nothing to add.
            let mut x = [&self.source[..0]; R];
            let mut inside = false;
            for r in 0..R {
                let from = links[taps[r]];
                inside |= from != self.outside;
                x[r] = &self.source[from as usize * from_distance + offsets[r]..][..group];
            }
            if !inside {
                continue;
            }
            let y = &self.destination[pixel as usize * to_distance + column * group..][..D * group];
            for v in 0..P {
                let mut of_y = [V::zero(); D];
                for d in 0..D {
                    of_y[d] = V::load(&y[d * group + v * V::WIDTH..]);
                }
                for r in 0..R {
                    let x = V::load(&x[r][v * V::WIDTH..]);
                    for d in 0..D {
                        acc[r][d] = x.mul_add(of_y[d], acc[r][d]);
                    }
                }
            }
        }
        for r in 0..R {
            for d in 0..D {
                acc[r][d].store(&mut sums[places[r] + d * V::WIDTH..]);
            }
        }
    }
}
