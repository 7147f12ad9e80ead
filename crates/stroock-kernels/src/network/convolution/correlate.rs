//! The gradient of the weights: source and destination pixels, correlated along the links.
//!
//! ```text
//! g[k, c, d] = sum over frames, links (o, k, i) of  y[o, d] x[i, c]
//! ```
//!
//! The destination stands with its channels in the lanes, `[tile of channels, pixel, frame, lane]`, the
//! source with its frames in the lanes as in [`gather`](super::gather). The inner loop multiplies the `P` vectors of
//! a tile of destination channels (two, or one where that leaves fewer lanes idle) with up to `12 / P` numbers of the
//! source, and the sums stay in registers over the frames of a run of pixels.

use std::ops::Range;

use stroock_geometry::Real;

use super::frames::pixel_distance;
use super::gather::tiles;
use super::links::{Links, Phase};
use crate::simd::{Kernel, Lanes, SimdReal};

/// Destination pixels before the next pairs have their turn: as many as stay in the first-level cache.
const CHUNK: usize = 16;

/// Sums that stay in registers.
const SUMS: usize = 12;

/// Pairs of a tap and a source channel that are summed together, as places `tap * channels + channel` among
/// the taps of a phase. Tiles keep to one tap unless there are too few channels to fill a tile.
fn pairs(taps: usize, channels: usize, rows: usize) -> Vec<Range<usize>> {
    if channels <= rows / 2 {
        return tiles(taps * channels, rows);
    }
    let of_tap = tiles(channels, rows);
    let shifted =
        |tap: usize| of_tap.iter().map(move |tile| tap * channels + tile.start..tap * channels + tile.end);
    (0..taps).flat_map(shifted).collect()
}

/// Adds the correlation of a group of frames to `sums`, `[tap, source channel, destination channel]` with the
/// destination channels rounded up to whole tiles.
///
/// It is a kernel of its own, so that its loops are compiled once and not once in every pass that needs them.
pub struct CorrelateTask<'c, T> {
    pub(crate) links: &'c Links,
    /// Vectors of a tile of destination channels.
    pub(crate) vectors: usize,
    /// Channels of the source.
    pub(crate) channels: usize,
    /// Frames of the group.
    pub(crate) frames: usize,
    /// In the order of [`frames_to_lanes`](super::frames::frames_to_lanes).
    pub(crate) source: &'c [T],
    /// In the order of [`turn_to_channels`](super::frames::turn_to_channels).
    pub(crate) destination: &'c [T],
    pub(crate) sums: &'c mut [T],
}

impl<T: SimdReal> Kernel<T> for CorrelateTask<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Real = T>>(self) {
        match self.vectors {
            1 => correlate::<V, 1>(self),
            _ => correlate::<V, 2>(self),
        }
    }
}

#[inline(always)]
fn correlate<V: Lanes, const P: usize>(task: CorrelateTask<'_, V::Real>) {
    let CorrelateTask { links, channels, frames, source, destination, sums, .. } = task;
    let lanes = P * V::WIDTH;
    let pixels: usize = links.phases.iter().map(|phase| phase.destinations.len()).sum();
    let panel_extent = pixels * pixel_distance(frames, lanes);
    let panels = destination.len() / panel_extent;
    for phase in &links.phases {
        let pairs = pairs(phase.taps.len(), channels, SUMS / P);
        for first in (0..phase.destinations.len()).step_by(CHUNK) {
            let run = first..(first + CHUNK).min(phase.destinations.len());
            for (number, panel) in destination.chunks_exact(panel_extent).enumerate() {
                let correlate = Correlate {
                    outside: links.outside,
                    phase,
                    run: run.clone(),
                    channels,
                    frames,
                    source,
                    panel,
                    sums_distance: panels * lanes,
                };
                let sums = &mut sums[number * lanes..];
                for pairs in &pairs {
                    correlate.add_pairs::<V, P>(pairs, sums);
                }
            }
        }
    }
}

