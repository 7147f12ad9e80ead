//! Maximum pooling over windows that do not overlap.

use rayon::prelude::*;
use stroock_geometry::Real;

use super::error::checked_product;
use super::frames::pixel_distance;
use super::layout::Side;
use super::{ConvolutionError, Images};
use crate::argument::{check_length, check_positive};

/// The maximum of every window, `y[i] = max_{k} x[i s + k]` with `0 <= k < s` on each axis.
///
/// Rows and columns behind the last whole window are dropped. Of equal numbers the first one counts, row by
/// row; a window with something that is not a number has no maximum that is one.
///
/// Every channel of a frame is a plane of its own, so `Images::frames` is the number of frames times the
/// number of channels.
///
/// ```
/// use stroock_kernels::convolution::{Images, MaxPool};
/// let pool = MaxPool { window: [2, 2] };
/// let planes = Images { values: &[1.0f32, 2., 9., 3., 4., 9., 5., 5., 9.], frames: 1, size: [3, 3] };
/// let pooled = pool.forward(planes)?;
/// assert_eq!((&pooled.values[..], &pooled.indices[..]), (&[4.0][..], &[4][..]));
/// let of_planes = pool.backward(1, [3, 3], &pooled.indices, &[7.0f32])?;
/// assert_eq!(of_planes, [0., 0., 0., 0., 7., 0., 0., 0., 0.]);
/// # Ok::<(), stroock_kernels::convolution::ConvolutionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxPool {
    /// Height and width `s` of a window.
    pub window: [usize; 2],
}

/// Maxima and where they stand.
#[derive(Clone, Debug)]
pub struct Pooled<T> {
    /// `[planes, height, width]`.
    pub values: Vec<T>,
    /// Place of each maximum in its plane, row by row, in the shape of the values.
    pub indices: Vec<u32>,
}

/// Maxima and where they stand, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct Maxima<'a, T> {
    /// `[planes, height, width]`.
    pub values: &'a [T],
    /// Place of each maximum in its plane, in the shape of the values.
    pub indices: &'a [u32],
}

impl<T> Pooled<T> {
    /// The same, borrowed.
    pub fn maxima(&self) -> Maxima<'_, T> {
        Maxima { values: &self.values, indices: &self.indices }
    }
}

impl MaxPool {
    /// Height and width of the output.
    ///
    /// # Errors
    /// When an extent is zero or the window is larger than a plane.
    pub fn output_size(&self, size: [usize; 2]) -> Result<[usize; 2], ConvolutionError> {
        check_positive("size", &size)?;
        check_positive("window", &self.window)?;
        if size[0].checked_mul(size[1]).is_none_or(|pixels| pixels > u32::MAX as usize) {
            return Err(ConvolutionError::TooLarge { argument: "size" });
        }
        for axis in 0..2 {
            if self.window[axis] > size[axis] {
                let (window, size) = (self.window[axis], size[axis]);
                return Err(ConvolutionError::WindowTooLarge { axis, window, size });
            }
        }
        Ok([size[0] / self.window[0], size[1] / self.window[1]])
    }

    /// The maxima of all planes.
    ///
    /// # Errors
    /// When an argument is malformed.
    pub fn forward<T: Real>(&self, planes: Images<'_, T>) -> Result<Pooled<T>, ConvolutionError> {
        let out = self.output_size(planes.size)?;
        let [height, width] = planes.size;
        let expected = checked_product("planes", &[planes.frames, height, width])?;
        check_length("planes", "[planes, height, width]", expected, planes.values.len())?;
        let extent = out[0] * out[1];
        let mut values = vec![T::zero(); planes.frames * extent];
        let mut indices = vec![0; planes.frames * extent];
        let task = planes_per_task(height * width);
        values
            .par_chunks_mut(task * extent)
            .zip(indices.par_chunks_mut(task * extent))
            .zip(planes.values.par_chunks(task * height * width))
            .for_each(|((values, indices), planes)| self.maxima(planes, [height, width], values, indices));
        Ok(Pooled { values, indices })
    }

    /// The gradient with respect to `planes` planes of height and width `size`, from the gradient `of_output`
    /// with respect to the maxima; `indices` are those that [`forward`](Self::forward) returned.
    ///
    /// # Errors
    /// When an argument is malformed.
    pub fn backward<T: Real>(
        &self,
        planes: usize,
        size: [usize; 2],
        indices: &[u32],
        of_output: &[T],
    ) -> Result<Vec<T>, ConvolutionError> {
        let out = self.output_size(size)?;
        let (extent, pixels) = (out[0] * out[1], size[0] * size[1]);
        let shape = "[planes, height, width]";
        let expected = checked_product("planes", &[planes, extent])?;
        check_length("indices", shape, expected, indices.len())?;
        check_length("of_output", shape, expected, of_output.len())?;
        check_indices(indices, pixels)?;
        let mut of_planes = vec![T::zero(); checked_product("planes", &[planes, pixels])?];
        let task = planes_per_task(pixels);
        of_planes
            .par_chunks_mut(task * pixels)
            .zip(indices.par_chunks(task * extent).zip(of_output.par_chunks(task * extent)))
            .for_each(|(of_planes, (indices, of_output))| {
                let maxima = indices.chunks_exact(extent).zip(of_output.chunks_exact(extent));
                for (of_plane, (indices, of_output)) in of_planes.chunks_exact_mut(pixels).zip(maxima) {
                    for (&index, &gradient) in indices.iter().zip(of_output) {
                        of_plane[index as usize] += gradient;
                    }
                }
            });
        Ok(of_planes)
    }
}

