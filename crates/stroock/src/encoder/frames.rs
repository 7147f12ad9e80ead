//! Images, frame by frame, and then attention over time (the paper's type A).

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};
use stroock_kernels::network::NetworkError;

use super::{Encoder, EncoderError, TimeAttentionConfig, TimeAttentionEncoder};
use crate::batch::EncoderInput;
use crate::image::{ImageNetwork, ImageNetworkConfig, ImageShape};
use crate::initial::InitialWeights;

/// Sizes of a [`FrameEncoder`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameEncoderConfig {
    /// Convolutions.
    pub network: ImageNetworkConfig,
    /// Features of a frame.
    pub features: usize,
    /// Attention over the features.
    #[serde(default)]
    pub attention: TimeAttentionConfig,
}

/// Every frame becomes features `tanh(W cnn(x) + b)`, which a [`TimeAttentionEncoder`] reads.
#[derive(Module, Debug)]
pub struct FrameEncoder {
    /// Convolutions of a frame.
    pub network: ImageNetwork,
    /// From the last layer of the network to the features.
    pub features: Linear,
    /// From the features of all frames to the representation.
    pub attention: TimeAttentionEncoder,
    #[module(skip)]
    frame: ImageShape,
}

impl FrameEncoderConfig {
    /// Initialises the encoder for frames of a shape.
    ///
    /// # Errors
    /// When the layers do not fit the frames.
    pub fn init(
        &self,
        frame: ImageShape,
        weights: &mut InitialWeights,
    ) -> Result<FrameEncoder, NetworkError> {
        let output = self.network.output(frame)?;
        Ok(FrameEncoder {
            network: self.network.init(frame.channels, weights),
            features: weights.linear(output.extent(), self.features),
            attention: self.attention.init(self.features, weights),
            frame,
        })
    }
}

impl Encoder for FrameEncoder {
    fn encode(&self, input: &EncoderInput) -> Result<Tensor<2>, EncoderError> {
        let frames = frames_of(input, &input.values, self.frame, &self.network)?;
        let count = frames.dims()[0];
        let maps = self.network.forward(frames)?;
        let width = self.features.weight.val().dims()[0];
        let features = self.features.forward(maps.reshape([count, width])).tanh();
        self.attention.encode_features(input, features)
    }
}

/// Values as frames of the expected shape, in the precision and on the device of the network.
pub(crate) fn frames_of(
    input: &EncoderInput,
    values: &[f32],
    frame: ImageShape,
    network: &ImageNetwork,
) -> Result<Tensor<4>, EncoderError> {
    if input.channels() != frame.extent() {
        return Err(EncoderError::Channels { expected: frame.extent(), actual: input.channels() });
    }
    let shape = [values.len() / frame.extent(), frame.channels, frame.height, frame.width];
    let frames = TensorData::new(values.to_vec(), shape);
    // Frames are data: the device keeps no graph for them.
    Ok(match network.layers.first().map(|layer| layer.convolution.weight.val()) {
        Some(weight) => Tensor::from_data(frames, (&weight.device(), weight.dtype())),
        None => Tensor::from_data(frames, &Device::default()),
    })
}
