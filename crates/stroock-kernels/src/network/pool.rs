//! Maximum pooling over windows that do not overlap, with frames in lanes.

use stroock_geometry::Real;

use super::NetworkError;
use super::convolution::frames::pixel_distance;
use super::convolution::layout::Side;
use crate::argument::check_positive;

/// The maximum of every window, `y[i] = max_{k} x[i s + k]` with `0 <= k < s` on each axis.
///
/// Rows and columns behind the last whole window are dropped. Of equal numbers the first one counts, row by
/// row; a window with something that is not a number has no maximum that is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxPool {
    /// Height and width `s` of a window.
    pub window: [usize; 2],
}

/// Lanes that are compared at once.
const BLOCK: usize = 8;

impl MaxPool {
    /// Height and width of the output.
    ///
    /// # Errors
    /// When an extent is zero or the window is larger than the image.
    pub fn output_size(&self, size: [usize; 2]) -> Result<[usize; 2], NetworkError> {
        check_positive("size", &size)?;
        check_positive("window", &self.window)?;
        for axis in 0..2 {
            if self.window[axis] > size[axis] {
                let (window, size) = (self.window[axis], size[axis]);
                return Err(NetworkError::WindowTooLarge { axis, window, size });
            }
        }
        Ok([size[0] / self.window[0], size[1] / self.window[1]])
    }

    /// The maxima of a group of frames in the order of
    /// [`frames_to_lanes`](super::convolution::frames::frames_to_lanes), and the pixels where they stand.
    #[inline(always)]
    pub(super) fn maxima<T: Real>(
        &self,
        from: &[T],
        side: Side,
        group: usize,
        values: &mut [T],
        places: &mut [u32],
    ) {
        match self.window {
            // A constant window lets the compiler unroll the loops.
            [2, 2] => maxima([2, 2], from, side, group, values, places),
            window => maxima(window, from, side, group, values, places),
        }
    }

    /// From the gradients `of_maxima` of the maxima to those of the pixels, of extents `before`: each goes to the pixel
    /// where the maximum stands, and the others have no part in the output.
    ///
    /// Every pixel of a window is compared with the place of the maximum: four comparisons of whole vectors are faster
    /// than writing numbers one by one.
    #[inline(always)]
    pub(super) fn scatter<T: Real>(
        &self,
        of_maxima: &[T],
        places: &[u32],
        before: Side,
        group: usize,
        of_pixels: &mut [T],
    ) {
        let distance = pixel_distance(before.channels, group);
        let ([height, width], [rows, columns]) = (self.window, before.size);
        let run = before.channels * group;
        if rows % height != 0 || columns % width != 0 {
            // Pixels behind the last whole window.
            of_pixels[..before.pixels() * distance].fill(T::zero());
        }
        let mut window = 0;
        for row in (0..rows / height * height).step_by(height) {
            for column in (0..columns / width * width).step_by(width) {
                let (gradients, places) = (&of_maxima[window..][..run], &places[window..][..run]);
                for (dy, dx) in (0..height).flat_map(|dy| (0..width).map(move |dx| (dy, dx))) {
                    let pixel = (row + dy) * columns + column + dx;
                    let of_pixel = &mut of_pixels[pixel * distance..][..run];
                    for ((of_pixel, gradient), place) in of_pixel.iter_mut().zip(gradients).zip(places) {
                        *of_pixel = if *place == pixel as u32 { *gradient } else { T::zero() };
                    }
                }
                window += distance;
            }
        }
    }
}

#[inline(always)]
fn maxima<T: Real>(
    window: [usize; 2],
    from: &[T],
    side: Side,
    group: usize,
    values: &mut [T],
    places: &mut [u32],
) {
    let distance = pixel_distance(side.channels, group);
    let [rows, columns] = [side.size[0] / window[0], side.size[1] / window[1]];
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let corner = row * window[0] * side.size[1] + column * window[1];
        let place = (row * columns + column) * distance;
        for at in (0..side.channels * group).step_by(BLOCK) {
            let mut best = [T::zero(); BLOCK];
            best.copy_from_slice(&from[corner * distance + at..][..BLOCK]);
            let mut best_at = [corner as u32; BLOCK];
            for dy in 0..window[0] {
                for dx in 0..window[1] {
                    let pixel = corner + dy * side.size[1] + dx;
                    let other = &from[pixel * distance + at..][..BLOCK];
                    for l in 0..BLOCK {
                        let better = (other[l] > best[l]) | other[l].is_nan();
                        best[l] = if better { other[l] } else { best[l] };
                        best_at[l] = if better { pixel as u32 } else { best_at[l] };
                    }
                }
            }
            values[place + at..][..BLOCK].copy_from_slice(&best);
            places[place + at..][..BLOCK].copy_from_slice(&best_at);
        }
    }
}
