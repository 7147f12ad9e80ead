//! From inputs to latent observations with variances.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::relu;
use burn::tensor::{Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::{Layers, LayersConfig, VarianceKind};
use crate::batch::EncoderInput;
use crate::encoder::{EncoderError, frames_of};
use crate::image::{ImageNetwork, ImageNetworkConfig, ImageShape};
use crate::initial::InitialWeights;
use crate::model::ModelConfigError;
use crate::model::latent_sde::image_shape;
use crate::series::Observation;

/// From an input to its features.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CruEncoderConfig {
    /// Hidden layers over the values of a vector, 0 where nothing is observed.
    Vector {
        /// The layers.
        layers: LayersConfig,
        /// How the variances of latent observations are made.
        #[serde(default = "elu_plus_one")]
        variance: VarianceKind,
    },
    /// `max(W cnn(x) + b, 0)` of a frame.
    Frames {
        /// Convolutions.
        network: ImageNetworkConfig,
        /// Features of a frame.
        features: usize,
        /// How the variances of latent observations are made.
        #[serde(default = "elu_plus_one")]
        variance: VarianceKind,
    },
}

fn elu_plus_one() -> VarianceKind {
    VarianceKind::EluPlusOne
}

/// Features `f` of every input, and from `f / |f|` a latent observation and its variances.
#[derive(Module, Debug)]
pub struct CruEncoder {
    /// Inputs to features.
    pub features: CruFeatures,
    /// Normalised features to the latent observation.
    pub observation: Linear,
    /// Normalised features to its variances.
    pub variance: Linear,
    #[module(skip)]
    kind: VarianceKind,
    #[module(skip)]
    observed: Observation,
}

/// From inputs to features.
#[derive(Module, Debug)]
pub enum CruFeatures {
    /// Hidden layers.
    Vector(Layers),
    /// Convolutions, and a linear map of their output.
    Frames(FrameMap),
}

/// Convolutions, and a linear map of their output.
#[derive(Module, Debug)]
pub struct FrameMap {
    /// Convolutions of a frame.
    pub network: ImageNetwork,
    /// From the last layer of the network to the features.
    pub features: Linear,
}

impl CruEncoderConfig {
    /// Initialises the encoder to latent observations of `half` numbers.
    ///
    /// # Errors
    /// When it does not read such observations.
    pub fn init(
        &self,
        observed: Observation,
        half: usize,
        weights: &mut InitialWeights,
    ) -> Result<CruEncoder, ModelConfigError> {
        let (features, width, kind) = match self {
            CruEncoderConfig::Vector { layers, variance } => {
                let Observation::Vector { channels } = observed else {
                    let (encoder, reads, found) = ("vector", "vectors", "images");
                    return Err(ModelConfigError::Encoder { encoder, reads, found });
                };
                let features = CruFeatures::Vector(layers.init(channels, weights));
                (features, layers.width(channels), *variance)
            }
            CruEncoderConfig::Frames { network, features: width, variance } => {
                let frame = image_shape(observed, "frames")?;
                let layers = |source| ModelConfigError::Layers { part: "encoder", source };
                let extent = network.output(frame).map_err(layers)?.extent();
                let map = FrameMap {
                    network: network.init(frame.channels, weights),
                    features: weights.linear(extent, *width),
                };
                (CruFeatures::Frames(map), *width, *variance)
            }
        };
        let [observation, variance] = [(); 2].map(|()| weights.linear(width, half));
        Ok(CruEncoder { features, observation, variance, kind, observed })
    }
}

impl CruEncoder {
    /// Latent observations and their variances at the inputs of a batch, `[N, 2d]`.
    ///
    /// # Errors
    /// When the inputs do not fit the encoder.
    pub fn observe(&self, input: &EncoderInput) -> Result<Tensor<2>, EncoderError> {
        let (expected, actual) = (self.observed.len(), input.channels());
        if expected != actual {
            return Err(EncoderError::Channels { expected, actual });
        }
        let weight = self.observation.weight.val();
        let (count, options) = (input.points(), (&weight.device(), weight.dtype()));
        if count == 0 {
            return Ok(Tensor::zeros([0, 2 * weight.dims()[1]], options));
        }
        let features = match (&self.features, self.observed) {
            (CruFeatures::Frames(map), Observation::Image { channels, height, width }) => {
                let frame = ImageShape { channels, height, width };
                let maps = map.network.forward(frames_of(input, &input.values, frame, &map.network)?)?;
                let extent = map.features.weight.val().dims()[0];
                relu(map.features.forward(maps.reshape([count, extent])))
            }
            (CruFeatures::Vector(layers), _) => {
                let values = TensorData::new(input.values.clone(), [count, actual]);
                layers.forward(Tensor::from_data(values, options))
            }
            (CruFeatures::Frames(_), Observation::Vector { .. }) => {
                return Err(EncoderError::Channels { expected, actual });
            }
        };
        Ok(self.observations(features))
    }

    /// The same from features, `[N, width]`.
    pub fn observations(&self, features: Tensor<2>) -> Tensor<2> {
        // At least 1e-8, and without a gradient there.
        let norm = features.clone().powi_scalar(2).sum_dim(1).clamp_min(1e-16).sqrt();
        let features = features / norm;
        let observation = self.observation.forward(features.clone());
        let variance = self.kind.apply(self.variance.forward(features));
        Tensor::cat(vec![observation, variance], 1)
    }
}
