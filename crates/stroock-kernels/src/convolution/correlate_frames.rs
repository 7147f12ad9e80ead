//! The gradient of the weights of layers with few channels: [`correlate`](super::correlate) without turning the images.
//!
//! Here source and destination both stand with their frames in the lanes, and so do the sums: they are added up over
//! their lanes once, at the end of the pass. The inner loop multiplies vectors of source numbers with vectors of
//! destination channels, and the sums stay in registers over a run of pixels that is short enough for the first-level
//! cache. With many channels, the sums of all pairs of them would not fit into any cache.

use std::ops::Range;

use stroock_geometry::Real;

use super::frames::pixel_distance;
use super::gather::tiles;
use super::links::{Links, Phase};
use crate::simd::{Kernel, Lanes, SimdReal};

/// Pairs of a tap and a source channel that are summed at once.
const ROWS: usize = 4;
/// Destination channels that are summed at once: as many as there are registers for.
const COLUMNS: usize = 3;
const WIDE_COLUMNS: usize = 6;
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
        let CorrelateFramesTask { links, vectors, channels, source, destination, sums } = self;
        let group = vectors * V::WIDTH;
        let wide = V::WIDTH == WIDE;
        let columns = tiles(channels[1], if wide { WIDE_COLUMNS } else { COLUMNS });
        let pixels = (RUN / (channels[1] * group)).max(4);
        for phase in &links.phases {
            let pairs = tiles(phase.taps.len() * channels[0], ROWS);
            for first in (0..phase.destinations.len()).step_by(pixels) {
                let run = first..(first + pixels).min(phase.destinations.len());
                let correlate =
                    Correlate { outside: links.outside, phase, run, channels, group, source, destination };
                for (columns, pairs) in
                    columns.iter().flat_map(|columns| pairs.iter().map(move |pairs| (columns, pairs)))
                {
                    let first = columns.start;
                    match columns.len() {
                        1 => correlate.add_pairs::<V, 1>(pairs, first, sums),
                        2 => correlate.add_pairs::<V, 2>(pairs, first, sums),
                        4 if wide => correlate.add_pairs::<V, 4>(pairs, first, sums),
                        5 if wide => correlate.add_pairs::<V, 5>(pairs, first, sums),
                        6 if wide => correlate.add_pairs::<V, WIDE_COLUMNS>(pairs, first, sums),
                        _ => correlate.add_pairs::<V, COLUMNS>(pairs, first, sums),
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
    group: usize,
    source: &'c [T],
    destination: &'c [T],
}

impl<T: Real> Correlate<'_, T> {
    /// Adds the sums of some pairs of a tap and a source channel with `D` destination channels.
    #[inline(always)]
    fn add_pairs<V: Lanes<Real = T>, const D: usize>(
        &self,
        pairs: &Range<usize>,
        column: usize,
        sums: &mut [T],
    ) {
        match pairs.len() {
            1 => self.add::<V, 1, D>(pairs.start, column, sums),
            2 => self.add::<V, 2, D>(pairs.start, column, sums),
            3 => self.add::<V, 3, D>(pairs.start, column, sums),
            _ => self.add::<V, ROWS, D>(pairs.start, column, sums),
        }
    }

    #[inline(always)]
    fn add<V: Lanes<Real = T>, const R: usize, const D: usize>(
        &self,
        first: usize,
        column: usize,
        sums: &mut [T],
    ) {
        let [sources, destinations] = self.channels;
        let (mut taps, mut offsets) = ([0; R], [0; R]);
        for r in 0..R {
            taps[r] = (first + r) / sources;
            offsets[r] = (first + r) % sources * self.group;
        }
        let from_distance = pixel_distance(sources, self.group);
        let to_distance = pixel_distance(destinations, self.group);
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
                x[r] = &self.source[from as usize * from_distance + offsets[r]..][..self.group];
            }
            if !inside {
                continue;
            }
            let y = &self.destination[pixel as usize * to_distance + column * self.group..][..D * self.group];
            for at in (0..self.group).step_by(V::WIDTH) {
                let mut of_y = [V::zero(); D];
                for d in 0..D {
                    of_y[d] = V::load(&y[d * self.group + at..]);
                }
                for r in 0..R {
                    let x = V::load(&x[r][at..]);
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
