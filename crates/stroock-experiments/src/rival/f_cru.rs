//! f-CRU: the continuous recurrent unit with eigenvalues in one orthogonal basis (Schirmer et al. 2022). All but the
//! transition, and the rate on the pendulum, is that of the [CRU](super::cru).

use stroock::model::{CruLatentConfig, FastCruLatentConfig};

use super::Entry;
use super::cru::{System, protocol};
use crate::protocol::{Experiment, Options};

pub(super) fn entry(experiment: Experiment, options: Options) -> Option<Entry> {
    let without_bands = |latent: CruLatentConfig| {
        let CruLatentConfig { half, sets, time_scale, noise, .. } = latent;
        FastCruLatentConfig { half, sets, time_scale, noise }
    };
    let system = System { name: "f-CRU", pendulum_rate: 5e-3 };
    protocol(system, experiment, options, without_bands)
}
