//! Many runs from one file: experiments, models, seeds.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Preset, RunConfig};
use crate::protocol::{Experiment, Options, Resolution};
use crate::rival::Rival;

/// Runs to be done one after the other, or several at a time.
///
/// ```toml
/// at_once = 2
/// threads = 1
///
/// [[runs]]
/// experiments = ["pendulum-angle", "physionet"]
/// models = ["latent-ode", "neural-sde"]
/// seeds = [1, 2]
/// observed = [0.5, 1.0]
/// ```
///
/// is twelve runs: for either model and seed one of the pendulum, and two of PhysioNet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Runs side by side.
    #[serde(default = "one")]
    pub at_once: usize,
    /// Threads of every run; 0 shares out those of the machine.
    #[serde(default)]
    pub threads: usize,
    /// What is run, in this order.
    pub runs: Vec<Entry>,
}

/// Every experiment of a list with every model of a list, wherever the model has settings for the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The experiments.
    pub experiments: Vec<Experiment>,
    /// Systems that the paper compares itself with; without any, it is the model of the preset.
    #[serde(default)]
    pub models: Vec<Rival>,
    /// Settings to start from.
    #[serde(default)]
    pub preset: Preset,
    /// Seeds of weights, batches and paths.
    #[serde(default = "first_seed")]
    pub seeds: Vec<u64>,
    /// Passes over the training series, where they are not those of the preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epochs: Option<u64>,
    /// PhysioNet: shares of time points that the encoder sees.
    #[serde(default = "half")]
    pub observed: Vec<f64>,
    /// PhysioNet: the step that times are rounded to.
    #[serde(default)]
    pub resolution: Resolution,
    /// At most so many series of each part; 0 takes all of them.
    #[serde(default)]
    pub limit: usize,
}

fn one() -> usize {
    1
}

fn first_seed() -> Vec<u64> {
    vec![1]
}

fn half() -> Vec<f64> {
    vec![Options::default().observed]
}

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// There is nothing in it.
    #[error("the plan has no runs: give it a table [[runs]] with experiments")]
    Empty,
    /// A list lacks its entries.
    #[error("entry {entry} of the plan: `{list}` is empty")]
    EmptyList {
        /// Which entry, from 1.
        entry: usize,
        /// Which list.
        list: &'static str,
    },
    /// A number is out of its range.
    #[error("entry {entry} of the plan: `{key}` is {value}; it must be {range}")]
    Range {
        /// Which entry, from 1.
        entry: usize,
        /// Which key.
        key: &'static str,
        /// What it is.
        value: f64,
        /// What it can be.
        range: &'static str,
    },
    /// A model has nothing to do.
    #[error(
        "entry {entry} of the plan: the model `{model}` has settings for none of its experiments, but for {there}"
    )]
    NoExperiment {
        /// Which entry, from 1.
        entry: usize,
        /// Which model.
        model: &'static str,
        /// What it has settings for.
        there: String,
    },
    /// An experiment does not have the preset.
    #[error("entry {entry} of the plan: {experiment} has no preset `{preset}`{with}, but {there}")]
    NoPreset {
        /// Which entry, from 1.
        entry: usize,
        /// Which experiment.
        experiment: &'static str,
        /// Which preset.
        preset: &'static str,
        /// "with another model", where it is one.
        with: &'static str,
        /// Those that it has.
        there: String,
    },
    /// The same run twice.
    #[error("entry {entry} of the plan has the run `{name}`, which an earlier one has already")]
    Twice {
        /// Which entry, from 1.
        entry: usize,
        /// Which run.
        name: String,
    },
}

/// One run of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRun {
    /// Its settings.
    pub config: RunConfig,
    /// Epochs, where the plan has them.
    pub epochs: Option<u64>,
}

