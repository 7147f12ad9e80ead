//! What a run of an experiment depends on.

use serde::{Deserialize, Serialize};
use stroock::latent::LatentConfig;

use crate::protocol::{Experiment, Options, Protocol};

/// Which settings a run starts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// The published settings, with whatever they let a model know of the test data.
    Paper,
    /// The published settings on clean splits: scaling by the training series alone, recordings kept together.
    #[default]
    Clean,
    /// As clean, on the two-dimensional sphere, for pictures.
    Globe,
}

impl Preset {
    /// The name in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Paper => "paper",
            Preset::Clean => "clean",
            Preset::Globe => "globe",
        }
    }
}

/// Everything that a run depends on but the raw data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Which experiment.
    pub experiment: Experiment,
    /// Which settings it started from.
    pub preset: Preset,
    /// Seed of generated data and of splits; that of weights, batches and paths is `protocol.training.seed`.
    pub data_seed: u64,
    /// At most so many series of each part; 0 takes all of them.
    pub limit: usize,
    /// What the experiment can vary.
    pub options: Options,
    /// Model, batches, training, metric.
    pub protocol: Protocol,
}

impl RunConfig {
    /// The settings of a preset.
    pub fn new(experiment: Experiment, preset: Preset, options: Options) -> Self {
        let mut protocol = experiment.paper(options);
        if preset == Preset::Globe {
            protocol.model.latent = LatentConfig { dim: 3, ..protocol.model.latent };
        }
        Self { experiment, preset, data_seed: 1, limit: 0, options, protocol }
    }

    /// A short name for files and tables: experiment and what was varied.
    pub fn name(&self) -> String {
        let minutes = self.options.resolution.minutes();
        match self.experiment {
            Experiment::Physionet => format!("physionet-{minutes}min-{}", self.options.observed),
            other => other.name().to_owned(),
        }
    }
}
