//! Networks of convolutions over small images, forward and backward in one piece.
//!
//! A layer is a [`Convolution`] (plain or transposed, with its activation) and what may follow it: the maxima of
//! windows, or group normalisation. Computed one after the other, layers would write every image out and read it in
//! again, each time with its numbers in another order. Here a group of frames goes through all layers at once: its
//! numbers stand in lanes from the first layer to the last, `[pixel, channel, frame]`, and what lies between two layers
//! is still in the cache when it is read. The backward pass goes back through the same groups.
//!
//! Every lane is a frame: no lane is idle whatever the number of channels, and sums over a frame are sums of vectors.
//! A frame gives the same bits for any number of threads and any split of the batch, and gradients of the parameters
//! are sums over frames in an order that depends on the number of frames alone.

mod backward;
mod convolution;
mod error;
mod forward;
mod group_norm;
mod groups;
mod plan;
mod pool;
mod scratch;

pub use backward::Gradients;
pub use convolution::{Activation, Convolution, Direction};
pub use error::NetworkError;
pub use forward::{Tape, Transformed};
pub use pool::MaxPool;

use crate::precision::kernels;
use crate::simd::{Level, SimdReal};
use backward::BackwardTask;
use convolution::correlate::CorrelateTask;
use convolution::correlate_frames::CorrelateFramesTask;
use convolution::gather::GatherTask;
use forward::ForwardTask;

kernels! {
    /// A real number that networks are computed in: `f32` or `f64`.
    trait NetworkReal: SimdReal {
        fn through_layers(ForwardTask);
        fn back_through_layers(BackwardTask);
        fn gather(GatherTask);
        fn correlate(CorrelateTask);
        fn correlate_frames(CorrelateFramesTask);
    }
}

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

/// Which gradients a backward pass computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Wanted {
    /// All of them.
    #[default]
    All,
    /// Those of the parameters: enough where the images are data.
    Parameters,
}

/// What follows a convolution and its activation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Then {
    /// Nothing.
    #[default]
    Nothing,
    /// The maxima of windows that do not overlap.
    Pool(MaxPool),
    /// Group normalisation with all channels in one group, a scale and an offset for every channel, and `max(y, 0)` of
    /// that. With the `N` numbers `x` of a frame (`[channels, height, width]`),
    ///
    /// ```text
    /// m = 1/N sum_i x_i,     v = 1/(N-1) sum_i (x_i - m)^2,     y_i = max(scale_c (x_i - m) / sqrt(v + epsilon) + offset_c, 0).
    /// ```
    ///
    /// The variance is the unbiased one: PyTorch's `GroupNorm` has `N` in its place. A constant frame gives the offsets,
    /// and one whose numbers or variance are not finite gives what is not a number.
    GroupNormRelu {
        /// What is added to the variance, positive.
        epsilon: f64,
    },
}

/// A convolution and what follows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// Convolution with its activation.
    pub convolution: Convolution,
    /// What follows it.
    pub then: Then,
}

/// Layers one after the other.
///
/// The parameters of a network are one slice: of every layer the weight, the bias and, where it is normalised, the
/// scale and the offset.
///
/// ```
/// use stroock_kernels::network::{Convolution, Images, Layer, MaxPool, Network, Then, Wanted};
///
/// // Two frames of 8 x 8 pixels become 3 channels of 4 x 4, and these 2 channels of 2 x 2.
/// let network = Network::new(vec![
///     Layer {
///         convolution: Convolution::plain([1, 3], [3, 3]).padding(1).relu(),
///         then: Then::Pool(MaxPool { window: [2, 2] }),
///     },
///     Layer {
///         convolution: Convolution::plain([3, 2], [3, 3]).stride(2).padding(1),
///         then: Then::GroupNormRelu { epsilon: 1e-5 },
///     },
/// ]);
/// assert_eq!(network.parameters(), (27 + 3) + (54 + 2) + (2 + 2));
/// let images = Images { values: &[0.5f32; 2 * 64], frames: 2, size: [8, 8] };
/// let parameters: Vec<f32> = (0..90).map(|i| (i % 7) as f32 / 7.0).collect();
/// let transformed = network.forward(images, &parameters)?;
/// assert_eq!(transformed.values.len(), 2 * 2 * 4);
///
/// let of_output = [1.0; 2 * 2 * 4];
/// let gradients = network.backward(images, &parameters, &transformed.tape, &of_output, Wanted::All)?;
/// assert_eq!(gradients.parameters.len(), 90);
/// assert_eq!(gradients.input.len(), 128);
/// # Ok::<(), stroock_kernels::network::NetworkError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// First to last.
    pub layers: Vec<Layer>,
    /// Instruction set; the default is the widest of the running processor. One that the processor lacks stands for
    /// [`Level::Portable`].
    pub level: Level,
}

impl Network {
    /// A network at the widest level of the running processor.
    pub fn new(layers: Vec<Layer>) -> Self {
        Self { layers, level: Level::detect() }
    }

    /// Numbers in the parameters of all layers.
    pub fn parameters(&self) -> usize {
        self.layers.iter().map(Layer::parameters).sum()
    }

    /// Height and width of the output for images of height and width `size`.
    ///
    /// # Errors
    /// When a kernel or a window does not fit.
    pub fn output_size(&self, size: [usize; 2]) -> Result<[usize; 2], NetworkError> {
        self.layers.iter().try_fold(size, |size, layer| layer.output_size(size))
    }
}

impl Layer {
    /// Numbers in the weight, the bias, the scale and the offset.
    fn parameters(&self) -> usize {
        let Convolution { channels, kernel, .. } = self.convolution;
        let of_channel = match self.then {
            Then::Nothing | Then::Pool(_) => 1,
            Then::GroupNormRelu { .. } => 3,
        };
        channels.iter().chain(&kernel).product::<usize>() + of_channel * channels[1]
    }

    /// Height and width of the output for images of height and width `size`.
    ///
    /// # Errors
    /// When the kernel or the window does not fit.
    pub fn output_size(&self, size: [usize; 2]) -> Result<[usize; 2], NetworkError> {
        let size = self.convolution.output_size(size)?;
        match self.then {
            Then::Pool(pool) => pool.output_size(size),
            Then::Nothing | Then::GroupNormRelu { .. } => Ok(size),
        }
    }
}
