//! Convolutions, transposed convolutions and pooling of small images, forward and backward.
//!
//! Images are `[frames, channels, height, width]`. With stride `s`, padding `p` and the kernel entry (tap)
//! `k`, the pixels `o` of a coarse grid and `i` of a fine grid are linked where `i = o s - p + k`. Then
//!
//! ```text
//! convolution             y[o, d] = b[d] + sum_{k, c} w[d, c, k] x[o s - p + k, c]      fine to coarse
//! transposed convolution  y[i, d] = b[d] + sum_{o, k, c : i = o s - p + k} w[c, d, k] x[o, c]      coarse to fine
//! ```
//!
//! with `x = 0` in the padding. The weight is `[coarse channels, fine channels, kernel height, kernel width]`
//! in both cases, and the adjoint of either map is the other one.
//!
//! One loop computes all of them: every pixel gathers along its links. A group of frames stands in the
//! lanes of two vectors, so that no zero is multiplied, whatever the stride, and no lane is idle, whatever
//! the number of channels.
//!
//! A frame gives the same bits for any number of threads and any split of the batch, and gradients of the
//! parameters are sums over frames in an order that depends on the number of frames alone.

mod backward;
pub(crate) mod correlate;
pub(crate) mod correlate_frames;
pub(crate) mod error;
mod forward;
pub(crate) mod frames;
pub(crate) mod gather;
mod interleave;
pub(crate) mod layout;
pub(crate) mod links;
mod pool;
pub(crate) mod scratch;
mod through;

pub use backward::Gradients;
pub use error::ConvolutionError;
pub use pool::{MaxPool, Maxima, Pooled};

use crate::simd::{Level, SimdReal, dispatch};
use backward::{BackwardTask, Sums};
use correlate::CorrelateTask;
use correlate_frames::CorrelateFramesTask;
use forward::ForwardTask;
use gather::GatherTask;

/// A real number that images can be convolved in: `f32` or `f64`.
///
/// The kernels are compiled in this crate, once per precision and instruction set.
pub trait ConvolutionReal: SimdReal {
    #[doc(hidden)]
    fn convolve(level: Level, task: ForwardTask<'_, Self>);
    #[doc(hidden)]
    fn pull_back(level: Level, task: BackwardTask<'_, Self>) -> Sums<Self>;
    #[doc(hidden)]
    fn gather(level: Level, task: GatherTask<'_, Self>);
    #[doc(hidden)]
    fn correlate(level: Level, task: CorrelateTask<'_, Self>);
    #[doc(hidden)]
    fn correlate_frames(level: Level, task: CorrelateFramesTask<'_, Self>);
}

macro_rules! convolution_real {
    ($real:ty) => {
        impl ConvolutionReal for $real {
            fn convolve(level: Level, task: ForwardTask<'_, Self>) {
                dispatch(level, task)
            }

            fn pull_back(level: Level, task: BackwardTask<'_, Self>) -> Sums<Self> {
                dispatch(level, task)
            }

            fn gather(level: Level, task: GatherTask<'_, Self>) {
                dispatch(level, task)
            }

            fn correlate(level: Level, task: CorrelateTask<'_, Self>) {
                dispatch(level, task)
            }

            fn correlate_frames(level: Level, task: CorrelateFramesTask<'_, Self>) {
                dispatch(level, task)
            }
        }
    };
}

convolution_real!(f32);
convolution_real!(f64);

/// A batch of images.
#[derive(Clone, Copy, Debug)]
pub struct Images<'a, T> {
    /// `[frames, channels, height, width]`.
    pub values: &'a [T],
    /// Number of frames.
    pub frames: usize,
    /// Height and width.
    pub size: [usize; 2],
}

/// From the fine grid to the coarse one, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// A convolution; the weight is `[output channels, input channels, kernel height, kernel width]`.
    Plain,
    /// A transposed convolution; the weight is `[input channels, output channels, kernel height, kernel width]`.
    Transposed {
        /// Rows and columns added at the end, fewer than the stride: of the sizes that the convolution in
        /// the other direction maps to the same size, it chooses one.
        output_padding: [usize; 2],
    },
}

/// What the output passes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Activation {
    /// Nothing.
    #[default]
    Identity,
    /// `max(y, 0)`.
    Relu,
}

/// Which gradients a backward pass computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Wanted {
    /// All of them.
    #[default]
    All,
    /// Those of the weight and the bias: enough for a first layer, whose input is data.
    Parameters,
}

/// A convolution with its activation.
///
/// ```
/// use stroock_kernels::convolution::{Convolution, Images, Wanted};
///
/// // Two frames of 4 x 4 pixels, from 1 to 3 channels of 2 x 2 pixels.
/// let layer = Convolution::plain([1, 3], [3, 3]).stride(2).padding(1).relu();
/// assert_eq!(layer.output_size([4, 4])?, [2, 2]);
/// let frames = vec![0.5f32; 2 * 16];
/// let images = Images { values: &frames, frames: 2, size: [4, 4] };
/// let (weight, bias) = (vec![0.1; 3 * 9], vec![0.0; 3]);
/// let output = layer.forward(images, &weight, &bias)?;
/// assert_eq!(output.len(), 2 * 3 * 4);
/// assert!((output[0] - 4.0 * 0.05).abs() < 1e-6); // a corner sees four pixels
///
/// // The gradient of the sum of the output.
/// let gradients = layer.backward(images, &weight, &output, &[1.0; 2 * 3 * 4], Wanted::All)?;
/// assert_eq!(gradients.bias, [8.0; 3]);
/// assert_eq!(gradients.input.len(), frames.len());
/// # Ok::<(), stroock_kernels::convolution::ConvolutionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// Channels of the input and of the output.
    pub channels: [usize; 2],
    /// Height and width of the kernel.
    pub kernel: [usize; 2],
    /// Distance of neighbours of the coarse grid in the fine one.
    pub stride: [usize; 2],
    /// Rows and columns of zeros at every edge of the fine grid.
    pub padding: [usize; 2],
    /// Plain or transposed.
    pub direction: Direction,
    /// What the output passes through.
    pub activation: Activation,
    /// Instruction set; the default is the widest of the running processor.
    pub level: Level,
}

