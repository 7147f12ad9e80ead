//! mTAND-Full (Shukla and Marlin 2021): a variational autoencoder between reference points in time.
//!
//! PhysioNet, as in the published script: 64 reference points with 16 latent numbers, 64 units in the encoder and 50 in the
//! decoder, 5 samples in the importance-weighted bound, a fixed standard deviation of 0.01, batches of 32 stays, Adam at
//! 1e-3, no divergence in the first epochs and then a weight of `1 - 0.99^(epoch - 10)`. Its 500 epochs are 60 here, with the
//! recipe of short runs. It draws `floor(p n)` input times of a stay, ours are drawn with probability `p` each. Its released
//! evaluation counts inputs, too; ours, like the numbers of the paper, does not.
//!
//! Activity: the loss is the cross entropy alone, of a classifier with two layers of 300 units on the decoder's states at the
//! observation times (the released script matches latents with labels by their index, which cannot have given the published
//! number). Not published and ours: 128 reference points, the sizes of PhysioNet, one sample, the paper's batches.
//!
//! Images of the pendulum: no settings are published. Ours: features of frames, decoder of images and likelihood of the
//! paper's model, the sizes of PhysioNet, one sample, the paper's batches.

use stroock::decoder::{Activation, MlpConfig};
use stroock::model::{DecoderConfig, LatentSdeConfig, MtandFullConfig, ReferenceSizes};
use stroock::objective::ElboWeights;
use stroock::task::TaskConfig;
use stroock::training::TrainingConfig;

use super::{Entry, frame_features, on_one_axis, short};
use crate::protocol::{Experiment, Options, Protocol};

/// Hidden units between states and observations.
const DECODER: usize = 50;
/// Hidden units of the classifier, in each of two layers.
const CLASSIFIER: usize = 300;

pub(super) fn entry(experiment: Experiment, options: Options) -> Option<Entry> {
    let paper = experiment.paper(options);
    let published = paper.model.as_latent_sde()?.clone();
    let LatentSdeConfig { observation, encoder, decoder, likelihood, task, .. } = published;
    let mlp = DecoderConfig::Mlp(MlpConfig { hidden: vec![DECODER], ..MlpConfig::default() });
    let growing = ElboWeights { kl_wait: 10, kl_memory: 0.99, ..ElboWeights::default() };
    let sizes = ReferenceSizes::default();
    let training = paper.training;
    let (latent, decoder, task, training) = match experiment {
        Experiment::Physionet => {
            let training = TrainingConfig { batch_size: 32, samples: 5, weights: growing, ..training };
            (sizes, mlp, None, training)
        }
        Experiment::Activity => {
            let network = MlpConfig { hidden: vec![CLASSIFIER; 2], activation: Activation::Relu };
            let training = TrainingConfig { weights: ElboWeights::task_alone(), ..training };
            let latent = ReferenceSizes { reference_points: 128, ..sizes };
            (latent, mlp, task.map(|task| TaskConfig { network, ..task }), training)
        }
        Experiment::PendulumImages => (sizes, decoder, None, TrainingConfig { weights: growing, ..training }),
        _ => return None,
    };
    let frames = frame_features(&encoder);
    let model = MtandFullConfig { observation, frames, latent, decoder, likelihood, task }.into();
    let batcher = on_one_axis(paper.batcher);
    let protocol = Protocol { model, batcher, training: short(training), ..paper };
    Some(Entry { system: "mTAND-Full", protocol })
}
