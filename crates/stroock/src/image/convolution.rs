//! A convolution, plain or transposed: its sizes and its parameters.

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use stroock_kernels::network::{Convolution, NetworkError};

use super::ImageShape;
use crate::initial::InitialWeights;

/// Sizes of a [`ConvolutionLayer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConvolutionConfig {
    /// Channels of the output.
    pub channels: usize,
    /// Height and width of the kernel.
    pub kernel: usize,
    /// Distance of neighbours of the coarse grid in the fine one.
    #[serde(default = "one")]
    pub stride: usize,
    /// Rows and columns of zeros at every edge of the fine grid.
    #[serde(default)]
    pub padding: usize,
    /// Rows and columns added at the end of the output of a transposed convolution.
    #[serde(default)]
    pub output_padding: usize,
    /// From the coarse grid to the fine one.
    #[serde(default)]
    pub transposed: bool,
}

fn one() -> usize {
    1
}

/// The parameters of a convolution.
#[derive(Module, Debug)]
pub struct ConvolutionLayer {
    /// `[out, in, kernel, kernel]`, or `[in, out, kernel, kernel]` where it is transposed.
    pub weight: Param<Tensor<4>>,
    /// `[out]`.
    pub bias: Param<Tensor<1>>,
}

impl ConvolutionConfig {
    /// The convolution of images of `input` channels, without its parameters.
    pub(super) fn kernel(&self, input: usize) -> Convolution {
        let (channels, kernel) = ([input, self.channels], [self.kernel; 2]);
        let convolution = match self.transposed {
            true => Convolution::transposed(channels, kernel).output_padding(self.output_padding),
            false => Convolution::plain(channels, kernel),
        };
        convolution.stride(self.stride).padding(self.padding)
    }

    /// The shape of the output for images of shape `input`.
    ///
    /// # Errors
    /// When the kernel does not fit the images.
    pub fn output(&self, input: ImageShape) -> Result<ImageShape, NetworkError> {
        let size = self.kernel(input.channels).output_size([input.height, input.width])?;
        Ok(ImageShape { channels: self.channels, height: size[0], width: size[1] })
    }

    /// Initialises the parameters for images of `input` channels, uniformly in `+-1/sqrt(k)` with the `k` numbers of
    /// a kernel in PyTorch's count.
    pub fn init(&self, input: usize, weights: &mut InitialWeights) -> ConvolutionLayer {
        let (first, second) = if self.transposed { (input, self.channels) } else { (self.channels, input) };
        let bound = 1.0 / ((second * self.kernel * self.kernel).max(1) as f64).sqrt();
        ConvolutionLayer {
            weight: weights.uniform([first, second, self.kernel, self.kernel], bound),
            bias: weights.uniform([self.channels], bound),
        }
    }
}
