//! Features of the points of a series: their values themselves, or those of frames.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Tensor, TensorData};
use serde::{Deserialize, Serialize};
use stroock_kernels::network::NetworkError;

use super::EncoderError;
use super::frames::frames_of;
use crate::batch::EncoderInput;
use crate::image::{ImageNetwork, ImageNetworkConfig, ImageShape};
use crate::initial::InitialWeights;

/// How a frame becomes features `tanh(W cnn(x) + b)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameFeaturesConfig {
    /// Convolutions.
    pub network: ImageNetworkConfig,
    /// Features of a frame.
    pub features: usize,
}

/// The map from frames to features.
#[derive(Module, Debug)]
pub struct FrameFeatures {
    /// Convolutions of a frame.
    pub network: ImageNetwork,
    /// From the last layer of the network to the features.
    pub features: Linear,
    #[module(skip)]
    frame: ImageShape,
}

impl FrameFeaturesConfig {
    /// Initialises the map for frames of a shape.
    ///
    /// # Errors
    /// When the layers do not fit the frames.
    pub fn init(
        &self,
        frame: ImageShape,
        weights: &mut InitialWeights,
    ) -> Result<FrameFeatures, NetworkError> {
        let extent = self.network.output(frame)?.extent();
        Ok(FrameFeatures {
            network: self.network.init(frame.channels, weights),
            features: weights.linear(extent, self.features),
            frame,
        })
    }
}

impl FrameFeatures {
    /// Features `[N, F]` of the frames of an input.
    ///
    /// # Errors
    /// When the frames are of another shape.
    pub fn forward(&self, input: &EncoderInput) -> Result<Tensor<2>, EncoderError> {
        Ok(self.linear(input)?.tanh())
    }

    /// `W cnn(x) + b` of the frames of an input, `[N, F]`, for other activations.
    ///
    /// # Errors
    /// When the frames are of another shape.
    pub fn linear(&self, input: &EncoderInput) -> Result<Tensor<2>, EncoderError> {
        let frames = frames_of(input, &input.values, self.frame, &self.network)?;
        let (count, width) = (frames.dims()[0], self.features.weight.val().dims()[0]);
        let maps = self.network.forward(frames)?;
        Ok(self.features.forward(maps.reshape([count, width])))
    }
}

/// The values `[N, C]` of the points of an input, on the device and in the precision of a tensor. They are data: the device
/// keeps no graph for them.
pub(crate) fn values_like<const D: usize>(input: &EncoderInput, like: &Tensor<D>) -> Tensor<2> {
    let values = TensorData::new(input.values.clone(), [input.points(), input.channels()]);
    Tensor::from_data(values, (&like.device(), like.dtype()))
}
