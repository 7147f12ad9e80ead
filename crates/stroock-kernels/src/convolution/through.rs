//! Back through what follows the sums of a convolution: pooling, activation, bias.

use stroock_geometry::Real;

use super::Activation;
use super::frames::{channels_to_lanes, frames_to_lanes, pixel_distance};
use super::layout::Side;

/// What the backward pass knows of the output of some frames, after pooling if there is any.
#[derive(Clone, Copy, Debug)]
pub(super) struct After<'a, T> {
    /// Extents after pooling.
    pub side: Side,
    /// The output; may be empty without an activation.
    pub output: &'a [T],
    /// Where the maxima stand in their planes; empty without pooling.
    pub indices: &'a [u32],
    /// The gradient with respect to the output.
    pub of_output: &'a [T],
}

impl<'a, T: Real> After<'a, T> {
    pub fn split_at(self, frames: usize) -> (Self, Self) {
        let at = frames * self.side.extent();
        let output = self.output.split_at(at.min(self.output.len()));
        let indices = self.indices.split_at(at.min(self.indices.len()));
        let of_output = self.of_output.split_at(at.min(self.of_output.len()));
        (
            Self { output: output.0, indices: indices.0, of_output: of_output.0, ..self },
            Self { output: output.1, indices: indices.1, of_output: of_output.1, ..self },
        )
    }

    /// Back through the activation, with `buffer` for the gradient: it passes where the output is positive
    /// (or not a number).
    #[inline(always)]
    pub fn before_activation<'b>(self, activation: Activation, buffer: &'b mut Vec<T>) -> After<'b, T>
    where
        'a: 'b,
    {
        if activation == Activation::Identity {
            return self;
        }
        buffer.resize(self.of_output.len(), T::zero());
        for ((through, &output), &gradient) in buffer.iter_mut().zip(self.output).zip(self.of_output) {
            *through = if output <= T::zero() { T::zero() } else { gradient };
        }
        After { of_output: buffer, ..self }
    }

    /// Adds the gradient of the bias: the sum over frames and pixels of every channel.
    #[inline(always)]
    pub fn add_to_bias(self, bias: &mut [T]) {
        for image in self.of_output.chunks_exact(self.side.extent()) {
            for (plane, sum) in image.chunks_exact(self.side.pixels()).zip(bias.iter_mut()) {
                // Eight sums at once, in an order that does not depend on the instruction set.
                let mut parts = [T::zero(); 8];
                let eights = plane.chunks_exact(parts.len());
                let rest = eights.remainder();
                for eight in eights {
                    for (part, value) in parts.iter_mut().zip(eight) {
                        *part += *value;
                    }
                }
                *sum += parts.into_iter().sum::<T>() + rest.iter().copied().sum::<T>();
            }
        }
    }

    /// The gradient of the sums in the order of [`frames_to_lanes`]; `full` has the extents before pooling.
    #[inline(always)]
    pub fn frames_to_lanes(self, full: Side, group: usize, to: &mut [T]) {
        if self.indices.is_empty() {
            return frames_to_lanes(self.of_output, full, group, to);
        }
        to.fill(T::zero());
        let distance = pixel_distance(full.channels, group);
        for (number, indices, gradients) in self.planes() {
            let (frame, channel) = (number / full.channels, number % full.channels);
            scatter(indices, gradients, &mut to[channel * group + frame..], distance);
        }
    }

    /// The gradient of the sums in the order of [`channels_to_lanes`]; `full` has the extents before pooling.
    #[inline(always)]
    pub fn channels_to_lanes(self, full: Side, group: usize, to: &mut [T]) {
        if self.indices.is_empty() {
            return channels_to_lanes(self.of_output, full, group, to);
        }
        to.fill(T::zero());
        let distance = pixel_distance(group, group);
        for (number, indices, gradients) in self.planes() {
            let (frame, channel) = (number / full.channels, number % full.channels);
            let (tile, lane) = (channel / group, channel % group);
            let first = tile * full.pixels() * distance + frame * group + lane;
            scatter(indices, gradients, &mut to[first..], distance);
        }
    }

    /// The number, the indices and the gradients of every plane.
    #[inline(always)]
    fn planes(self) -> impl Iterator<Item = (usize, &'a [u32], &'a [T])> {
        let indices = self.indices.chunks_exact(self.side.pixels());
        let gradients = self.of_output.chunks_exact(self.side.pixels());
        indices.zip(gradients).enumerate().map(|(number, (indices, gradients))| (number, indices, gradients))
    }
}

/// From the maxima to the pixels where they stand; the others have no part in the output.
#[inline(always)]
fn scatter<T: Real>(indices: &[u32], gradients: &[T], to: &mut [T], distance: usize) {
    for (&index, &gradient) in indices.iter().zip(gradients) {
        to[index as usize * distance] += gradient;
    }
}
