//! Human activity: a class at every time point.

use stroock::batch::{Batcher, GridKind, InputChoice, TargetChoice, TimeAxis};
use stroock::decoder::MlpConfig;
use stroock::encoder::{KnotEncoderConfig, KnotPositions, TimeAttentionConfig};
use stroock::latent::{DriftKind, LatentConfig};
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{DecoderConfig, EncoderConfig, KnotLatentConfig, LatentSdeConfig};
use stroock::objective::ElboWeights;
use stroock::series::Observation;
use stroock::task::{TaskConfig, TaskKind};
use stroock::training::{AdamConfig, TrainingConfig};

use super::{Metric, Protocol, recipe, with_knots};

/// Coordinates of four tags.
pub const CHANNELS: usize = 12;
/// Activities.
pub const CLASSES: usize = 7;
/// Points of the grid, 10 ms each.
pub const POINTS: usize = 228;

/// Steered paths with knots at the observed times, of which some are left out at random in training: the windows are few.
pub fn best() -> Protocol {
    let mut protocol = paper();
    let encoder = KnotEncoderConfig {
        hidden: 128,
        width: 128,
        positions: KnotPositions { observed: true, even: 15, end: 1.0 },
        ..KnotEncoderConfig::default()
    };
    protocol.model = with_knots(protocol.model, encoder, KnotLatentConfig::default());
    protocol.training_input = Some(InputChoice::Random { probability: 0.6, always: 0 });
    let adam = AdamConfig { weight_decay: 0.1, ..protocol.training.adam };
    protocol.training = recipe(200, 0.995, TrainingConfig { batch_size: 32, adam, ..protocol.training });
    protocol.training.weights.task_ramp = 0;
    protocol
}

pub fn paper() -> Protocol {
    let last = (POINTS - 1) as f64;
    Protocol {
        model: LatentSdeConfig {
            observation: Observation::Vector { channels: CHANNELS },
            encoder: EncoderConfig::TimeAttention(TimeAttentionConfig {
                hidden: 128,
                stretched: true,
                ..TimeAttentionConfig::default()
            }),
            latent: LatentConfig {
                drift: DriftKind::Chebyshev { terms: 4, interval: (0.0, 1.98) },
                ..LatentConfig::default()
            },
            decoder: DecoderConfig::Mlp(MlpConfig::default()),
            likelihood: LikelihoodKind::Gaussian { scale: 1.0, scale_kind: ScaleKind::Learned },
            task: Some(TaskConfig {
                output: TaskKind::ClassPerTime { classes: CLASSES },
                network: MlpConfig::default(),
            }),
        }
        .into(),
        batcher: Batcher {
            input_axis: TimeAxis { start: 0.0, end: POINTS as f64, horizon: 1.0 },
            grid_axis: TimeAxis { start: 0.0, end: last, horizon: 0.99 },
            grid: GridKind::Regular { points: POINTS },
            input: InputChoice::All,
            targets: TargetChoice::All,
        },
        training_input: None,
        training: TrainingConfig {
            epochs: 990,
            batch_size: 64,
            // The published divergence lacks the factor 1/2.
            weights: ElboWeights {
                kl_start: 1e-4,
                kl_path: 2e-4,
                task: 10.0,
                task_ramp: 60,
                ..ElboWeights::default()
            },
            ..TrainingConfig::default()
        },
        metric: Metric::Accuracy,
    }
}
