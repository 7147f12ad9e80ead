//! Latent SDEs from a configuration alone: the encoders and decoders of this crate, chosen by name.

use burn::module::Module;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::LatentSde;
use super::parts::Parts;
use crate::batch::EncoderInput;
use crate::decoder::{Decoder, DecoderError, ImageDecoder, ImageDecoderConfig, Mlp, MlpConfig};
use crate::encoder::{
    Encoder, EncoderError, FirstFrameConfig, FirstFrameEncoder, FrameEncoder, FrameEncoderConfig,
    LearnedEmbedding, TimeAttentionConfig, TimeAttentionEncoder,
};
use crate::image::ImageShape;
use crate::initial::InitialWeights;
use crate::latent::{LatentConfig, PathProcess};
use crate::likelihood::LikelihoodKind;
use crate::model::{ModelConfigError, ModelSettings};
use crate::series::Observation;
use crate::task::{TaskConfig, TaskKind};

/// From the observed points of a series to a representation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum EncoderConfig {
    /// Attention over time, for vectors with gaps (type B).
    TimeAttention(TimeAttentionConfig),
    /// Convolutions of every frame, then attention over time (type A).
    Frames(FrameEncoderConfig),
    /// Convolutions of one frame (type C).
    FirstFrame(FirstFrameConfig),
    /// A learned vector, for a single series.
    LearnedEmbedding {
        /// Its width.
        #[serde(default = "embedding_width")]
        width: usize,
    },
}

fn embedding_width() -> usize {
    3
}

/// From a state to the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DecoderConfig {
    /// Linear maps with activations between them.
    Mlp(MlpConfig),
    /// Transposed convolutions.
    Image(ImageDecoderConfig),
}

/// Everything that makes a latent SDE but its parameters.
///
/// ```
/// use burn::tensor::Device;
/// use stroock::decoder::MlpConfig;
/// use stroock::initial::InitialWeights;
/// use stroock::latent::LatentConfig;
/// use stroock::likelihood::{LikelihoodKind, ScaleKind};
/// use stroock::model::{DecoderConfig, EncoderConfig, LatentSdeConfig, ModelSettings};
/// use stroock::series::Observation;
///
/// let config = LatentSdeConfig {
///     observation: Observation::Vector { channels: 3 },
///     encoder: EncoderConfig::TimeAttention(Default::default()),
///     latent: LatentConfig { dim: 8, ..LatentConfig::default() },
///     decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![32], ..MlpConfig::default() }),
///     likelihood: LikelihoodKind::Gaussian { scale: 0.1, scale_kind: ScaleKind::PerChannel },
///     task: None,
/// };
/// let model = config.init(&mut InitialWeights::new(1, &Device::flex().autodiff()))?;
/// assert_eq!(model.latent().dim, 8);
/// # Ok::<(), stroock::model::ModelConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatentSdeConfig {
    /// What is observed at a time.
    pub observation: Observation,
    /// From the observed points of a series to a representation.
    pub encoder: EncoderConfig,
    /// The latent space and the process of paths in it.
    #[serde(default)]
    pub latent: LatentConfig,
    /// From a state to the output.
    pub decoder: DecoderConfig,
    /// How observations scatter around the output.
    pub likelihood: LikelihoodKind,
    /// What is predicted beside the observations.
    #[serde(default)]
    pub task: Option<TaskConfig>,
}

/// The model that a [`LatentSdeConfig`] makes.
pub type StandardLatentSde = LatentSde<StandardEncoder, StandardDecoder>;

/// One of the encoders of this crate.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // There is one of them in a model.
pub enum StandardEncoder {
    /// Attention over time.
    TimeAttention(TimeAttentionEncoder),
    /// Convolutions of every frame, then attention over time.
    Frames(FrameEncoder),
    /// Convolutions of one frame.
    FirstFrame(FirstFrameEncoder),
    /// A learned vector.
    LearnedEmbedding(LearnedEmbedding),
}

/// One of the decoders of this crate.
#[derive(Module, Debug)]
pub enum StandardDecoder {
    /// Linear maps with activations between them.
    Mlp(Mlp),
    /// Transposed convolutions.
    Image(ImageDecoder),
}

impl ModelSettings for LatentSdeConfig {
    type Model = StandardLatentSde;

