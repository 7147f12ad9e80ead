//! GPPVAE-dis and GPPVAE-joint (Casale et al. 2018), on rotating MNIST.
//!
//! As published: codes of 16 coordinates, a vector of 8 for every digit, shares of the variance that are learned, the
//! autoencoder first, then the process alone or both together, and the task: the digits for testing are those for training,
//! whose eleven kept frames the model has been trained on, and the hidden frame is predicted from these.
//!
//! Nothing else is published about this experiment, nor is its code. Ours: encoder and decoder are the paper's
//! convolutions with its Bernoulli likelihood; the covariance of views is periodic with a learned spectrum of seven harmonics,
//! all that fifteen angles can tell apart, so that it has the covariance of an unseen angle; 60 epochs with one cosine and
//! averaged weights, in batches of 32 digits, where the code of the authors for faces makes one step in each of 10 000 epochs;
//! and vectors of digits that are optimal for what is seen in place of the learned ones, in testing as in validation, whose
//! digits are others (see [`stroock::model::GppVae`]).

use stroock::batch::{Batcher, InputChoice, TargetChoice};
use stroock::likelihood::LikelihoodKind;
use stroock::model::{GaussianProcessConfig, GppVaeConfig, LatentSdeConfig, ProcessTraining};
use stroock::objective::ElboWeights;
use stroock::training::{AdamConfig, TrainingConfig};

use super::{EPOCHS, Entry, on_one_axis};
use crate::protocol::{Experiment, Options, Protocol, recipe, rotating_mnist};
use crate::synthetic::RotatingDigits;

/// Epochs of the autoencoder alone.
const ALONE: u64 = EPOCHS / 3;

/// GPPVAE-dis.
pub(super) mod disjoint {
    use super::*;

    pub(in crate::rival) fn entry(experiment: Experiment, _: Options) -> Option<Entry> {
        let protocol = protocol(experiment, ProcessTraining::Disjoint)?;
        Some(Entry { system: "GPPVAE-dis, transductive", protocol })
    }
}

/// GPPVAE-joint.
pub(super) mod joint {
    use super::*;

    pub(in crate::rival) fn entry(experiment: Experiment, _: Options) -> Option<Entry> {
        let protocol = protocol(experiment, ProcessTraining::Joint)?;
        Some(Entry { system: "GPPVAE-joint, transductive", protocol })
    }
}

fn protocol(experiment: Experiment, then: ProcessTraining) -> Option<Protocol> {
    if experiment != Experiment::RotatingMnist {
        return None;
    }
    let paper = rotating_mnist::paper();
    let LatentSdeConfig { observation, encoder, decoder, .. } = paper.model.as_latent_sde()?.clone();
    let batcher = on_one_axis(paper.batcher);
    let latent = GaussianProcessConfig {
        objects: RotatingDigits::default().sizes.train,
        // The last frame is the first one again.
        period: batcher.grid_axis.horizon,
        harmonics: (rotating_mnist::FRAMES - 1) / 2,
        ..GaussianProcessConfig::default()
    };
    let model = GppVaeConfig {
        observation,
        encoder,
        latent,
        decoder,
        likelihood: LikelihoodKind::Bernoulli,
        alone: ALONE,
        then,
    };
    // The data have lost their random frames already, and withhold what is not to be seen.
    let batcher = Batcher { input: InputChoice::All, targets: TargetChoice::All, ..batcher };
    let published =
        TrainingConfig { weights: ElboWeights::default(), adam: AdamConfig::default(), ..paper.training };
    let mut training = recipe(EPOCHS, 0.995, published);
    // The loss is a sum over frames and pixels, with long gradients.
    training.adam.clip = None;
    Some(Protocol { model: model.into(), batcher, training, ..paper })
}
