//! A convolution, plain or transposed, as a module with a fused kernel.

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use stroock_kernels::convolution::{Convolution, ConvolutionError, Images, MaxPool, Maxima, Pooled, Wanted};

use super::ImageShape;
use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};
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

/// A convolution with its bias; what follows it (`max(y, 0)`, pooling) is computed in the same pass.
#[derive(Module, Debug)]
pub struct ConvolutionLayer {
    /// `[out, in, kernel, kernel]`, or `[in, out, kernel, kernel]` where it is transposed.
    pub weight: Param<Tensor<4>>,
    /// `[out]`.
    pub bias: Param<Tensor<1>>,
    #[module(skip)]
    layer: Layer,
}

/// Everything about a layer that is not differentiated.
#[derive(Clone, Copy, Debug)]
struct Layer {
    convolution: Convolution,
    pool: Option<MaxPool>,
}

impl ConvolutionConfig {
    /// The same convolution without its weights.
    fn convolution(&self, input: usize) -> Convolution {
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
    pub fn output(&self, input: ImageShape) -> Result<ImageShape, ConvolutionError> {
        let size = self.convolution(input.channels).output_size([input.height, input.width])?;
        Ok(ImageShape { channels: self.channels, height: size[0], width: size[1] })
    }

    /// Initialises the layer for images of `input` channels, uniformly in `+-1/sqrt(k)` with the `k` numbers of
    /// a kernel in PyTorch's count; `relu` and `pool` (over windows of that size) follow the convolution.
    pub fn init(
        &self,
        input: usize,
        relu: bool,
        pool: Option<usize>,
        weights: &mut InitialWeights,
    ) -> ConvolutionLayer {
        let (first, second) = if self.transposed { (input, self.channels) } else { (self.channels, input) };
        let bound = 1.0 / ((second * self.kernel * self.kernel).max(1) as f64).sqrt();
        let convolution = self.convolution(input);
        ConvolutionLayer {
            weight: weights.uniform([first, second, self.kernel, self.kernel], bound),
            bias: weights.uniform([self.channels], bound),
            layer: Layer {
                convolution: if relu { convolution.relu() } else { convolution },
                pool: pool.map(|window| MaxPool { window: [window; 2] }),
            },
        }
    }
}

impl ConvolutionLayer {
    /// The convolution and the pooling without their weights.
    pub(super) fn kernel(&self) -> (Convolution, Option<MaxPool>) {
        (self.layer.convolution, self.layer.pool)
    }

    /// The output for images `[frames, channels, height, width]`.
    ///
    /// # Errors
    /// When the images do not fit the layer.
    pub fn forward(&self, images: Tensor<4>) -> Result<Tensor<4>, ConvolutionError> {
        let inputs =
            [images.into_dispatch(), self.weight.val().into_dispatch(), self.bias.val().into_dispatch()];
        fused::apply(self.layer, inputs)
    }
}

/// The images of a tensor.
pub(super) fn images<'a, T>(values: &'a [T], shape: &[usize]) -> Images<'a, T> {
    let &[frames, _, height, width] = shape else { return Images { values, frames: 0, size: [0; 2] } };
    Images { values, frames, size: [height, width] }
}

impl Operation<3> for Layer {
    /// The places of the maxima where the output is pooled.
    type Tape<T: FusedReal> = Vec<u32>;
    type Error = ConvolutionError;

    fn forward<T: FusedReal>(
        &self,
        [input, weight, bias]: [&[T]; 3],
        shapes: [&[usize]; 3],
    ) -> Result<Evaluated<T, Vec<u32>>, ConvolutionError> {
        let input = images(input, shapes[0]);
        let mut size = self.convolution.output_size(input.size)?;
        let pooled = match self.pool {
            Some(pool) => {
                size = pool.output_size(size)?;
                self.convolution.forward_pooled(input, weight, bias, pool)?
            }
            None => {
                let values = self.convolution.forward(input, weight, bias)?;
                Pooled { values, indices: Vec::new() }
            }
        };
        let shape = vec![input.frames, self.convolution.channels[1], size[0], size[1]];
        Ok(Evaluated { output: pooled.values, shape, tape: pooled.indices })
    }

    fn backward<T: FusedReal>(
        &self,
        Computed { inputs: [input, weight, _], shapes, output, tape }: Computed<'_, T, Vec<u32>, 3>,
        of_output: &[T],
        wanted: [bool; 3],
    ) -> Result<[Vec<T>; 3], ConvolutionError> {
        let input = images(input, shapes[0]);
        let wanted = if wanted[0] { Wanted::All } else { Wanted::Parameters };
        let gradients = match self.pool {
            Some(pool) => {
                let pooled = Maxima { values: output, indices: tape };
                self.convolution.backward_pooled(input, weight, pool, pooled, of_output, wanted)?
            }
            None => self.convolution.backward(input, weight, output, of_output, wanted)?,
        };
        Ok([gradients.input, gradients.weight, gradients.bias])
    }
}
