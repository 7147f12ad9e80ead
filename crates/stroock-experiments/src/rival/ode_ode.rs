//! ODE-ODE: the latent ordinary differential equation of Rubanova, Chen and Duvenaud (2019), whose encoder moves by one, too.
//!
//! Activity, as in the code of the authors: 15 dimensions, an encoder of 100, five hidden layers in its equation and three in
//! that of the states with 500 units each, gates of 50 units, a linear classifier, the cross entropy alone, three samples,
//! batches of 50. What was run on the pendulum is not published; there, sizes are those of the authors for PhysioNet, the
//! frames go through the convolutions of the paper's encoder and decoder, the angle has its squared error alone, and images
//! have the importance-weighted bound of every series with noise of 0.01 and, in the place of a weight that grows from 0, a
//! constant weight of the divergence: the one that the published growth has reached after 60 epochs.
//!
//! Not as there: every series steps over its own points, and not over the times of its whole batch; paths of the states are
//! Euler's, on the grid of the experiment or, for activity, from point to point with steps of a fiftieth at most, and not
//! adaptive; Adam in the place of Adamax; the rate of 1e-2 falls to 0 along one cosine over 60 epochs, and not by 0.999 a
//! step to 1e-3, with clipped gradients and averaged weights; windows are not drawn with replacement, and validation chooses
//! the tested epoch. For activity the rate is 7e-4: under Adam the loss of these networks of 500 units grows again from
//! epoch 5 on at 1e-2, and from epoch 12 on at 2e-3.

use stroock::batch::{Batcher, GridKind};
use stroock::decoder::MlpConfig;
use stroock::encoder::{FrameEncoderConfig, FrameFeaturesConfig, OdeRnnConfig};
use stroock::model::{DecoderConfig, EncoderConfig, LatentSdeConfig, OdeConfig, OdeOdeConfig};
use stroock::objective::ElboWeights;
use stroock::task::TaskConfig;
use stroock::training::TrainingConfig;

use super::{EPOCHS, Entry};
use crate::protocol::{Experiment, Options, Protocol, recipe};

/// `1 - 0.99^50`.
const DIVERGENCE: f64 = 0.395;

pub(super) fn entry(experiment: Experiment, options: Options) -> Option<Entry> {
    let paper = experiment.paper(options);
    let LatentSdeConfig { observation, encoder, decoder, task, .. } = paper.model.as_latent_sde()?.clone();
    let model = match (experiment, encoder) {
        (Experiment::Activity, _) => OdeOdeConfig {
            encoder: OdeRnnConfig { frames: None, state: 100, hidden: vec![500; 5], gates: 50 },
            latent: OdeConfig { dim: 15, hidden: vec![500; 3] },
            task: task.map(|task| TaskConfig { network: MlpConfig::default(), ..task }),
            ..OdeOdeConfig::new(observation, DecoderConfig::Mlp(MlpConfig::default()))
        },
        (
            Experiment::PendulumAngle | Experiment::PendulumImages,
            EncoderConfig::Frames(FrameEncoderConfig { network, features, .. }),
        ) => OdeOdeConfig {
            encoder: OdeRnnConfig {
                frames: Some(FrameFeaturesConfig { network, features }),
                ..OdeRnnConfig::default()
            },
            task,
            ..OdeOdeConfig::new(observation, decoder)
        },
        _ => return None,
    };
    let likelihood = if model.task.is_some() { 0.0 } else { 1.0 };
    let weights = ElboWeights { kl_start: DIVERGENCE, likelihood, ..ElboWeights::default() };
    let (rate, grid) = match experiment {
        Experiment::Activity => (7e-4, GridKind::Observations { largest_step: 0.02 }),
        _ => (1e-2, paper.batcher.grid),
    };
    let published = TrainingConfig { batch_size: 50, rate, samples: 3, weights, ..paper.training };
    let training = recipe(EPOCHS, 0.995, published);
    let batcher = Batcher { grid, ..paper.batcher };
    Some(Entry { system: "ODE-ODE", protocol: Protocol { model: model.into(), batcher, training, ..paper } })
}
