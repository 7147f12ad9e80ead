//! How the gradient of a layer's weight is summed.

use stroock_geometry::Real;

use super::correlate::CorrelateTask;
use super::correlate_frames::CorrelateFramesTask;
use super::frames::{turn_to_channels, turned_extent};
use super::layout::{Layout, Side};
use super::links::Links;
use crate::network::NetworkReal;
use crate::simd::Level;

/// Most pairs of channels, for every tap, whose sums are kept in lanes: these sums and the images have to stay in the
/// second-level cache.
const FEW: usize = 2048;

/// The gradient of a weight, `[tap, source channel, destination channel]` with one of the layer's sides as the source
/// and the other one as the destination.
pub(crate) struct Correlation {
    links: Links,
    /// Whether the input of the layer is the destination.
    to_input: bool,
    source: Side,
    destination: Side,
    /// Vectors of destination channels in a tile, and their lanes; `None` where both sides keep their frames in lanes.
    tile: Option<(usize, usize)>,
    /// Lanes of a vector.
    width: usize,
}

/// What the backward pass has of a group of frames in lanes.
pub(crate) struct Sides<'s, T> {
    /// Vectors that the group fills.
    pub vectors: usize,
    /// The input of the layer.
    pub input: &'s [T],
    /// The gradient of its output.
    pub of_output: &'s [T],
}

impl Correlation {
    pub fn new(layout: &Layout, width: usize) -> Self {
        let Layout { input, output, .. } = *layout;
        if input.channels * output.channels * layout.taps() <= FEW {
            return Self { width, ..Self::along(layout, input.channels >= output.channels) };
        }
        // The side that leaves the fewest lanes idle.
        let padded = |side: Side| side.channels.next_multiple_of(width);
        let to_input = output.channels * padded(input) <= input.channels * padded(output);
        let in_lanes = if to_input { input } else { output };
        // Half a tile of two vectors would be idle. Runs of fewer than eight numbers cannot be brought into lanes.
        let odd = in_lanes.channels.div_ceil(width) % 2 == 1;
        let vectors = if odd && width >= 8 { 1 } else { 2 };
        Self { tile: Some((vectors, vectors * width)), width, ..Self::along(layout, to_input) }
    }

    fn along(layout: &Layout, to_input: bool) -> Self {
        let Layout { input, output, .. } = *layout;
        let (source, destination) = if to_input { (output, input) } else { (input, output) };
        Self { links: layout.links(!to_input), to_input, source, destination, tile: None, width: 1 }
    }

    /// Numbers of the sums for one source channel and one tap: a vector for every destination channel, or one number,
    /// rounded up to whole tiles.
    fn of_source(&self) -> usize {
        match self.tile {
            None => self.destination.channels * self.width,
            Some((_, lanes)) => self.destination.channels.next_multiple_of(lanes),
        }
    }

    /// Numbers of the sums.
    pub fn sums(&self, taps: usize) -> usize {
        taps * self.source.channels * self.of_source()
    }

    /// Numbers of a group with the channels in lanes.
    pub fn turned(&self, group: usize) -> usize {
        self.tile.map_or(0, |(_, lanes)| turned_extent(self.destination, group, lanes))
    }

    /// Adds a group of frames to the sums; `turned` is scratch.
    #[inline(always)]
    pub fn add<T: NetworkReal>(&self, level: Level, sides: Sides<'_, T>, turned: &mut [T], sums: &mut [T]) {
        let Sides { vectors, input, of_output } = sides;
        let (source, destination) = if self.to_input { (of_output, input) } else { (input, of_output) };
        let links = &self.links;
        let Some((of_tile, lanes)) = self.tile else {
            let channels = [self.source.channels, self.destination.channels];
            let task = CorrelateFramesTask { links, vectors, channels, source, destination, sums };
            return T::correlate_frames(level, task);
        };
        let frames = vectors * T::width(level);
        let turned = &mut turned[..self.turned(frames)];
        turn_to_channels(destination, self.destination, frames, lanes, turned);
        let channels = self.source.channels;
        let task =
            CorrelateTask { links, vectors: of_tile, channels, frames, source, destination: turned, sums };
        T::correlate(level, task);
    }

    /// From the order of the sums to that of the weight.
    pub fn unpack<T: Real>(&self, layout: &Layout, sums: &[T], weight: &mut [T]) {
        let lanes = if self.tile.is_none() { self.width } else { 1 };
        for (pair, sums) in sums.chunks_exact(self.of_source()).enumerate() {
            let (tap, source) = (pair / self.source.channels, pair % self.source.channels);
            for (destination, sum) in sums.chunks_exact(lanes).take(self.destination.channels).enumerate() {
                let (input, output) =
                    if self.to_input { (destination, source) } else { (source, destination) };
                weight[layout.weight_place(input, output, tap)] = sum.iter().copied().sum();
            }
        }
    }
}
