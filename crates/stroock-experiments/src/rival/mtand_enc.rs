//! mTAND-Enc (Shukla and Marlin 2021): attention and a recurrent unit at the observation times, a prediction from each state.
//!
//! Activity, as in the published script: 512 units, batches of 256 windows, Adam at 1e-3, one head, a linear classifier,
//! cross entropy alone; its 1 000 epochs are 60 here, with the recipe of short runs. Its head has 11 outputs for 7 classes;
//! ours has 7. Its times are divided by each split's own largest; ours by the length of a window.
//! The angle of the pendulum, as in the paper's re-run: 32 features of every frame instead of values, a head 32 tanh - 2 on
//! the unit circle. Not published and ours: 32 units, the paper's batches, a rate for short runs, the squared error alone.

use stroock::model::{LatentSdeConfig, MtandEncConfig, TimeViewsSizes};
use stroock::objective::ElboWeights;
use stroock::training::TrainingConfig;

use super::{Entry, RATE, frame_features, on_one_axis, short};
use crate::protocol::{Experiment, Options, Protocol};

pub(super) fn entry(experiment: Experiment, options: Options) -> Option<Entry> {
    let (hidden, batch_size, rate) = match experiment {
        Experiment::Activity => (512, 256, 1e-3),
        Experiment::PendulumAngle => (32, 64, RATE),
        _ => return None,
    };
    let paper = experiment.paper(options);
    let LatentSdeConfig { observation, encoder, task, .. } = paper.model.as_latent_sde()?.clone();
    let frames = frame_features(&encoder);
    let encoder = TimeViewsSizes { hidden, ..TimeViewsSizes::default() };
    let model = MtandEncConfig { observation, frames, encoder, task: task? }.into();
    let batcher = on_one_axis(paper.batcher);
    let weights = ElboWeights::task_alone();
    let training = short(TrainingConfig { batch_size, rate, weights, ..paper.training });
    Some(Entry { system: "mTAND-Enc", protocol: Protocol { model, batcher, training, ..paper } })
}
