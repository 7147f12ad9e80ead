//! Convolutions and transposed convolutions of a group of frames in lanes.
//!
//! With stride `s`, padding `p` and the kernel entry (tap) `k`, the pixels `o` of a coarse grid and `i` of a fine grid
//! are linked where `i = o s - p + k`. Then
//!
//! ```text
//! convolution             y[o, d] = b[d] + sum_{k, c} w[d, c, k] x[o s - p + k, c]      fine to coarse
//! transposed convolution  y[i, d] = b[d] + sum_{o, k, c : i = o s - p + k} w[c, d, k] x[o, c]      coarse to fine
//! ```
//!
//! with `x = 0` in the padding. The weight is `[coarse channels, fine channels, kernel height, kernel width]` in both
//! cases, and the adjoint of either map is the other one.
//!
//! One loop computes all of them: every pixel gathers along its links ([`gather`]), so that no zero is multiplied,
//! whatever the stride. The gradient of the weight correlates both sides along the same links ([`correlation`]).

pub(super) mod correlate;
pub(super) mod correlate_frames;
pub(super) mod correlation;
pub(super) mod frames;
pub(super) mod gather;
mod interleave;
pub(super) mod layout;
pub(super) mod links;

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
    /// The logistic function `1 / (1 + e^{-y})`.
    Sigmoid,
}

/// A convolution with its activation, as a [`Network`](super::Network) of one layer computes it:
///
/// ```
/// use stroock_kernels::network::{Convolution, Images, Layer, Network, Then, Wanted};
///
/// // Two frames of 4 x 4 pixels, from 1 to 3 channels of 2 x 2 pixels.
/// let convolution = Convolution::plain([1, 3], [3, 3]).stride(2).padding(1).relu();
/// assert_eq!(convolution.output_size([4, 4])?, [2, 2]);
/// let network = Network::new(vec![Layer { convolution, then: Then::Nothing }]);
/// let images = Images { values: &[0.5f32; 2 * 16], frames: 2, size: [4, 4] };
/// let (weight, bias) = ([0.1; 3 * 9], [0.0; 3]);
/// let parameters = [&weight[..], &bias].concat();
/// let made = network.forward(images, &parameters)?;
/// assert_eq!(made.values.len(), 2 * 3 * 4);
/// assert!((made.values[0] - 4.0 * 0.05).abs() < 1e-6); // a corner sees four pixels
///
/// // The gradient of the sum of the output, with respect to the bias.
/// let gradients = network.backward(images, &parameters, &made.tape, &[1.0; 2 * 3 * 4], Wanted::Parameters)?;
/// assert_eq!(gradients.parameters[27..], [8.0; 3]);
/// # Ok::<(), stroock_kernels::network::NetworkError>(())
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
}

impl Convolution {
    /// A convolution with stride 1, without padding or activation.
    pub fn plain(channels: [usize; 2], kernel: [usize; 2]) -> Self {
        let (direction, activation) = (Direction::Plain, Activation::Identity);
        Self { channels, kernel, stride: [1; 2], padding: [0; 2], direction, activation }
    }

    /// A transposed convolution with stride 1, without padding or activation.
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

    /// With `1 / (1 + e^{-y})` of the output.
    pub fn sigmoid(self) -> Self {
        Self { activation: Activation::Sigmoid, ..self }
    }
}
