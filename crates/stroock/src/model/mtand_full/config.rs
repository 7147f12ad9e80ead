//! mTAND-Full from a configuration alone.

use serde::{Deserialize, Serialize};

use super::{MtandFull, ReferenceGenerator, ReferencePosterior};
use crate::encoder::FrameFeaturesConfig;
use crate::initial::InitialWeights;
use crate::likelihood::LikelihoodKind;
use crate::model::latent_sde::{DecoderConfig, decoder, parameters, size, task};
use crate::model::mtand_enc::TimeViewsSizes;
use crate::model::{ModelConfigError, ModelSettings, point_features};
use crate::series::Observation;
use crate::task::{TaskConfig, TaskKind};

/// Sizes of encoder and decoder between the reference points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReferenceSizes {
    /// Width `E` of the time embeddings.
    pub embedding: usize,
    /// Reference points `R` on [0, 1].
    pub reference_points: usize,
    /// Width of a view, and units `H` of the encoder in each direction.
    pub hidden: usize,
    /// Hidden units between the encoder and the distributions.
    pub head: usize,
    /// Latent numbers `L` of a reference point.
    pub latent: usize,
    /// Units `G` of the decoder in each direction.
    pub generator: usize,
}

impl Default for ReferenceSizes {
    /// Those of the published run on PhysioNet.
    fn default() -> Self {
        Self { embedding: 128, reference_points: 64, hidden: 64, head: 50, latent: 16, generator: 50 }
    }
}

/// Everything that makes an mTAND-Full but its parameters.
///
/// ```
/// use burn::tensor::Device;
/// use stroock::decoder::MlpConfig;
/// use stroock::initial::InitialWeights;
/// use stroock::likelihood::{LikelihoodKind, ScaleKind};
/// use stroock::model::{DecoderConfig, ModelSettings, MtandFullConfig};
/// use stroock::series::Observation;
///
/// let config = MtandFullConfig {
///     observation: Observation::Vector { channels: 3 },
///     frames: None,
///     latent: Default::default(),
///     decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![50], ..MlpConfig::default() }),
///     likelihood: LikelihoodKind::Gaussian { scale: 0.01, scale_kind: ScaleKind::Fixed },
///     task: None,
/// };
/// let model = config.init(&mut InitialWeights::new(1, &Device::flex().autodiff()))?;
/// assert_eq!(model.generator.latents(), 64 * 16);
/// # Ok::<(), stroock::model::ModelConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MtandFullConfig {
    /// What is observed at a time.
    pub observation: Observation,
    /// How frames become features; none for vectors.
    #[serde(default)]
    pub frames: Option<FrameFeaturesConfig>,
    /// Reference points and what stands between them.
    #[serde(default)]
    pub latent: ReferenceSizes,
    /// From a state to the output.
    pub decoder: DecoderConfig,
    /// How observations scatter around the output.
    pub likelihood: LikelihoodKind,
    /// What is predicted beside the observations.
    #[serde(default)]
    pub task: Option<TaskConfig>,
}

/// Most reference points: their weights are attention of each of them to each.
const MOST_REFERENCE_POINTS: usize = 1 << 12;

impl ReferenceSizes {
    fn check(self, features: usize) -> Result<(), ModelConfigError> {
        let Self { embedding, reference_points, hidden, head, latent, generator } = self;
        // Keys of this configuration, not of the other one with these sizes.
        let rename = |error| match error {
            ModelConfigError::Size { key, size, least, most } => {
                ModelConfigError::Size { key: own_key(key), size, least, most }
            }
            ModelConfigError::Parameters { key, most } => {
                ModelConfigError::Parameters { key: own_key(key), most }
            }
            other => other,
        };
        TimeViewsSizes { embedding, hidden }.check(features, 2).map_err(rename)?;
        if !(1..=MOST_REFERENCE_POINTS).contains(&reference_points) {
            let (key, least, most) = ("latent.reference_points", 1, MOST_REFERENCE_POINTS);
            return Err(ModelConfigError::Size { key, size: reference_points, least, most });
        }
        size("latent.head", head, 1)?;
        size("latent.latent", latent, 1)?;
        size("latent.generator", generator, 1)?;
        parameters("latent.head", &[2, hidden, head])?;
        parameters("latent.latent", &[2, head, latent])?;
        parameters("latent.latent", &[reference_points, latent])?;
        parameters("latent.generator", &[6, generator, generator])?;
        parameters("latent.generator", &[6, generator, latent])
    }
}

fn own_key(key: &'static str) -> &'static str {
    match key {
        "encoder.embedding" => "latent.embedding",
        "encoder.hidden" => "latent.hidden",
        other => other,
    }
}

impl ModelSettings for MtandFullConfig {
    type Model = MtandFull;

    fn kind(&self) -> &'static str {
        "mtand-full"
    }

    fn observation(&self) -> Observation {
        self.observation
    }

    fn task(&self) -> Option<TaskKind> {
        self.task.as_ref().map(|task| task.output)
    }

    fn check(&self) -> Result<(), ModelConfigError> {
        let features = point_features::check(self.observation, self.frames.as_ref())?;
        self.latent.check(features)?;
        if let LikelihoodKind::Categorical { classes } = self.likelihood {
            size("likelihood.classes", classes, 1)?;
        }
        let outputs = self.likelihood.outputs(self.observation.len());
        decoder(&self.decoder, 2 * self.latent.generator, outputs)?;
        task(self.task.as_ref())
    }

    fn init(&self, weights: &mut InitialWeights) -> Result<MtandFull, ModelConfigError> {
        self.check()?;
        let observed = self.observation.len();
        let features = point_features::check(self.observation, self.frames.as_ref())?;
        let width = 2 * self.latent.generator;
        Ok(MtandFull {
            frames: point_features::init(self.observation, self.frames.as_ref(), self.kind(), weights)?,
            posterior: ReferencePosterior::new(features, self.latent, weights),
            generator: ReferenceGenerator::new(self.latent, weights),
            decoder: self.decoder.init(width, self.likelihood.outputs(observed), weights)?,
            likelihood: self.likelihood.init(observed, weights.device()),
            task: self.task.as_ref().map(|task| task.init(width, weights)),
        })
    }
}