    fn kind(&self) -> &'static str {
        "latent-sde"
    }

    fn observation(&self) -> Observation {
        self.observation
    }

    fn task(&self) -> Option<TaskKind> {
        self.task.as_ref().map(|task| task.output)
    }

    /// Polynomials grow without bound outside the interval that they are taken on.
    fn reach(&self) -> Option<f64> {
        Some(self.latent.interval().1)
    }

    fn check(&self) -> Result<(), ModelConfigError> {
        self.check_sizes()
    }

    fn init(&self, weights: &mut InitialWeights) -> Result<StandardLatentSde, ModelConfigError> {
        self.check()?;
        let process = |width, weights: &mut InitialWeights| PathProcess::new(width, &self.latent, weights);
        self.parts().init(self.latent.dim, process, weights)
    }
}

impl LatentSdeConfig {
    /// What stands around the process.
    pub(super) fn parts(&self) -> Parts<'_> {
        let Self { observation, encoder, decoder, likelihood, task, .. } = self;
        Parts { observation: *observation, encoder, decoder, likelihood: *likelihood, task: task.as_ref() }
    }
}

impl EncoderConfig {
    /// The encoder and the width of its representation.
    pub(in crate::model) fn init(
        &self,
        observation: Observation,
        weights: &mut InitialWeights,
    ) -> Result<(StandardEncoder, usize), ModelConfigError> {
        let layers = |source| ModelConfigError::Layers { part: "encoder", source };
        Ok(match self {
            EncoderConfig::TimeAttention(config) => {
                let Observation::Vector { channels } = observation else {
                    return Err(ModelConfigError::Encoder {
                        encoder: "time-attention",
                        reads: "vectors",
                        found: "images",
                    });
                };
                (StandardEncoder::TimeAttention(config.init(channels, weights)), config.hidden)
            }
            EncoderConfig::Frames(config) => {
                let frame = image_shape(observation, "frames")?;
                let encoder = config.init(frame, weights).map_err(layers)?;
                (StandardEncoder::Frames(encoder), config.attention.hidden)
            }
            EncoderConfig::FirstFrame(config) => {
                let frame = image_shape(observation, "first-frame")?;
                let encoder = config.init(frame, weights).map_err(layers)?;
                (StandardEncoder::FirstFrame(encoder), config.width(frame).map_err(layers)?)
            }
            EncoderConfig::LearnedEmbedding { width } => {
                (StandardEncoder::LearnedEmbedding(LearnedEmbedding::new(*width, weights)), *width)
            }
        })
    }
}

pub(in crate::model) fn image_shape(
    observation: Observation,
    encoder: &'static str,
) -> Result<ImageShape, ModelConfigError> {
    match observation {
        Observation::Image { channels, height, width } => Ok(ImageShape { channels, height, width }),
        Observation::Vector { .. } => {
            Err(ModelConfigError::Encoder { encoder, reads: "images", found: "vectors" })
        }
    }
}

impl DecoderConfig {
    pub(in crate::model) fn init(
        &self,
        dim: usize,
        outputs: usize,
        weights: &mut InitialWeights,
    ) -> Result<StandardDecoder, ModelConfigError> {
        match self {
            DecoderConfig::Mlp(config) => Ok(StandardDecoder::Mlp(config.init(dim, outputs, weights))),
            DecoderConfig::Image(config) => {
                let layers = |source| ModelConfigError::Layers { part: "decoder", source };
                let actual = config.output().map_err(layers)?.extent();
                if actual != outputs {
                    return Err(ModelConfigError::Outputs { expected: outputs, actual });
                }
                Ok(StandardDecoder::Image(config.init(dim, weights)))
            }
        }
    }
}

impl Encoder for StandardEncoder {
    fn encode(&self, input: &EncoderInput) -> Result<Tensor<2>, EncoderError> {
        match self {
            StandardEncoder::TimeAttention(encoder) => encoder.encode(input),
            StandardEncoder::Frames(encoder) => encoder.encode(input),
            StandardEncoder::FirstFrame(encoder) => encoder.encode(input),
            StandardEncoder::LearnedEmbedding(encoder) => encoder.encode(input),
        }
    }
}

impl Decoder for StandardDecoder {
    fn decode(&self, z: Tensor<2>) -> Result<Tensor<2>, DecoderError> {
        match self {
            StandardDecoder::Mlp(decoder) => decoder.decode(z),
            StandardDecoder::Image(decoder) => decoder.decode(z),
        }
    }
}
