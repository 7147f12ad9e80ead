//! Networks of convolutions over small images, forward and backward in one piece.
//!
//! A layer is a convolution (plain or transposed, with or without `max(y, 0)`) and what may follow it: the maxima of
//! windows, or the normalisation of every frame. Computed one after the other, layers would write every image out and
//! read it in again, each time with its numbers in another order. Here a group of frames goes through all layers at
//! once: its numbers stand in lanes from the first layer to the last, `[pixel, channel, frame]`, and what lies between
//! two layers is still in the cache when it is read. The backward pass goes back through the same groups.
//!
//! A frame gives the same bits for any number of threads and any split of the batch, and gradients of the parameters
//! are sums over frames in an order that depends on the number of frames alone.

mod backward;
mod correlation;
mod forward;
mod groups;
mod normalise;
mod plan;
mod pool;

pub use backward::Gradients;
pub use forward::{Tape, Transformed};

use crate::convolution::{Convolution, ConvolutionError, ConvolutionReal, MaxPool};
use crate::simd::{Level, dispatch};
use backward::BackwardTask;
use forward::ForwardTask;

/// What follows a convolution and its activation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Then {
    /// Nothing.
    #[default]
    Nothing,
    /// The maxima of windows that do not overlap.
    Pool(MaxPool),
    /// Mean 0 and variance 1 of every frame, a scale and an offset for every channel, and `max(y, 0)` of that, as
    /// [`FrameNorm`](crate::normalisation::FrameNorm) has it.
    FrameNormRelu {
        /// What is added to the variance, positive.
        epsilon: f64,
    },
}

/// A convolution and what follows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    /// Convolution; its level is that of the network.
    pub convolution: Convolution,
    /// What follows it.
    pub then: Then,
}

/// Layers one after the other.
///
/// The parameters of a network are one slice: of every layer the weight, the bias and, where frames are normalised,
/// the scale and the offset.
///
/// ```
/// use stroock_kernels::convolution::{Convolution, Images, MaxPool, Wanted};
/// use stroock_kernels::network::{Layer, Network, Then};
///
/// // Two frames of 8 x 8 pixels become 3 channels of 4 x 4, and these 2 channels of 2 x 2.
/// let network = Network::new(vec![
///     Layer {
///         convolution: Convolution::plain([1, 3], [3, 3]).padding(1).relu(),
///         then: Then::Pool(MaxPool { window: [2, 2] }),
///     },
///     Layer {
///         convolution: Convolution::plain([3, 2], [3, 3]).stride(2).padding(1),
///         then: Then::FrameNormRelu { epsilon: 1e-5 },
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
/// # Ok::<(), stroock_kernels::convolution::ConvolutionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// First to last.
    pub layers: Vec<Layer>,
    /// Instruction set; the default is the widest of the running processor.
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
    pub fn output_size(&self, size: [usize; 2]) -> Result<[usize; 2], ConvolutionError> {
        self.layers.iter().try_fold(size, |size, layer| layer.output_size(size))
    }
}

impl Layer {
    /// Numbers in the weight.
    fn weight(&self) -> usize {
        self.convolution.channels.iter().chain(&self.convolution.kernel).product()
    }

    /// Numbers in the weight, the bias, the scale and the offset.
    fn parameters(&self) -> usize {
        let channels = match self.then {
            Then::Nothing | Then::Pool(_) => 1,
            Then::FrameNormRelu { .. } => 3,
        };
        self.weight() + channels * self.convolution.channels[1]
    }

    fn output_size(&self, size: [usize; 2]) -> Result<[usize; 2], ConvolutionError> {
        let size = self.convolution.output_size(size)?;
        match self.then {
            Then::Pool(pool) => pool.output_size(size),
            Then::Nothing | Then::FrameNormRelu { .. } => Ok(size),
        }
    }
}

/// A real number that networks are compiled for: `f32` or `f64`.
pub trait NetworkReal: ConvolutionReal {
    #[doc(hidden)]
    fn through_layers(level: Level, task: ForwardTask<'_, Self>);
    #[doc(hidden)]
    fn back_through_layers(level: Level, task: BackwardTask<'_, Self>);
}

macro_rules! network_real {
    ($real:ty) => {
        impl NetworkReal for $real {
            fn through_layers(level: Level, task: ForwardTask<'_, Self>) {
                dispatch(level, task)
            }

            fn back_through_layers(level: Level, task: BackwardTask<'_, Self>) {
                dispatch(level, task)
            }
        }
    };
}

network_real!(f32);
network_real!(f64);
