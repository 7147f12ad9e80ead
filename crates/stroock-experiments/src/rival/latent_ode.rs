//! mTAND-ODE and CNN-ODE: the paper's own variants with an ordinary differential equation in the place of its SDE.
//!
//! Encoder, decoder, likelihood, task, optimiser and the weight of the divergence are those of the paper's model. A linear
//! map takes the representation to mean and variances of the start point in `R^16`, a network 16 - 32 - 32 - 16 with ELU
//! moves it, by Euler steps on the grid of the experiment. Not published and ours: that the network does not read the time,
//! and that variances are exponentials.

use stroock::model::{LatentOdeConfig, LatentSdeConfig, OdeConfig};

use super::{Entry, by_encoder, in_the_place_of_the_papers};
use crate::protocol::{Experiment, Options};

pub(super) fn entry(experiment: Experiment, options: Options) -> Option<Entry> {
    let protocol = in_the_place_of_the_papers(experiment, options, |paper| {
        let LatentSdeConfig { observation, encoder, decoder, likelihood, task, .. } = paper;
        LatentOdeConfig { observation, encoder, latent: OdeConfig::default(), decoder, likelihood, task }
            .into()
    })?;
    Some(Entry { system: by_encoder(experiment, "CNN-ODE", "mTAND-ODE"), protocol })
}
