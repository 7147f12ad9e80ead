//! What a run of an experiment depends on.

use serde::{Deserialize, Serialize};

use crate::protocol::{Experiment, Options, Protocol, rotating_mnist, sine};
use crate::rival::Rival;

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
    /// As globe, with the model that follows the observations.
    Following,
    /// As clean, the published model with settings of our own.
    Tuned,
    /// As clean, with a model and settings of our own: the best that we have.
    Best,
}

impl Preset {
    /// The name in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Paper => "paper",
            Preset::Clean => "clean",
            Preset::Globe => "globe",
            Preset::Following => "following",
            Preset::Tuned => "tuned",
            Preset::Best => "best",
        }
    }

    /// The presets of an experiment.
    pub fn of(experiment: Experiment) -> &'static [Self] {
        match experiment {
            Experiment::RotatingMnist => &[Self::Paper, Self::Clean, Self::Globe, Self::Tuned, Self::Best],
            Experiment::Sine => &[Self::Paper, Self::Clean, Self::Globe, Self::Following],
            _ => &[Self::Paper, Self::Clean, Self::Globe, Self::Best],
        }
    }

    /// The presets that say something about the data alone: those of rivals, whose models are their own.
    pub fn of_rivals() -> &'static [Self] {
        &[Self::Paper, Self::Clean]
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
    /// Which system of the tables it is, where it is not the paper's or ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Rival>,
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
    /// The settings of a preset; those of a preset that the experiment does not have ([`Preset::of`]) are `clean`.
    pub fn new(experiment: Experiment, preset: Preset, mut options: Options) -> Self {
        let mut protocol = experiment.paper(options);
        match (preset, experiment) {
            (Preset::Globe, _) => {
                if let Some(model) = protocol.model.as_latent_sde_mut() {
                    model.latent.dim = 3;
                }
            }
            (Preset::Following, Experiment::Sine) => protocol = sine::following(),
            (Preset::Tuned, Experiment::RotatingMnist) => {
                options.variants = Some(rotating_mnist::VARIANTS);
                protocol = rotating_mnist::tuned();
            }
            (Preset::Best, _) => {
                match experiment {
                    Experiment::RotatingMnist => options.variants = Some(rotating_mnist::VARIANTS),
                    Experiment::PendulumAngle => options.mirrored = true,
                    Experiment::PendulumImages => options.redrawn = true,
                    _ => {}
                }
                protocol = experiment.best(options);
            }
            _ => {}
        }
        Self { experiment, preset, model: None, data_seed: 1, limit: 0, options, protocol }
    }

    /// The settings of a rival on the data of a preset; `None` where it has none for the experiment, or the preset is
    /// more than a choice of data ([`Preset::of_rivals`]).
    pub fn of_rival(rival: Rival, experiment: Experiment, preset: Preset, options: Options) -> Option<Self> {
        if !Preset::of_rivals().contains(&preset) {
            return None;
        }
        let options = rival.options(options);
        let protocol = rival.entry(experiment, options)?.protocol;
        Some(Self { model: Some(rival), protocol, ..Self::new(experiment, preset, options) })
    }

    /// The name of the system in the tables of the paper, where it is not the paper's or ours.
    pub fn system(&self) -> Option<&'static str> {
        Some(self.model?.entry(self.experiment, self.options)?.system)
    }

    /// A short name for folders: [`Self::name`], and which system.
    pub fn folder_name(&self) -> String {
        match self.model {
            Some(rival) => format!("{}-{}", self.name(), rival.name()),
            None => self.name(),
        }
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
