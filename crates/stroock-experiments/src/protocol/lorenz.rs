//! The stochastic Lorenz attractor: paths of the posterior and of the prior.

use stroock::batch::{Batcher, GridKind, InputChoice, TargetChoice, TimeAxis};
use stroock::decoder::MlpConfig;
use stroock::encoder::{KnotEncoderConfig, KnotPositions, TimeAttentionConfig};
use stroock::latent::LatentConfig;
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{DecoderConfig, EncoderConfig, KnotLatentConfig, LatentSdeConfig};
use stroock::objective::ElboWeights;
use stroock::series::Observation;
use stroock::training::TrainingConfig;

use super::{Metric, Over, Protocol, recipe, with_knots};

/// Observations of a series, every 0.025.
pub const POINTS: usize = 41;

/// Steered paths with knots at the observed times.
pub fn best() -> Protocol {
    let mut protocol = protocol();
    let encoder = KnotEncoderConfig {
        positions: KnotPositions { observed: true, even: POINTS, end: 1.0 },
        ..KnotEncoderConfig::default()
    };
    protocol.model = with_knots(protocol.model, encoder, KnotLatentConfig::default());
    protocol.training = recipe(300, 0.99, protocol.training);
    protocol
}

/// Our settings: the paper gives a figure and no numbers.
pub fn protocol() -> Protocol {
    let axis = TimeAxis { start: 0.0, end: 1.0, horizon: 1.0 };
    Protocol {
        model: LatentSdeConfig {
            observation: Observation::Vector { channels: 3 },
            encoder: EncoderConfig::TimeAttention(TimeAttentionConfig {
                hidden: 64,
                ..TimeAttentionConfig::default()
            }),
            latent: LatentConfig::default(),
            decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![64], ..MlpConfig::default() }),
            likelihood: LikelihoodKind::Gaussian { scale: 0.1, scale_kind: ScaleKind::Learned },
            task: None,
        }
        .into(),
        batcher: Batcher {
            input_axis: axis,
            grid_axis: axis,
            // Four steps between two observations.
            grid: GridKind::Regular { points: (POINTS - 1) * 4 + 1 },
            input: InputChoice::All,
            targets: TargetChoice::All,
        },
        training_input: None,
        training: TrainingConfig {
            epochs: 990,
            batch_size: 64,
            weights: ElboWeights { kl_start: 1e-2, kl_path: 1e-2, ..ElboWeights::default() },
            ..TrainingConfig::default()
        },
        metric: Metric::SquaredError { over: Over::All },
    }
}