impl PlannedRun {
    /// The name of its folder, of which no other run of the plan has the same.
    pub fn name(&self) -> String {
        let (name, preset) = (self.config.folder_name(), self.config.preset.name());
        format!("{name}-{preset}-{}", self.config.protocol.training.seed)
    }
}

impl Plan {
    /// The text of the plan of all systems of the paper's tables.
    pub const TABLES: &str = include_str!("../../plans/tables.toml");

    /// All runs, in their order.
    ///
    /// # Errors
    /// When an entry asks for what is not there, for nothing, or for a run that an earlier one has.
    ///
    /// ```
    /// use std::path::Path;
    /// use stroock_experiments::reproduce::Plan;
    ///
    /// let text = r#"
    ///     [[runs]]
    ///     experiments = ["pendulum-angle", "physionet"]
    ///     models = ["latent-ode", "neural-sde"]
    ///     seeds = [1, 2]
    ///     observed = [0.5, 1.0]
    /// "#;
    /// let plan: Plan = stroock::run::parse(Path::new("plan.toml"), text)?;
    /// let runs = plan.runs()?;
    /// assert_eq!(runs.len(), 12);
    /// assert_eq!(runs[0].name(), "pendulum-angle-latent-ode-clean-1");
    /// assert_eq!(runs[11].name(), "physionet-6min-1-neural-sde-clean-2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn runs(&self) -> Result<Vec<PlannedRun>, PlanError> {
        let mut runs = Vec::new();
        let mut names = BTreeSet::new();
        for (entry, number) in self.runs.iter().zip(1..) {
            for run in entry.runs(number)? {
                let name = run.name();
                if !names.insert(name.clone()) {
                    return Err(PlanError::Twice { entry: number, name });
                }
                runs.push(run);
            }
        }
        if runs.is_empty() { Err(PlanError::Empty) } else { Ok(runs) }
    }
}

impl Entry {
    fn runs(&self, entry: usize) -> Result<Vec<PlannedRun>, PlanError> {
        self.check(entry)?;
        let models: Vec<Option<Rival>> = match self.models.is_empty() {
            true => vec![None],
            false => self.models.iter().copied().map(Some).collect(),
        };
        let mut runs = Vec::new();
        for &experiment in &self.experiments {
            for &model in &models {
                for options in self.options(experiment) {
                    let Some(config) = self.config(experiment, model, options) else { continue };
                    runs.extend(self.seeds.iter().map(|&seed| self.run(config.clone(), seed)));
                }
            }
        }
        Ok(runs)
    }

    fn check(&self, entry: usize) -> Result<(), PlanError> {
        let lists = [
            ("experiments", self.experiments.is_empty()),
            ("seeds", self.seeds.is_empty()),
            ("observed", self.observed.is_empty()),
        ];
        if let Some((list, _)) = lists.into_iter().find(|(_, is_empty)| *is_empty) {
            return Err(PlanError::EmptyList { entry, list });
        }
        let wrong = |share: &&f64| !(**share > 0.0 && **share <= 1.0);
        if let Some(&value) = self.observed.iter().find(wrong) {
            return Err(PlanError::Range {
                entry,
                key: "observed",
                value,
                range: "more than 0, and at most 1",
            });
        }
        if self.epochs == Some(0) {
            return Err(PlanError::Range { entry, key: "epochs", value: 0.0, range: "at least 1" });
        }
        for &experiment in &self.experiments {
            let (presets, with) = match self.models.is_empty() {
                true => (Preset::of(experiment), ""),
                false => (Preset::of_rivals(), " with another model"),
            };
            if !presets.contains(&self.preset) {
                let there: Vec<&str> = presets.iter().map(|preset| preset.name()).collect();
                let (experiment, preset) = (experiment.name(), self.preset.name());
                return Err(PlanError::NoPreset { entry, experiment, preset, with, there: there.join(", ") });
            }
        }
        let is_idle = |rival: &&Rival| !rival.experiments().any(|there| self.experiments.contains(&there));
        match self.models.iter().find(is_idle) {
            Some(rival) => {
                let there: Vec<&str> = rival.experiments().map(Experiment::name).collect();
                Err(PlanError::NoExperiment { entry, model: rival.name(), there: there.join(", ") })
            }
            None => Ok(()),
        }
    }

