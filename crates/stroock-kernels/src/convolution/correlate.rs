//! The gradient of the weights: source and destination pixels, correlated along the links.
//!
//! ```text
//! g[k, c, d] = sum over frames, links (o, k, i) of  y[o, d] x[i, c]
//! ```
//!
//! The destination stands with its channels in the lanes, `[tile of channels, pixel, frame, lane]`, the
//! source with its frames in the lanes as in [`gather`](super::gather). The inner loop multiplies two
//! vectors of destination channels with up to six numbers of the source, and the sums stay in registers
//! over the frames of a run of pixels.

use std::ops::Range;

use stroock_geometry::Real;

use super::frames::pixel_distance;
use super::gather::{ROWS, tiles};
use super::links::{Links, Phase};
use crate::simd::Lanes;

/// Destination pixels before the next pairs have their turn: as many as stay in the first-level cache.
const CHUNK: usize = 16;

/// Pairs of a tap and a source channel that are summed together, as places `tap * channels + channel` among
/// the taps of a phase. Tiles keep to one tap unless there are too few channels to fill a tile.
fn pairs(taps: usize, channels: usize) -> Vec<Range<usize>> {
    if channels <= ROWS / 2 {
        return tiles(taps * channels);
    }
    let of_tap = tiles(channels);
    let shifted =
        |tap: usize| of_tap.iter().map(move |tile| tap * channels + tile.start..tap * channels + tile.end);
    (0..taps).flat_map(shifted).collect()
}

/// Adds the correlation of a group of frames to `sums`, `[tap, source channel, destination channel]` with
/// the destination channels rounded up to whole vectors.
///
/// `source` is in the order of [`frames_to_lanes`](super::frames::frames_to_lanes), `destination` in that of
/// [`channels_to_lanes`](super::frames::channels_to_lanes).
#[inline(always)]
pub(super) fn correlate<V: Lanes>(
    links: &Links,
    channels: usize,
    source: &[V::Real],
    destination: &[V::Real],
    sums: &mut [V::Real],
) {
    let group = 2 * V::WIDTH;
    let pixels: usize = links.phases.iter().map(|phase| phase.destinations.len()).sum();
    let panel_extent = pixels * pixel_distance(group, group);
    let panels = destination.len() / panel_extent;
    for phase in &links.phases {
        let pairs = pairs(phase.taps.len(), channels);
        for first in (0..phase.destinations.len()).step_by(CHUNK) {
            let run = first..(first + CHUNK).min(phase.destinations.len());
            for (number, panel) in destination.chunks_exact(panel_extent).enumerate() {
                let correlate = Correlate {
                    outside: links.outside,
                    phase,
                    run: run.clone(),
                    channels,
                    source,
                    panel,
                    sums_distance: panels * group,
                };
                let sums = &mut sums[number * group..];
                for pairs in &pairs {
                    match pairs.len() {
                        1 => correlate.add::<V, 1>(pairs.start, sums),
                        2 => correlate.add::<V, 2>(pairs.start, sums),
                        3 => correlate.add::<V, 3>(pairs.start, sums),
                        4 => correlate.add::<V, 4>(pairs.start, sums),
                        5 => correlate.add::<V, 5>(pairs.start, sums),
                        _ => correlate.add::<V, ROWS>(pairs.start, sums),
                    }
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
    source: &'g [T],
    /// `[pixel, frame, lane]`.
    panel: &'g [T],
    /// From the sums of a pair to those of the next one.
    sums_distance: usize,
}

impl<T: Real> Correlate<'_, T> {
    /// Adds the sums of `R` pairs.
    #[inline(always)]
    fn add<V: Lanes<Real = T>, const R: usize>(&self, first: usize, sums: &mut [T]) {
        let group = 2 * V::WIDTH;
        let (mut taps, mut channels) = ([0; R], [0; R]);
        for r in 0..R {
            taps[r] = (first + r) / self.channels;
            channels[r] = (first + r) % self.channels;
        }
        let distance = pixel_distance(self.channels, group);
        let mut acc = [[V::zero(); 2]; R];
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
            let y = &self.panel[pixel * pixel_distance(group, group)..][..group * group];
            for (frame, y) in y.chunks_exact(group).enumerate() {
                let y = [V::load(y), V::load(&y[V::WIDTH..])];
                for r in 0..R {
                    let x = V::splat(x[r][frame]);
                    acc[r] = [y[0].mul_add(x, acc[r][0]), y[1].mul_add(x, acc[r][1])];
                }
            }
        }
        for r in 0..R {
            let pair = self.phase.taps[taps[r]] as usize * self.channels + channels[r];
            let (low, high) = sums[pair * self.sums_distance..][..group].split_at_mut(V::WIDTH);
            V::load(low).add(acc[r][0]).store(low);
            V::load(high).add(acc[r][1]).store(high);
        }
    }
}