/// Some destination pixels of a phase, and one panel of their channels.
struct Correlate<'g, T> {
    outside: u32,
    phase: &'g Phase,
    /// Which destinations of the phase.
    run: Range<usize>,
    /// Channels of the source.
    channels: usize,
    /// Frames of the group.
    frames: usize,
    source: &'g [T],
    /// `[pixel, frame, lane]`.
    panel: &'g [T],
    /// From the sums of a pair to those of the next one.
    sums_distance: usize,
}

impl<T: Real> Correlate<'_, T> {
    /// Adds the sums of some pairs.
    #[inline(always)]
    fn add_pairs<V: Lanes<Real = T>, const P: usize>(&self, pairs: &Range<usize>, sums: &mut [T]) {
        let first = pairs.start;
        match pairs.len() {
            1 => self.add::<V, P, 1>(first, sums),
            2 => self.add::<V, P, 2>(first, sums),
            3 => self.add::<V, P, 3>(first, sums),
            4 => self.add::<V, P, 4>(first, sums),
            5 => self.add::<V, P, 5>(first, sums),
            6 => self.add::<V, P, 6>(first, sums),
            7 => self.add::<V, 1, 7>(first, sums),
            8 => self.add::<V, 1, 8>(first, sums),
            9 => self.add::<V, 1, 9>(first, sums),
            10 => self.add::<V, 1, 10>(first, sums),
            11 => self.add::<V, 1, 11>(first, sums),
            _ => self.add::<V, 1, SUMS>(first, sums),
        }
    }

    /// Adds the sums of `R` pairs.
    #[inline(always)]
    fn add<V: Lanes<Real = T>, const P: usize, const R: usize>(&self, first: usize, sums: &mut [T]) {
        let (group, lanes) = (self.frames, P * V::WIDTH);
        let (mut taps, mut channels) = ([0; R], [0; R]);
        for r in 0..R {
            taps[r] = (first + r) / self.channels;
            channels[r] = (first + r) % self.channels;
        }
        let distance = pixel_distance(self.channels, group);
        let mut acc = [[V::zero(); P]; R];
        let count = self.phase.taps.len();
        for place in self.run.clone() {
            let sources = &self.phase.sources[place * count..][..count];
            let mut x = [&self.source[..group]; R];
            if taps[0] == taps[R - 1] {
                let pixel = sources[taps[0]];
                if pixel == self.outside {
                    continue;
                }
                let from = pixel as usize * distance + channels[0] * group;
                let rows = &self.source[from..][..R * group];
                for r in 0..R {
                    x[r] = &rows[r * group..][..group];
                }
            } else {
                for r in 0..R {
                    let from = sources[taps[r]] as usize * distance + channels[r] * group;
                    x[r] = &self.source[from..][..group];
                }
            }
            let pixel = self.phase.destinations[place] as usize;
            let panel = &self.panel[pixel * pixel_distance(group, lanes)..][..group * lanes];
            // A vector of frames at a time: their number is known to the compiler, which then checks no index.
            for (block, panel) in panel.chunks_exact(lanes * V::WIDTH).enumerate() {
                let mut frames = x;
                for r in 0..R {
                    frames[r] = &x[r][block * V::WIDTH..][..V::WIDTH];
                }
                for frame in 0..V::WIDTH {
                    let mut y = [V::zero(); P];
                    for v in 0..P {
                        y[v] = V::load(&panel[frame * lanes + v * V::WIDTH..]);
                    }
                    for r in 0..R {
                        let x = V::splat(frames[r][frame]);
                        for v in 0..P {
                            acc[r][v] = y[v].mul_add(x, acc[r][v]);
                        }
                    }
                }
            }
        }
        for r in 0..R {
            let pair = self.phase.taps[taps[r]] as usize * self.channels + channels[r];
            let sums = &mut sums[pair * self.sums_distance..][..lanes];
            for (sum, acc) in sums.chunks_exact_mut(V::WIDTH).zip(acc[r]) {
                V::load(sum).add(acc).store(sum);
            }
        }
    }
}
