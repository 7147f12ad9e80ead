//! Layers one after the other.

use burn::module::Module;
use burn::nn::{BatchNorm, BatchNormConfig};
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use burn::tensor::module::max_pool2d;
use burn::tensor::ops::MaxPoolOptions;
use serde::{Deserialize, Serialize};
use stroock_kernels::network::{Layer, MaxPool, Network, NetworkError, Then};

use super::group_norm::EPSILON;
use super::operation::through_network;
use super::{ConvolutionConfig, ConvolutionLayer, GroupNorm};
use crate::initial::InitialWeights;

/// Channels and size of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageShape {
    /// Colours or features.
    pub channels: usize,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl ImageShape {
    /// Numbers in one image.
    pub fn extent(&self) -> usize {
        self.channels * self.height * self.width
    }
}

/// What follows a convolution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Follow {
    /// Nothing.
    #[default]
    Nothing,
    /// `max(y, 0)`.
    Relu,
    /// `max(y, 0)`, and of that the maximum of every 2 x 2 window.
    ReluPool,
    /// Mean 0 and variance 1 of every channel over the batch (running moments when not training), then
    /// `max(y, 0)`.
    BatchNormRelu,
    /// Group normalisation with one group: mean 0 and variance 1 of every image as a whole, scaled and shifted channel
    /// by channel, then `max(y, 0)`.
    GroupNormRelu,
    /// The same, and of that the maximum of every 2 x 2 window.
    GroupNormReluPool,
    /// `1 / (1 + e^{-y})`.
    Sigmoid,
}

/// A convolution and what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageLayerConfig {
    /// Convolution.
    pub convolution: ConvolutionConfig,
    /// What follows it.
    #[serde(default)]
    pub then: Follow,
}

/// Layers one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ImageNetworkConfig {
    /// First to last.
    pub layers: Vec<ImageLayerConfig>,
}

/// Layers of convolutions.
#[derive(Module, Debug)]
pub struct ImageNetwork {
    /// First to last.
    pub layers: Vec<ImageLayer>,
}

/// One layer of an [`ImageNetwork`].
#[derive(Module, Debug)]
pub struct ImageLayer {
    /// Convolution.
    pub convolution: ConvolutionLayer,
    /// Normalisation over the batch.
    pub batch_norm: Option<BatchNorm>,
    /// Normalisation of every image.
    pub group_norm: Option<GroupNorm>,
    /// The layer without its parameters, without normalisation over the batch, and without pooling after that of images.
    #[module(skip)]
    kernel: Layer,
    /// Whether windows are still to be pooled.
    #[module(skip)]
    pools: bool,
}

impl ImageNetworkConfig {
    /// The shape of the output for images of shape `input`.
    ///
    /// # Errors
    /// When a kernel or a window does not fit.
    pub fn output(&self, input: ImageShape) -> Result<ImageShape, NetworkError> {
        self.layers.iter().try_fold(input, |shape, layer| layer.output(shape))
    }

    /// Initialises the layers for images of `input` channels.
    pub fn init(&self, input: usize, weights: &mut InitialWeights) -> ImageNetwork {
        let mut channels = input;
        let layers = self.layers.iter().map(|layer| {
            let initialised = layer.init(channels, weights);
            channels = layer.convolution.channels;
            initialised
        });
        ImageNetwork { layers: layers.collect() }
    }
}

impl ImageLayerConfig {
    fn kernel(&self, input: usize) -> Layer {
        let convolution = self.convolution.kernel(input);
        let (convolution, then) = match self.then {
            Follow::Nothing | Follow::BatchNormRelu => (convolution, Then::Nothing),
            Follow::Relu => (convolution.relu(), Then::Nothing),
            Follow::ReluPool => (convolution.relu(), Then::Pool(MaxPool { window: [2, 2] })),
            Follow::GroupNormRelu | Follow::GroupNormReluPool => {
                (convolution, Then::GroupNormRelu { epsilon: EPSILON })
            }
            Follow::Sigmoid => (convolution.sigmoid(), Then::Nothing),
        };
        Layer { convolution, then }
    }

    fn output(&self, input: ImageShape) -> Result<ImageShape, NetworkError> {
        // Without the normalisation, which changes no size.
        let layer = match self.then {
            Follow::GroupNormReluPool => Self { then: Follow::ReluPool, ..*self },
            _ => *self,
        };
        let [height, width] = layer.kernel(input.channels).output_size([input.height, input.width])?;
        Ok(ImageShape { channels: self.convolution.channels, height, width })
    }

    fn init(&self, input: usize, weights: &mut InitialWeights) -> ImageLayer {
        let channels = self.convolution.channels;
        ImageLayer {
            convolution: self.convolution.init(input, weights),
            batch_norm: (self.then == Follow::BatchNormRelu)
                .then(|| BatchNormConfig::new(channels).init(weights.device())),
            group_norm: matches!(self.then, Follow::GroupNormRelu | Follow::GroupNormReluPool)
                .then(|| GroupNorm::init(channels, weights)),
            kernel: self.kernel(input),
            pools: self.then == Follow::GroupNormReluPool,
        }
    }
}

impl ImageNetwork {
    /// The output for images `[frames, channels, height, width]`.
    ///
    /// The frames go through all layers in one piece, or up to a layer that is normalised over the batch, which has to
    /// see all of them, and from there on; so it is where normalised images are pooled.
    ///
    /// # Errors
    /// When the images do not fit the layers.
    pub fn forward(&self, mut images: Tensor<4>) -> Result<Tensor<4>, NetworkError> {
        for piece in self.layers.split_inclusive(|layer| layer.batch_norm.is_some() || layer.pools) {
            let network = Network::new(piece.iter().map(|layer| layer.kernel).collect());
            let parameters = piece.iter().flat_map(ImageLayer::parameters).collect();
            images = through_network(network, images, Tensor::cat(parameters, 0))?;
            if let Some(norm) = piece.last().and_then(|layer| layer.batch_norm.as_ref()) {
                images = relu(norm.forward(images));
                // The running moments lag by one update until they are asked for, and a model may be saved now.
                norm.running_mean.value_sync();
                norm.running_var.value_sync();
            }
            if piece.last().is_some_and(|layer| layer.pools) {
                images = max_pool2d(images, MaxPoolOptions::new([2, 2]));
            }
        }
        Ok(images)
    }
}

impl ImageLayer {
    /// The parameters in the order of [`Network`], each flat.
    fn parameters(&self) -> Vec<Tensor<1>> {
        let of_convolution = [self.convolution.weight.val().flatten(0, 3), self.convolution.bias.val()];
        let of_norm = self.group_norm.iter().flat_map(|norm| [norm.scale.val(), norm.offset.val()]);
        of_convolution.into_iter().chain(of_norm).collect()
    }
}
