//! One irregularly sampled sine on the two-dimensional sphere.

use stroock::batch::{Batcher, GridKind, InputChoice, TargetChoice, TimeAxis};
use stroock::decoder::MlpConfig;
use stroock::encoder::{KnotEncoderConfig, KnotPositions};
use stroock::latent::{KnotPrior, LatentConfig, SteeredConfig};
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{DecoderConfig, EncoderConfig, KnotLatentConfig, LatentSdeConfig};
use stroock::objective::ElboWeights;
use stroock::series::Observation;
use stroock::training::{Schedule, TrainingConfig};

use super::{Metric, Over, Protocol, recipe, with_knots};

/// Points of the grid.
pub const POINTS: usize = 101;

/// The same sphere with paths that are steered, for pictures: a prior that can go around, less noise than published, and
/// a grid on which paths look as they are.
pub fn following() -> Protocol {
    let mut protocol = protocol();
    let encoder = KnotEncoderConfig {
        hidden: 32,
        width: 32,
        positions: KnotPositions { observed: true, even: 21, end: 1.0 },
        ..KnotEncoderConfig::default()
    };
    let prior = KnotPrior::Attractor;
    let latent = SteeredConfig { dim: 3, sigma: 0.5, prior, ..SteeredConfig::default() };
    if let Some(model) = protocol.model.as_latent_sde_mut() {
        model.likelihood = LikelihoodKind::Gaussian { scale: 0.1, scale_kind: ScaleKind::Fixed };
    }
    protocol.model = with_knots(protocol.model, encoder, KnotLatentConfig::Steered(latent));
    protocol.batcher.grid = GridKind::Regular { points: 2 * POINTS - 1 };
    protocol.training = recipe(6000, 0.99, protocol.training);
    protocol.training.weights.kl_path = 0.1;
    protocol
}

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
