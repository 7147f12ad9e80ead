//! PhysioNet 2012: intensive care, interpolation of values at times that were not given.

use serde::{Deserialize, Serialize};
use stroock::batch::{Batcher, GridKind, InputChoice, TargetChoice, TimeAxis};
use stroock::decoder::MlpConfig;
use stroock::encoder::{KnotEncoderConfig, KnotPositions, TimeAttentionConfig};
use stroock::latent::{LatentConfig, MarginalConfig};
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{DecoderConfig, EncoderConfig, KnotLatentConfig, LatentSdeConfig};
use stroock::objective::ElboWeights;
use stroock::series::Observation;
use stroock::training::TrainingConfig;

use super::{Metric, Options, Over, Protocol, recipe, with_knots};

/// The step that times are rounded to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resolution {
    /// 0.1 h, 481 grid points.
    #[default]
    SixMinutes,
    /// 0.016 h, 3 001 grid points: what the published settings call a minute.
    OneMinute,
}

impl Resolution {
    /// The step in hours.
    pub fn hours(self) -> f64 {
        match self {
            Resolution::SixMinutes => 0.1,
            Resolution::OneMinute => 0.016,
        }
    }

    /// The step in minutes, as the experiment is named by it.
    pub fn minutes(self) -> u32 {
        match self {
            Resolution::SixMinutes => 6,
            Resolution::OneMinute => 1,
        }
    }

    /// Grid points over 48 h.
    pub fn points(self) -> usize {
        match self {
            Resolution::SixMinutes => 481,
            Resolution::OneMinute => 3001,
        }
    }
}

/// Variables of a stay.
pub const VARIABLES: usize = 41;
/// Hours of a stay.
pub const HOURS: f64 = 48.0;

/// Marginals in closed form, with knots at the observed times and every two hours. Sizes and rate were chosen on a tenth
/// of the stays that was taken from those for training (`options.validation = 0.1`).
pub fn best(options: Options) -> Protocol {
    let mut protocol = paper(options);
    let encoder = KnotEncoderConfig {
        hidden: 128,
        width: 128,
        positions: KnotPositions { observed: true, even: 25, end: 1.0 },
        ..KnotEncoderConfig::default()
    };
    let latent = KnotLatentConfig::Marginal(MarginalConfig { dim: 32, ..MarginalConfig::default() });
    protocol.model = with_knots(protocol.model, encoder, latent);
    let training = TrainingConfig { batch_size: 32, rate: 2e-3, ..protocol.training };
    protocol.training = recipe(60, 0.995, training);
    protocol
}

pub fn paper(options: Options) -> Protocol {
    let axis = TimeAxis { start: 0.0, end: HOURS, horizon: 1.0 };
    let input = match options.observed {
        all if all >= 1.0 => InputChoice::All,
        probability => InputChoice::Random { probability, always: 0 },
    };
    Protocol {
        model: LatentSdeConfig {
            observation: Observation::Vector { channels: VARIABLES },
            encoder: EncoderConfig::TimeAttention(TimeAttentionConfig {
                hidden: 64,
                ..TimeAttentionConfig::default()
            }),
            latent: LatentConfig::default(),
            decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![100], ..MlpConfig::default() }),
            likelihood: LikelihoodKind::Gaussian { scale: 0.01, scale_kind: ScaleKind::Fixed },
            task: None,
        }
        .into(),
        batcher: Batcher {
            input_axis: axis,
            grid_axis: axis,
            grid: GridKind::Regular { points: options.resolution.points() },
            input,
            targets: TargetChoice::All,
        },
        training_input: None,
        training: TrainingConfig {
            epochs: 990,
            batch_size: 64,
            // The published divergence lacks the factor 1/2.
            weights: ElboWeights { kl_start: 1e-4, kl_path: 2e-4, ..ElboWeights::default() },
            ..TrainingConfig::default()
        },
        metric: Metric::SquaredError { over: Over::Unseen },
    }
}