impl MaxPool {
    /// The maxima of some planes of height and width `size`.
    fn maxima<T: Real>(&self, planes: &[T], size: [usize; 2], values: &mut [T], indices: &mut [u32]) {
        let [rows, columns] = [size[0] / self.window[0], size[1] / self.window[1]];
        let out = values.chunks_exact_mut(columns).zip(indices.chunks_exact_mut(columns));
        for (number, (values, indices)) in out.enumerate() {
            let plane = &planes[number / rows * size[0] * size[1]..][..size[0] * size[1]];
            let first = number % rows * self.window[0] * size[1];
            let lines = &plane[first..][..self.window[0] * size[1]];
            match self.window {
                [2, 2] => row_of_maxima_2x2(lines, first as u32, values, indices),
                _ => row_of_maxima(lines, size[1], self.window, first as u32, values, indices),
            }
        }
    }

    /// The maxima of a group of frames in the order of [`frames_to_lanes`](super::frames::frames_to_lanes).
    #[inline(always)]
    pub(crate) fn maxima_in_lanes<T: Real>(
        &self,
        from: &[T],
        side: Side,
        group: usize,
        values: &mut [T],
        indices: &mut [u32],
    ) {
        match self.window {
            // A constant window lets the compiler unroll the loops.
            [2, 2] => maxima_in_lanes([2, 2], from, side, group, values, indices),
            window => maxima_in_lanes(window, from, side, group, values, indices),
        }
    }
}

/// Lanes that are compared at once.
const BLOCK: usize = 8;

#[inline(always)]
fn maxima_in_lanes<T: Real>(
    window: [usize; 2],
    from: &[T],
    side: Side,
    group: usize,
    values: &mut [T],
    indices: &mut [u32],
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
                        let better = is_better(other[l], best[l]);
                        best[l] = if better { other[l] } else { best[l] };
                        best_at[l] = if better { pixel as u32 } else { best_at[l] };
                    }
                }
            }
            values[place + at..][..BLOCK].copy_from_slice(&best);
            indices[place + at..][..BLOCK].copy_from_slice(&best_at);
        }
    }
}

/// Whether a number replaces the best one before it.
#[inline(always)]
fn is_better<T: Real>(value: T, best: T) -> bool {
    (value > best) | value.is_nan()
}

/// Planes of a task: some ten thousand pixels.
fn planes_per_task(pixels: usize) -> usize {
    65_536_usize.div_ceil(pixels)
}

/// Checks that indices lie in their planes.
pub(super) fn check_indices(indices: &[u32], pixels: usize) -> Result<(), ConvolutionError> {
    match indices.iter().position(|&index| index as usize >= pixels) {
        Some(place) => Err(ConvolutionError::IndexOutside { place, index: indices[place], pixels }),
        None => Ok(()),
    }
}

/// The maxima of the windows in some lines, the first of which starts at the place `first` of its plane.
fn row_of_maxima<T: Real>(
    lines: &[T],
    width: usize,
    window: [usize; 2],
    first: u32,
    values: &mut [T],
    indices: &mut [u32],
) {
    for (column, (value, index)) in values.iter_mut().zip(indices).enumerate() {
        let mut best = column * window[1];
        for dy in 0..window[0] {
            for dx in 0..window[1] {
                let place = dy * width + column * window[1] + dx;
                if is_better(lines[place], lines[best]) {
                    best = place;
                }
            }
        }
        (*value, *index) = (lines[best], first + best as u32);
    }
}

/// The usual case, without branches, for the compiler to vectorise.
fn row_of_maxima_2x2<T: Real>(lines: &[T], first: u32, values: &mut [T], indices: &mut [u32]) {
    let (top, bottom) = lines.split_at(lines.len() / 2);
    let width = top.len() as u32;
    let windows = top.as_chunks::<2>().0.iter().zip(bottom.as_chunks::<2>().0);
    for ((column, (top, bottom)), (value, index)) in
        windows.enumerate().zip(values.iter_mut().zip(indices.iter_mut()))
    {
        let (mut best, mut place) = (top[0], 0);
        for (other, at) in [(top[1], 1), (bottom[0], width), (bottom[1], width + 1)] {
            let better = is_better(other, best);
            best = if better { other } else { best };
            place = if better { at } else { place };
        }
        *value = best;
        *index = first + 2 * column as u32 + place;
    }
}
