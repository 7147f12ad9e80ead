//! A group of frames, from `[frame, channel, pixel]` into lanes and back.
//!
//! The frames of a group stand in two vectors. A last group with fewer frames has zeros in its idle lanes.

use stroock_geometry::Real;

use super::interleave::{Runs, Streams, deinterleave, interleave};
use super::layout::Side;

/// From a pixel to the next one, each with `channels` runs of `group` numbers. A run is a line of the cache
/// or several: an odd number of them leads neighbouring pixels to different places of the cache.
#[inline(always)]
pub(crate) fn pixel_distance(channels: usize, group: usize) -> usize {
    (channels | 1) * group
}

/// `[pixel, channel, frame]`, with one more pixel of zeros that stands for the padding.
#[inline(always)]
pub(crate) fn frames_to_lanes<T: Real>(images: &[T], side: Side, group: usize, to: &mut [T]) {
    let pixels = side.pixels();
    let streams = Streams { count: images.len() / side.extent(), distance: side.extent(), length: pixels };
    let runs = Runs { lanes: group, distance: pixel_distance(side.channels, group) };
    for channel in 0..side.channels {
        interleave(&images[channel * pixels..], streams, &mut to[channel * group..], runs);
    }
    to[pixels * runs.distance..].fill(T::zero());
}

/// The inverse of [`frames_to_lanes`].
#[inline(always)]
pub(crate) fn frames_from_lanes<T: Real>(from: &[T], side: Side, group: usize, images: &mut [T]) {
    let pixels = side.pixels();
    let streams = Streams { count: images.len() / side.extent(), distance: side.extent(), length: pixels };
    let runs = Runs { lanes: group, distance: pixel_distance(side.channels, group) };
    for channel in 0..side.channels {
        deinterleave(&from[channel * group..], runs, &mut images[channel * pixels..], streams);
    }
}

/// Numbers of a group in the order of [`frames_to_lanes`].
pub(crate) fn frame_lanes_extent(side: Side, group: usize) -> usize {
    (side.pixels() + 1) * pixel_distance(side.channels, group)
}

/// Writes the zeros that stand for the padding behind a group in the order of [`frames_to_lanes`].
#[inline(always)]
pub(crate) fn clear_padding<T: Real>(lanes: &mut [T], side: Side, group: usize) {
    let distance = pixel_distance(side.channels, group);
    lanes[side.pixels() * distance..][..distance].fill(T::zero());
}

/// From the order of [`frames_to_lanes`], with `group` frames, to `[tile of channels, pixel, frame, lane]` with `lanes`
/// channels to a tile.
#[inline(always)]
pub(crate) fn turn_to_channels<T: Real>(from: &[T], side: Side, group: usize, lanes: usize, to: &mut [T]) {
    let distance = pixel_distance(side.channels, group);
    let panel = pixel_distance(group, lanes);
    let runs = Runs { lanes, distance: lanes };
    for (tile, to) in to.chunks_exact_mut(side.pixels() * panel).enumerate() {
        let first = tile * lanes;
        let count = (side.channels - first).min(lanes);
        let streams = Streams { count, distance: group, length: group };
        for (pixel, to) in to.chunks_exact_mut(panel).enumerate() {
            interleave(&from[pixel * distance + first * group..], streams, to, runs);
        }
    }
}

/// Numbers of a group in the order of [`turn_to_channels`].
pub(crate) fn turned_extent(side: Side, group: usize, lanes: usize) -> usize {
    side.channels.div_ceil(lanes) * side.pixels() * pixel_distance(group, lanes)
}
