//! Normalisation of every image as a whole, as a module with a fused kernel.

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use stroock_kernels::normalisation::{FrameNorm, NormalisationError, Tape};

use super::convolution::images;
use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};
use crate::initial::InitialWeights;

/// Sizes of a [`FrameNormLayer`].
#[derive(Clone, Copy, Debug)]
pub struct FrameNormConfig {
    /// Channels.
    pub channels: usize,
}

/// `max((x - mean) / standard deviation scale[c] + offset[c], 0)` with the mean and the standard deviation over a whole frame.
#[derive(Module, Debug)]
pub struct FrameNormLayer {
    /// `[channels]`.
    pub scale: Param<Tensor<1>>,
    /// `[channels]`.
    pub offset: Param<Tensor<1>>,
}

impl FrameNormConfig {
    /// Initialises the layer: scale 1, offset 0.
    pub fn init(&self, weights: &mut InitialWeights) -> FrameNormLayer {
        let channels = [self.channels];
        FrameNormLayer { scale: weights.constant(channels, 1.0), offset: weights.constant(channels, 0.0) }
    }
}

impl FrameNormLayer {
    /// The output for images `[frames, channels, height, width]`.
    ///
    /// # Errors
    /// When the images do not fit the layer.
    pub fn forward(&self, images: Tensor<4>) -> Result<Tensor<4>, NormalisationError> {
        let inputs =
            [images.into_dispatch(), self.scale.val().into_dispatch(), self.offset.val().into_dispatch()];
        fused::apply(Norm(self.kernel()), inputs)
    }

    /// The normalisation without its parameters.
    pub(super) fn kernel(&self) -> FrameNorm {
        FrameNorm::new(self.scale.val().dims()[0]).relu()
    }
}

#[derive(Clone, Copy, Debug)]
struct Norm(FrameNorm);

impl Operation<3> for Norm {
    type Tape<T: FusedReal> = Tape<T>;
    type Error = NormalisationError;

    fn forward<T: FusedReal>(
        &self,
        [input, scale, offset]: [&[T]; 3],
        shapes: [&[usize]; 3],
    ) -> Result<Evaluated<T, Tape<T>>, NormalisationError> {
        let normalised = self.0.forward(images(input, shapes[0]), scale, offset)?;
        Ok(Evaluated { output: normalised.values, shape: shapes[0].to_vec(), tape: normalised.tape })
    }

    fn backward<T: FusedReal>(
        &self,
        Computed { inputs: [input, scale, offset], shapes, tape, .. }: Computed<'_, T, Tape<T>, 3>,
        of_output: &[T],
        _: [bool; 3],
    ) -> Result<[Vec<T>; 3], NormalisationError> {
        let gradients = self.0.backward(images(input, shapes[0]), scale, offset, tape, of_output)?;
        Ok([gradients.input, gradients.scale, gradients.offset])
    }
}
