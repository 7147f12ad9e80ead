//! The extents of a normalisation, and the checks that they make sense.

use stroock_geometry::Real;

use super::{FrameNorm, NormalisationError};
use crate::argument::{check_length, check_positive};
use crate::convolution::Images;

/// The extents of images that have passed their checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub frames: usize,
    pub channels: usize,
    /// Pixels of a channel.
    pub plane: usize,
}

impl Layout {
    /// Numbers of a frame.
    pub fn extent(self) -> usize {
        self.channels * self.plane
    }

    /// Frames of a task: some ten thousand numbers. Gradients of the parameters are summed over the frames of
    /// a task first, so it depends on the shape of the batch alone.
    pub fn frames_per_task(self) -> usize {
        (32_768 / self.extent()).clamp(1, 1024)
    }
}

impl FrameNorm {
    /// Checks the arguments that both passes have.
    pub(super) fn layout<T: Real>(
        &self,
        images: &Images<'_, T>,
        scale: &[T],
        offset: &[T],
    ) -> Result<Layout, NormalisationError> {
        check_positive("channels", &[self.channels])?;
        check_positive("size", &images.size)?;
        let epsilon = T::of(self.epsilon);
        if !(epsilon > T::zero() && epsilon.is_finite()) {
            return Err(NormalisationError::Epsilon { epsilon: self.epsilon });
        }
        let [height, width] = images.size;
        let expected = [self.channels, height, width]
            .into_iter()
            .try_fold(images.frames, |product, extent| product.checked_mul(extent))
            .ok_or(NormalisationError::TooLarge { argument: "images" })?;
        check_length("images", "[frames, channels, height, width]", expected, images.values.len())?;
        check_length("scale", "[channels]", self.channels, scale.len())?;
        check_length("offset", "[channels]", self.channels, offset.len())?;
        // Without frames the product above says nothing about the extents of one.
        let plane = height.checked_mul(width).filter(|plane| plane.checked_mul(self.channels).is_some());
        let plane = plane.ok_or(NormalisationError::TooLarge { argument: "size" })?;
        Ok(Layout { frames: images.frames, channels: self.channels, plane })
    }
}
