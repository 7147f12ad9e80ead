//! States to images, through transposed convolutions.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::activation::{relu, sigmoid};
use serde::{Deserialize, Serialize};
use stroock_kernels::network::NetworkError;

use super::{Decoder, DecoderError};
use crate::image::{Follow, ImageNetwork, ImageNetworkConfig, ImageShape};
use crate::initial::InitialWeights;

/// Sizes of an [`ImageDecoder`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageDecoderConfig {
    /// The small image that a linear map makes of a state.
    pub first: ImageShape,
    /// Whether negative numbers of the small image become 0.
    #[serde(default)]
    pub relu: bool,
    /// From the small image to the output.
    pub network: ImageNetworkConfig,
    /// Whether the output is squeezed into (0, 1), for likelihoods that read grey values and not logits.
    #[serde(default)]
    pub sigmoid: bool,
}

/// A linear map to a small image, and convolutions from there.
#[derive(Module, Debug)]
pub struct ImageDecoder {
    /// From a state to the small image.
    pub first: Linear,
    /// From the small image to the output.
    pub network: ImageNetwork,
    #[module(skip)]
    shape: ImageShape,
    #[module(skip)]
    relu: bool,
    /// Whether the output is still to be squeezed.
    #[module(skip)]
    sigmoid: bool,
}

impl ImageDecoderConfig {
    /// The shape of the images.
    ///
    /// # Errors
    /// When a layer does not fit the one before it.
    pub fn output(&self) -> Result<ImageShape, NetworkError> {
        self.network.output(self.first)
    }

    /// Initialises the decoder for states of dimension `dim`.
    pub fn init(&self, dim: usize, weights: &mut InitialWeights) -> ImageDecoder {
        let (mut network, mut sigmoid) = (self.network.clone(), self.sigmoid);
        // The last layer squeezes its own output where nothing else follows it.
        if let Some(last) = network.layers.last_mut().filter(|last| sigmoid && last.then == Follow::Nothing) {
            (last.then, sigmoid) = (Follow::Sigmoid, false);
        }
        ImageDecoder {
            first: weights.linear(dim, self.first.extent()),
            network: network.init(self.first.channels, weights),
            shape: self.first,
            relu: self.relu,
            sigmoid,
        }
    }
}

impl Decoder for ImageDecoder {
    fn decode(&self, z: Tensor<2>) -> Result<Tensor<2>, DecoderError> {
        let (count, ImageShape { channels, height, width }) = (z.dims()[0], self.shape);
        let first = self.first.forward(z);
        let first = if self.relu { relu(first) } else { first };
        let images = self.network.forward(first.reshape([count, channels, height, width]))?;
        let output = images.flatten(1, 3);
        Ok(if self.sigmoid { sigmoid(output) } else { output })
    }
}