impl Convolution {
    /// A convolution with stride 1, without padding or activation.
    pub fn plain(channels: [usize; 2], kernel: [usize; 2]) -> Self {
        Self {
            channels,
            kernel,
            stride: [1; 2],
            padding: [0; 2],
            direction: Direction::Plain,
            activation: Activation::Identity,
            level: Level::detect(),
        }
    }

    /// A transposed convolution with stride 1, without padding or activation.
    ///
    /// ```
    /// use stroock_kernels::convolution::{Convolution, Images};
    /// let layer = Convolution::transposed([8, 4], [5, 5]).stride(2).padding(2).output_padding(1).relu();
    /// let images = Images { values: &[1.0f64; 8 * 49], frames: 1, size: [7, 7] };
    /// let output = layer.forward(images, &[0.01; 8 * 4 * 25], &[0.0; 4])?;
    /// assert_eq!(output.len(), 4 * 14 * 14);
    /// # Ok::<(), stroock_kernels::convolution::ConvolutionError>(())
    /// ```
    pub fn transposed(channels: [usize; 2], kernel: [usize; 2]) -> Self {
        let direction = Direction::Transposed { output_padding: [0; 2] };
        Self { direction, ..Self::plain(channels, kernel) }
    }

    /// With the same stride on both axes.
    pub fn stride(self, stride: usize) -> Self {
        Self { stride: [stride; 2], ..self }
    }

    /// With the same padding on both axes.
    pub fn padding(self, padding: usize) -> Self {
        Self { padding: [padding; 2], ..self }
    }

    /// With the same output padding on both axes; only a transposed convolution has one.
    pub fn output_padding(self, output_padding: usize) -> Self {
        let direction = match self.direction {
            Direction::Plain => Direction::Plain,
            Direction::Transposed { .. } => Direction::Transposed { output_padding: [output_padding; 2] },
        };
        Self { direction, ..self }
    }

    /// With `max(y, 0)` of the output.
    pub fn relu(self) -> Self {
        Self { activation: Activation::Relu, ..self }
    }

    /// The level that runs: the wanted one, or the portable one where the processor lacks it.
    fn running_level(&self) -> Level {
        if self.level.is_available() { self.level } else { Level::Portable }
    }
}
