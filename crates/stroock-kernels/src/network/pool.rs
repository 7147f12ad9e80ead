//! Back through the maxima of windows, with frames in lanes.

use stroock_geometry::Real;

use crate::convolution::MaxPool;
use crate::convolution::frames::pixel_distance;
use crate::convolution::layout::Side;

/// From the gradients `of_maxima` of the maxima to those of the pixels, of extents `before`: each goes to the pixel
/// where the maximum stands, and the others have no part in the output.
///
/// Every pixel of a window is compared with the place of the maximum: four comparisons of whole vectors are faster than
/// writing numbers one by one.
#[inline(always)]
pub(super) fn scatter<T: Real>(
    pool: MaxPool,
    of_maxima: &[T],
    places: &[u32],
    before: Side,
    group: usize,
    of_pixels: &mut [T],
) {
    let distance = pixel_distance(before.channels, group);
    let ([height, width], [rows, columns]) = (pool.window, before.size);
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
