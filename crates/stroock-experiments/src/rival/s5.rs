//! S5 (Smith, Warrington and Linderman 2023) on the angle of the pendulum, as in its published script.
//!
//! Convolutions of a frame to 30 features with ReLU, a linear map, four layers of width 30 with 8 complex states, a gap before
//! every step in recorded steps; heads 30 tanh - 2 for means and variances, not on the unit circle, and their normal
//! likelihood. Batches of 32, a warm-up of one epoch and a cosine to zero, AdamW without decay at 1.2e-2, and a quarter of
//! that for eigenvalues, steps and input matrices. Its 100 epochs are 60 here, with the recipe of short runs, which also clips
//! gradients and averages weights. Linear maps begin as ours do, and normal weights are not truncated.

use stroock::decoder::{Activation, MlpConfig};
use stroock::encoder::FrameFeaturesConfig;
use stroock::model::{LatentSdeConfig, S5Config, S5Sizes};
use stroock::objective::ElboWeights;
use stroock::task::{TaskConfig, TaskKind};
use stroock::training::TrainingConfig;

use super::{Entry, frame_features, on_one_axis, short};
use crate::protocol::{Experiment, Options, Protocol};

/// Width of features, layers and heads.
const WIDTH: usize = 30;

pub(super) fn entry(experiment: Experiment, options: Options) -> Option<Entry> {
    if experiment != Experiment::PendulumAngle {
        return None;
    }
    let paper = experiment.paper(options);
    let LatentSdeConfig { observation, encoder, .. } = paper.model.as_latent_sde()?.clone();
    let frames = frame_features(&encoder)?;
    let batcher = on_one_axis(paper.batcher);
    let axis = batcher.grid_axis;
    // Times are counted in recorded steps.
    let unit = axis.to_model(axis.start + 1.0);
    let network = MlpConfig { hidden: vec![WIDTH], activation: Activation::Tanh };
    let model = S5Config {
        observation,
        frames: Some(FrameFeaturesConfig { features: WIDTH, ..frames }),
        encoder: S5Sizes { width: WIDTH, unit, ..S5Sizes::default() },
        task: TaskConfig { output: TaskKind::RealPerTime { width: 2 }, network },
    };
    let weights = ElboWeights::task_alone();
    let training = short(TrainingConfig { batch_size: 32, rate: 1.2e-2, weights, ..paper.training });
    let protocol = Protocol { model: model.into(), batcher, training, ..paper };
    Some(Entry { system: "S5", protocol })
}
