//! The extents of a convolution, and the checks that they make sense.

use super::links::{Axis, Links};
use super::{Convolution, Direction};
use crate::argument::check_positive;
use crate::network::NetworkError;
use crate::network::error::checked_product;

/// Most pixels of a frame.
const MAX_PIXELS: usize = 1 << 20;

/// Most links between the pixels of a frame.
const MAX_LINKS: usize = 1 << 28;

/// One of the two grids of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    pub channels: usize,
    pub size: [usize; 2],
}

impl Side {
    pub fn pixels(self) -> usize {
        self.size[0] * self.size[1]
    }

    /// Numbers of a frame.
    pub fn extent(self) -> usize {
        self.channels * self.pixels()
    }
}

/// The extents of a convolution that has passed its checks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub input: Side,
    pub output: Side,
    direction: Direction,
    axes: [Axis; 2],
}

impl Layout {
    /// The links read towards the output, or towards the input.
    pub fn links(&self, to_output: bool) -> Links {
        match self.direction {
            Direction::Plain if to_output => Links::to_coarse(self.axes),
            Direction::Transposed { .. } if !to_output => Links::to_coarse(self.axes),
            _ => Links::to_fine(self.axes),
        }
    }

    /// Entries of the kernel.
    pub fn taps(&self) -> usize {
        self.axes[0].kernel * self.axes[1].kernel
    }

    pub fn weight_extent(&self) -> usize {
        self.input.channels * self.output.channels * self.taps()
    }

    /// Place of an entry of the weight: both directions have the channels of the coarse grid first.
    pub fn weight_place(&self, input: usize, output: usize, tap: usize) -> usize {
        let (coarse, fine, fines) = match self.direction {
            Direction::Plain => (output, input, self.input.channels),
            Direction::Transposed { .. } => (input, output, self.output.channels),
        };
        (coarse * fines + fine) * self.taps() + tap
    }
}

impl Convolution {
    /// Height and width of the output for images of height and width `size`.
    ///
    /// ```text
    /// plain:       (size + 2 padding - kernel) / stride + 1            (rounded down)
    /// transposed:  (size - 1) stride - 2 padding + kernel + output_padding
    /// ```
    ///
    /// # Errors
    /// When the kernel does not fit, or the output would be empty or too large.
    pub fn output_size(&self, size: [usize; 2]) -> Result<[usize; 2], NetworkError> {
        check_positive("size", &size)?;
        check_positive("kernel", &self.kernel)?;
        check_positive("stride", &self.stride)?;
        let too_large = |argument| NetworkError::TooLarge { argument };
        let mut out = [0; 2];
        for axis in 0..2 {
            let (kernel, stride) = (self.kernel[axis], self.stride[axis]);
            let twice = self.padding[axis].checked_mul(2).ok_or(too_large("padding"))?;
            out[axis] = match self.direction {
                Direction::Plain => {
                    let padded = size[axis].checked_add(twice).ok_or(too_large("padding"))?;
                    if kernel > padded {
                        return Err(NetworkError::KernelTooLarge { axis, kernel, padded });
                    }
                    (padded - kernel) / stride + 1
                }
                Direction::Transposed { output_padding } => {
                    let output_padding = output_padding[axis];
                    if output_padding >= stride {
                        return Err(NetworkError::OutputPadding { axis, output_padding, stride });
                    }
                    let reach = (size[axis] - 1).checked_mul(stride).ok_or(too_large("stride"))?;
                    let full = reach.checked_add(kernel).and_then(|full| full.checked_add(output_padding));
                    let full = full.ok_or(too_large("kernel"))?;
                    if full <= twice {
                        let padding = self.padding[axis];
                        return Err(NetworkError::PaddingTooLarge { axis, padding, full });
                    }
                    full - twice
                }
            };
        }
        match out[0].checked_mul(out[1]) {
            Some(pixels) if pixels <= MAX_PIXELS => Ok(out),
            _ => Err(too_large("size")),
        }
    }

    /// The extents for `frames` frames of height and width `size`, if so many numbers can be in memory.
    pub(crate) fn extents(&self, frames: usize, size: [usize; 2]) -> Result<Layout, NetworkError> {
        check_positive("channels", &self.channels)?;
        let output = self.output_size(size)?;
        let [inputs, outputs] = self.channels;
        if checked_product("size", &size)? > MAX_PIXELS {
            return Err(NetworkError::TooLarge { argument: "size" });
        }
        checked_product("input", &[frames, inputs, size[0], size[1]])?;
        checked_product("weight", &[inputs, outputs, self.kernel[0], self.kernel[1]])?;
        checked_product("output", &[frames, outputs, output[0], output[1]])?;
        let pixels = (size[0] * size[1]).max(output[0] * output[1]);
        if checked_product("kernel", &[pixels, self.kernel[0], self.kernel[1]])? > MAX_LINKS {
            return Err(NetworkError::TooLarge { argument: "kernel" });
        }

        let (fine, coarse) = match self.direction {
            Direction::Plain => (size, output),
            Direction::Transposed { .. } => (output, size),
        };
        let axis = |axis: usize| Axis {
            fine: fine[axis],
            coarse: coarse[axis],
            kernel: self.kernel[axis],
            stride: self.stride[axis],
            padding: self.padding[axis],
        };
        Ok(Layout {
            input: Side { channels: inputs, size },
            output: Side { channels: outputs, size: output },
            direction: self.direction,
            axes: [axis(0), axis(1)],
        })
    }
}