    /// What is varied in an experiment.
    fn options(&self, experiment: Experiment) -> Vec<Options> {
        if experiment != Experiment::Physionet {
            return vec![Options::default()];
        }
        let resolution = self.resolution;
        self.observed.iter().map(|&observed| Options { resolution, observed, ..Options::default() }).collect()
    }

    fn config(&self, experiment: Experiment, model: Option<Rival>, options: Options) -> Option<RunConfig> {
        match model {
            None => Some(RunConfig::new(experiment, self.preset, options)),
            Some(rival) => RunConfig::of_rival(rival, experiment, self.preset, options),
        }
    }

    fn run(&self, mut config: RunConfig, seed: u64) -> PlannedRun {
        config.limit = self.limit;
        config.protocol.training.seed = seed;
        if let Some(epochs) = self.epochs {
            config.protocol.training.run_for(epochs);
        }
        PlannedRun { config, epochs: self.epochs }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn runs(text: &str) -> Result<Vec<PlannedRun>, PlanError> {
        stroock::run::parse::<Plan>(Path::new("plan.toml"), text).unwrap().runs()
    }

    #[test]
    fn models_are_run_where_they_have_settings() {
        let text = "[[runs]]\nexperiments = ['sine', 'activity']\nmodels = ['latent-ode']\nepochs = 3\n\
                    [[runs]]\nexperiments = ['sine']\nseeds = [4, 5]";
        let runs = runs(text).unwrap();
        let names: Vec<String> = runs.iter().map(PlannedRun::name).collect();
        assert_eq!(names, ["activity-latent-ode-clean-1", "sine-clean-4", "sine-clean-5"]);
        assert_eq!(runs[0].config.protocol.training.epochs, 3);
        assert_eq!((runs[0].epochs, runs[1].epochs), (Some(3), None));
    }

    #[test]
    fn every_row_of_the_tables_is_planned() {
        let planned = runs(Plan::TABLES).unwrap();
        for rival in Rival::ALL {
            assert!(planned.iter().any(|run| run.config.model == Some(*rival)), "{}", rival.name());
        }
        for experiment in Experiment::ALL {
            let is_ours =
                |run: &&PlannedRun| run.config.experiment == experiment && run.config.model.is_none();
            let published = super::super::published::published(&RunConfig::new(
                experiment,
                Preset::Clean,
                Options::default(),
            ));
            assert_eq!(
                planned.iter().any(|run| is_ours(&run)),
                !published.is_empty(),
                "{}",
                experiment.name()
            );
        }
    }

    #[test]
    fn mistakes_are_said_with_their_place() {
        let said = |text: &str| runs(text).unwrap_err().to_string();
        assert!(said("runs = []").contains("no runs"));
        let idle = said("[[runs]]\nexperiments = ['sine']\nmodels = ['latent-ode']");
        assert!(idle.contains("entry 1") && idle.contains("rotating-mnist"), "{idle}");
        let twice = said("[[runs]]\nexperiments = ['sine', 'sine']");
        assert!(twice.contains("`sine-clean-1`"), "{twice}");
        let preset = said("[[runs]]\nexperiments = ['activity']\npreset = 'best'\nmodels = ['latent-ode']");
        assert!(preset.contains("no preset `best` with another model, but paper, clean"), "{preset}");
        assert!(said("[[runs]]\nexperiments = ['physionet']\nobserved = [0.0]").contains("more than 0"));
        assert!(said("[[runs]]\nexperiments = ['sine']\nseeds = []").contains("`seeds` is empty"));
        assert!(said("[[runs]]\nexperiments = ['sine']\nepochs = 0").contains("at least 1"));
    }
}
