//! Normalisation of frames, forward and backward.
//!
//! Every frame `x` (`[channels, height, width]`, `N` numbers) is brought to mean 0 and variance 1 over all its
//! numbers, and every channel `c` gets a scale and an offset of its own:
//!
//! ```text
//! m = 1/N sum_i x_i,     v = 1/(N-1) sum_i (x_i - m)^2,     r = 1 / sqrt(v + epsilon),
//! y_i = scale_c r (x_i - m) + offset_c,     or the larger of that and 0.
//! ```
//!
//! With `h_i = r (x_i - m)`, and `g` the gradient of a loss with respect to `y`, 0 where the output was cut at 0,
//!
//! ```text
//! d/dx_i = r (scale_c g_i - 1/N sum_j scale_c g_j - h_i / (N-1) sum_j scale_c g_j h_j),
//! d/dscale_c = sum_{i in c} g_i h_i,     d/doffset_c = sum_{i in c} g_i.
//! ```
//!
//! A frame comes from memory once in each pass: the sums over it and what is made of them follow each other
//! while it is in the first cache levels. The output is not needed backward, since the sign of every number
//! is made again from its image.
//!
//! A frame gives the same bits for any number of threads and any split of the batch, and gradients of the
//! parameters are sums over frames in an order that depends on the shape of the batch alone.

mod backward;
mod channel;
mod error;
mod forward;
mod layout;
mod moments;

pub use backward::Gradients;
pub use error::NormalisationError;
pub use forward::{Normalised, Tape};

use crate::simd::{Level, SimdReal, dispatch};
use backward::BackwardTask;
use forward::ForwardTask;

/// A real number that frames can be normalised in: `f32` or `f64`.
///
/// The kernels are compiled in this crate, once per precision and instruction set.
pub trait NormalisationReal: SimdReal {
    #[doc(hidden)]
    fn normalise(level: Level, task: ForwardTask<'_, Self>);
    #[doc(hidden)]
    fn pull_back(level: Level, task: BackwardTask<'_, Self>) -> Vec<Self>;
}

macro_rules! normalisation_real {
    ($real:ty) => {
        impl NormalisationReal for $real {
            fn normalise(level: Level, task: ForwardTask<'_, Self>) {
                dispatch(level, task)
            }

            fn pull_back(level: Level, task: BackwardTask<'_, Self>) -> Vec<Self> {
                dispatch(level, task)
            }
        }
    };
}

normalisation_real!(f32);
normalisation_real!(f64);

/// The normalisation of frames.
///
/// A constant frame gives the offsets, and one whose numbers or variance are not finite gives what is not a
/// number.
///
/// ```
/// use stroock_kernels::convolution::Images;
/// use stroock_kernels::normalisation::FrameNorm;
///
/// // One frame with two channels of 1 x 2 pixels, whose mean is 3 and whose variance is 8/3.
/// let norm = FrameNorm::new(2).epsilon(1e-12);
/// let images = Images { values: &[1.0f64, 3.0, 3.0, 5.0], frames: 1, size: [1, 2] };
/// let normalised = norm.forward(images, &[1.0, 2.0], &[0.0, 0.5])?;
/// let expected = [-2.0, 0.0, 0.0, 4.0].map(|x| x / f64::sqrt(8.0 / 3.0));
/// assert!((normalised.values[0] - expected[0]).abs() < 1e-9);
/// assert!((normalised.values[3] - (expected[3] + 0.5)).abs() < 1e-9);
///
/// // The sum of the output does not change with the mean of a frame.
/// let gradients = norm.backward(images, &[1.0, 2.0], &[0.0, 0.5], &normalised.tape, &[1.0; 4])?;
/// assert!(gradients.input.iter().sum::<f64>().abs() < 1e-12);
/// assert_eq!(gradients.offset, [2.0, 2.0]);
/// # Ok::<(), stroock_kernels::normalisation::NormalisationError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameNorm {
    /// Channels of a frame.
    pub channels: usize,
    /// Whether the output is `max(y, 0)`.
    pub relu: bool,
    /// What is added to the variance, positive.
    pub epsilon: f64,
    /// Instruction set; the default is the widest of the running processor. One that the processor lacks
    /// stands for [`Level::Portable`].
    pub level: Level,
}

impl FrameNorm {
    /// Without `max(y, 0)`, and with 1e-5 added to the variance.
    pub fn new(channels: usize) -> Self {
        Self { channels, relu: false, epsilon: 1e-5, level: Level::detect() }
    }

    /// With `max(y, 0)` of the output.
    pub fn relu(self) -> Self {
        Self { relu: true, ..self }
    }

    /// With another number added to the variance.
    pub fn epsilon(self, epsilon: f64) -> Self {
        Self { epsilon, ..self }
    }
}
