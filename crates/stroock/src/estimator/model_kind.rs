//! The models that a table can be fitted with, in sizes that suit it.

use crate::decoder::MlpConfig;
use crate::encoder::{KnotEncoderConfig, KnotPositions, TimeAttentionConfig};
use crate::latent::LatentConfig;
use crate::likelihood::{LikelihoodKind, ScaleKind};
use crate::model::{
    DecoderConfig, EncoderConfig, KnotLatentConfig, KnotSdeConfig, LatentOdeConfig, LatentSdeConfig,
    ModelConfig, MtandFullConfig, NeuralSdeConfig, OdeConfig, ReferenceSizes, SdeConfig,
};
use crate::series::Observation;
use crate::task::TaskConfig;

/// Evenly spaced knots beside those at the observed times.
const EVEN_KNOTS: usize = 17;

/// A model that a table can be fitted with.
///
/// ```
/// use stroock::estimator::ModelKind;
/// assert_eq!(ModelKind::named("latent-ode"), Some(ModelKind::LatentOde));
/// assert!(ModelKind::ALL.iter().all(|kind| ModelKind::named(kind.name()) == Some(*kind)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelKind {
    /// The paper's: a random path on a sphere.
    LatentSde,
    /// A random path on a sphere that follows the observations from knot to knot.
    KnotSde,
    /// A path without noise in `R^n`, from a random start.
    LatentOde,
    /// A random path in `R^n`, whose drift and diffusion are networks.
    NeuralSde,
    /// Random numbers at reference points in time, and attention between them.
    MtandFull,
}

/// What the sizes of a model depend on.
pub(super) struct Sizes {
    pub observation: Observation,
    /// Hidden units.
    pub width: usize,
    /// Reference points of an attention over time.
    pub points: usize,
}

impl ModelKind {
    /// All of them.
    pub const ALL: [ModelKind; 5] =
        [Self::LatentSde, Self::KnotSde, Self::LatentOde, Self::NeuralSde, Self::MtandFull];

    /// The name in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            ModelKind::LatentSde => "latent-sde",
            ModelKind::KnotSde => "knot-sde",
            ModelKind::LatentOde => "latent-ode",
            ModelKind::NeuralSde => "neural-sde",
            ModelKind::MtandFull => "mtand-full",
        }
    }

    /// That of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The settings of such a model.
    pub(super) fn config(self, sizes: &Sizes, task: Option<TaskConfig>) -> ModelConfig {
        let (observation, decoder, likelihood) = (sizes.observation, sizes.decoder(), LIKELIHOOD);
        match self {
            ModelKind::KnotSde => KnotSdeConfig {
                observation,
                encoder: KnotEncoderConfig {
                    hidden: sizes.width,
                    width: sizes.width,
                    positions: KnotPositions { observed: true, even: EVEN_KNOTS, end: 1.0 },
                    ..KnotEncoderConfig::default()
                },
                // Room for every channel to go its own way.
                latent: KnotLatentConfig::default().with_dim((observation.len() + 1).clamp(16, 64)),
                decoder,
                likelihood,
                task,
            }
            .into(),
            ModelKind::LatentSde => {
                let latent = LatentConfig { dim: sizes.width / 4, ..LatentConfig::default() };
                LatentSdeConfig { observation, encoder: sizes.attention(), latent, decoder, likelihood, task }
                    .into()
            }
            ModelKind::LatentOde => {
                let latent = OdeConfig { dim: sizes.width / 4, ..OdeConfig::default() };
                LatentOdeConfig { observation, encoder: sizes.attention(), latent, decoder, likelihood, task }
                    .into()
            }
            ModelKind::NeuralSde => {
                let latent = SdeConfig { dim: sizes.width / 4, ..SdeConfig::default() };
                NeuralSdeConfig { observation, encoder: sizes.attention(), latent, decoder, likelihood, task }
                    .into()
            }
            ModelKind::MtandFull => {
                let latent = ReferenceSizes {
                    embedding: sizes.width,
                    reference_points: sizes.points,
                    hidden: sizes.width,
                    ..ReferenceSizes::default()
                };
                MtandFullConfig { observation, frames: None, latent, decoder, likelihood, task }.into()
            }
        }
    }
}

const LIKELIHOOD: LikelihoodKind = LikelihoodKind::Gaussian { scale: 0.5, scale_kind: ScaleKind::PerChannel };

impl Sizes {
    fn attention(&self) -> EncoderConfig {
        EncoderConfig::TimeAttention(TimeAttentionConfig {
            hidden: self.width,
            embedding: self.width,
            reference_points: self.points,
            stretched: true,
            local_heads: 0,
        })
    }

    fn decoder(&self) -> DecoderConfig {
        DecoderConfig::Mlp(MlpConfig { hidden: vec![self.width], ..MlpConfig::default() })
    }
}
