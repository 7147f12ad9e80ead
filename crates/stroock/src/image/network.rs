//! Layers one after the other.

use burn::module::Module;
use burn::nn::{BatchNorm, BatchNormConfig};
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use serde::{Deserialize, Serialize};
use stroock_kernels::convolution::{ConvolutionError, MaxPool};
use stroock_kernels::network::{Layer, Network, Then};
use stroock_kernels::normalisation::NormalisationError;
use thiserror::Error;

use super::in_one_piece::in_one_piece;
use super::{ConvolutionConfig, ConvolutionLayer, FrameNormConfig, FrameNormLayer};
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
    /// Mean 0 and variance 1 of every image as a whole, scaled and shifted channel by channel, then
    /// `max(y, 0)`.
    FrameNormRelu,
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
    /// Convolution, with the activation and the pooling that follow at once.
    pub convolution: ConvolutionLayer,
    /// Normalisation over the batch.
    pub batch_norm: Option<BatchNorm>,
    /// Normalisation of every image.
    pub frame_norm: Option<FrameNormLayer>,
}

const WINDOW: usize = 2;

impl ImageNetworkConfig {
    /// The shape of the output for images of shape `input`.
    ///
    /// # Errors
    /// When a kernel or a window does not fit.
    pub fn output(&self, input: ImageShape) -> Result<ImageShape, ConvolutionError> {
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
    fn output(&self, input: ImageShape) -> Result<ImageShape, ConvolutionError> {
        let shape = self.convolution.output(input)?;
        let Follow::ReluPool = self.then else { return Ok(shape) };
        let [height, width] = MaxPool { window: [WINDOW; 2] }.output_size([shape.height, shape.width])?;
        Ok(ImageShape { height, width, ..shape })
    }

    fn init(&self, input: usize, weights: &mut InitialWeights) -> ImageLayer {
        let channels = self.convolution.channels;
        let relu = matches!(self.then, Follow::Relu | Follow::ReluPool);
        let pool = (self.then == Follow::ReluPool).then_some(WINDOW);
        ImageLayer {
            convolution: self.convolution.init(input, relu, pool, weights),
            batch_norm: (self.then == Follow::BatchNormRelu)
                .then(|| BatchNormConfig::new(channels).init(weights.device())),
            frame_norm: (self.then == Follow::FrameNormRelu)
                .then(|| FrameNormConfig { channels }.init(weights)),
        }
    }
}

impl ImageNetwork {
    /// The output for images `[frames, channels, height, width]`.
    ///
    /// The frames go through all layers in one piece, unless a layer normalises over the batch.
    ///
    /// # Errors
    /// When the images do not fit the layers.
    pub fn forward(&self, images: Tensor<4>) -> Result<Tensor<4>, ImageError> {
        match self.layers.iter().map(ImageLayer::kernel).collect::<Option<Vec<_>>>() {
            Some(kernels) if !kernels.is_empty() => {
                let parameters = self.layers.iter().flat_map(ImageLayer::parameters).collect();
                Ok(in_one_piece(Network::new(kernels), images, Tensor::cat(parameters, 0))?)
            }
            _ => self.layers.iter().try_fold(images, |images, layer| layer.forward(images)),
        }
    }
}

impl ImageLayer {
    /// The layer without its parameters; `None` where it normalises over the batch.
    fn kernel(&self) -> Option<Layer> {
        let (convolution, pool) = self.convolution.kernel();
        let then = match (pool, &self.frame_norm) {
            _ if self.batch_norm.is_some() => return None,
            (Some(_), Some(_)) => return None,
            (Some(pool), None) => Then::Pool(pool),
            (None, Some(norm)) => Then::FrameNormRelu { epsilon: norm.kernel().epsilon },
            (None, None) => Then::Nothing,
        };
        Some(Layer { convolution, then })
    }

    /// The parameters in the order of [`Network`], each flat.
    fn parameters(&self) -> Vec<Tensor<1>> {
        let of_convolution = [self.convolution.weight.val().flatten(0, 3), self.convolution.bias.val()];
        let of_norm = self.frame_norm.iter().flat_map(|norm| [norm.scale.val(), norm.offset.val()]);
        of_convolution.into_iter().chain(of_norm).collect()
    }

    fn forward(&self, images: Tensor<4>) -> Result<Tensor<4>, ImageError> {
        let mut images = self.convolution.forward(images)?;
        if let Some(norm) = &self.batch_norm {
            images = relu(norm.forward(images));
            // The running moments lag by one update until they are asked for, and a model may be saved now.
            norm.running_mean.value_sync();
            norm.running_var.value_sync();
        }
        if let Some(norm) = &self.frame_norm {
            images = norm.forward(images)?;
        }
        Ok(images)
    }
}

/// Why images cannot be put through layers.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ImageError {
    /// A convolution or a pooling refused its input.
    #[error(transparent)]
    Convolution(#[from] ConvolutionError),
    /// A normalisation refused its input.
    #[error(transparent)]
    Normalisation(#[from] NormalisationError),
}
