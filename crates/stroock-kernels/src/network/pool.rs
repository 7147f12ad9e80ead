//! Back through the maxima of windows, with frames in lanes.

use stroock_geometry::Real;

use crate::convolution::frames::pixel_distance;
use crate::convolution::layout::Side;

/// From the gradients `of_maxima` of the maxima (of extents `after`) to those of the pixels (of extents `before`): each
/// goes to the pixel where the maximum stands, and the others have no part in the output.
#[inline(always)]
pub(super) fn scatter<T: Real>(
    of_maxima: &[T],
    places: &[u32],
    after: Side,
    before: Side,
    group: usize,
    of_pixels: &mut [T],
) {
    let distance = pixel_distance(before.channels, group);
    of_pixels[..(before.pixels() + 1) * distance].fill(T::zero());
    for pixel in 0..after.pixels() {
        let run = pixel * distance..pixel * distance + before.channels * group;
        for (at, (gradient, place)) in of_maxima[run.clone()].iter().zip(&places[run]).enumerate() {
            of_pixels[*place as usize * distance + at] += *gradient;
        }
    }
}
