//! mTAND-SDE and CNN-SDE: the latent SDE in `R^n` of Li et al. (2020) with the encoders of the paper.
//!
//! The paper publishes its running times alone, and that it is of comparable size. Ours: 32 units in each of two hidden
//! layers of both drifts and for every coordinate of the diffusion, and the representation of a series as its context at
//! all times.

use stroock::model::{LatentSdeConfig, NeuralSdeConfig, SdeConfig};

use super::{Entry, by_encoder, in_the_place_of_the_papers};
use crate::protocol::{Experiment, Options};

pub(super) fn entry(experiment: Experiment, options: Options) -> Option<Entry> {
    let protocol = in_the_place_of_the_papers(experiment, options, |paper| {
        let LatentSdeConfig { observation, encoder, decoder, likelihood, task, .. } = paper;
        NeuralSdeConfig { observation, encoder, latent: SdeConfig::default(), decoder, likelihood, task }
            .into()
    })?;
    Some(Entry { system: by_encoder(experiment, "CNN-SDE", "mTAND-SDE"), protocol })
}
