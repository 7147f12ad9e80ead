//! One image as the whole input (the paper's type C).

use burn::module::Module;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};
use stroock_kernels::network::NetworkError;

use super::frames::frames_of;
use super::{Encoder, EncoderError};
use crate::batch::EncoderInput;
use crate::image::{ImageNetwork, ImageNetworkConfig, ImageShape};
use crate::initial::InitialWeights;

/// Sizes of a [`FirstFrameEncoder`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirstFrameConfig {
    /// Convolutions.
    pub network: ImageNetworkConfig,
}

/// The first frame that is seen of a series, through convolutions; the last layer is the representation.
#[derive(Module, Debug)]
pub struct FirstFrameEncoder {
    /// Convolutions.
    pub network: ImageNetwork,
    #[module(skip)]
    frame: ImageShape,
}

impl FirstFrameConfig {
    /// Initialises the encoder for frames of a shape.
    ///
    /// # Errors
    /// When the layers do not fit the frames.
    pub fn init(
        &self,
        frame: ImageShape,
        weights: &mut InitialWeights,
    ) -> Result<FirstFrameEncoder, NetworkError> {
        self.network.output(frame)?;
        Ok(FirstFrameEncoder { network: self.network.init(frame.channels, weights), frame })
    }

    /// Width of the representation of frames of a shape.
    ///
    /// # Errors
    /// When the layers do not fit the frames.
    pub fn width(&self, frame: ImageShape) -> Result<usize, NetworkError> {
        Ok(self.network.output(frame)?.extent())
    }
}

impl Encoder for FirstFrameEncoder {
    fn encode(&self, input: &EncoderInput) -> Result<Tensor<2>, EncoderError> {
        let extent = self.frame.extent();
        let mut first = Vec::with_capacity(input.series() * extent);
        for (series, pair) in input.point_offsets.windows(2).enumerate() {
            if pair[0] == pair[1] {
                return Err(EncoderError::NoFrame { series });
            }
            let frame = pair[0] * input.channels()..(pair[0] + 1) * input.channels();
            first.extend_from_slice(&input.values[frame]);
        }
        let maps = self.network.forward(frames_of(input, &first, self.frame, &self.network)?)?;
        Ok(maps.flatten(1, 3))
    }
}
