//! One irregularly sampled sine on the two-dimensional sphere.

use stroock::batch::{Batcher, GridKind, InputChoice, TargetChoice, TimeAxis};
use stroock::decoder::MlpConfig;
use stroock::latent::LatentConfig;
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{DecoderConfig, EncoderConfig, LatentSdeConfig};
use stroock::objective::ElboWeights;
use stroock::series::Observation;
use stroock::training::{Schedule, TrainingConfig};

use super::{Metric, Over, Protocol};

/// Points of the grid.
pub const POINTS: usize = 101;

pub fn protocol() -> Protocol {
    let axis = TimeAxis { start: 0.0, end: 1.0, horizon: 1.0 };
    Protocol {
        model: LatentSdeConfig {
            observation: Observation::Vector { channels: 1 },
            encoder: EncoderConfig::LearnedEmbedding { width: 3 },
            latent: LatentConfig { dim: 3, ..LatentConfig::default() },
            decoder: DecoderConfig::Mlp(MlpConfig::default()),
            likelihood: LikelihoodKind::Gaussian { scale: 0.05f64.sqrt(), scale_kind: ScaleKind::Fixed },
            task: None,
        }
        .into(),
        batcher: Batcher {
            input_axis: axis,
            grid_axis: axis,
            grid: GridKind::Regular { points: POINTS },
            input: InputChoice::All,
            targets: TargetChoice::All,
        },
        training_input: None,
        training: TrainingConfig {
            // One series is one step an epoch.
            epochs: 3990,
            batch_size: 1,
            rate: 1e-3,
            schedule: Schedule::CyclicCosine { period: 60 },
            samples: 10,
            // An epoch takes less than a millisecond, and a save many of them.
            save_every: 100,
            weights: ElboWeights { kl_start: 1e-3, kl_path: 2e-2, ..ElboWeights::default() },
            ..TrainingConfig::default()
        },
        metric: Metric::SquaredError { over: Over::All },
    }
}
