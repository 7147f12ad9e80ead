//! What can be asked of the command.

mod bench;
mod growth;
mod practice;
mod tables;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use serde::Serialize;
use serde::de::DeserializeOwned;
use stroock::estimator::{FitConfig, RunConfig};
use stroock::run::resolve_over;
use stroock_experiments::protocol::{Experiment, Options, Resolution};
use stroock_experiments::reproduce::Preset;
use stroock_experiments::rival::Rival;

use crate::failure::Failure;
use crate::output::print;

pub use bench::{Bench, DrawArguments, EncoderArguments, PathArguments, ProcessesArguments, StepArguments};
pub use growth::GrowthArguments;
pub use practice::{
    ClassifyArguments, DescribeArguments, EvaluateArguments, FitArguments, ForecastArguments, GoalName,
    HeldArguments, HoldOutName, ImputeArguments, ReportArguments, SampleArguments, SourceName,
};
pub use tables::{OutputArguments, TableArguments};

/// Latent SDEs on homogeneous spaces, for irregularly sampled time series.
#[derive(Debug, Parser)]
#[command(name = "stroock", version = env!("STROOCK_VERSION"), arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train a model on generated data and plot its fits with prediction intervals (about two minutes)
    #[command(after_help = "Example:\n  stroock demo --out demo-run")]
    Demo(DemoArguments),
    /// Summarise tables of series: columns, lengths, gaps, ranges, anomalies and suggested settings
    #[command(after_help = "Examples:\n  stroock describe sensors.csv\n  \
        zcat sensors.csv.gz | stroock describe - --id sensor --time hour --json")]
    Describe(DescribeArguments),
    /// Fit a model to your own series
    #[command(after_help = "Examples:\n  stroock fit sensors.csv --out run\n  \
        stroock fit sensors.csv --task classify --target state --out state-run")]
    Fit(FitArguments),
    /// Fill gaps, or predict at any times, with prediction intervals
    #[command(after_help = "Examples:\n  stroock impute run sensors.csv --output filled.csv\n  \
        stroock impute run sensors.csv --at 1.5,2.5 --quantiles 0.1,0.9")]
    Impute(ImputeArguments),
    /// Forecast beyond the last time of every series, with prediction intervals
    #[command(after_help = "Examples:\n  stroock forecast run sensors.csv --for 24\n  \
        stroock forecast run sensors.csv --until 60 --output ahead.csv")]
    Forecast(ForecastArguments),
    /// Predict the class of every series, or of every time point
    #[command(after_help = "Example:\n  stroock classify state-run sensors.csv --output classes.csv")]
    Classify(ClassifyArguments),
    /// Sample new series, or posterior paths of given ones
    #[command(after_help = "Examples:\n  stroock sample run --count 20 --output samples.csv\n  \
        stroock sample run sensors.csv --count 5")]
    Sample(SampleArguments),
    /// Hold out values and score their predictions and prediction intervals
    #[command(after_help = "Examples:\n  stroock evaluate run\n  \
        stroock evaluate run sensors.csv --hold-out blocks --json\n  \
        stroock evaluate run --hold-out tail --origins 3\n  \
        stroock evaluate run --samples")]
    Evaluate(EvaluateArguments),
    /// Write an HTML report on a fitted model: fits, calibration, latent paths and configuration
    #[command(after_help = "Example:\n  stroock report run")]
    Report(ReportArguments),
    /// Train and test a model on an experiment of the paper
    #[command(after_help = "Examples:\n  stroock reproduce sine --epochs 200 --out sine-run\n  \
        stroock reproduce physionet --observed 0.5 --minutes 6 --epochs 60 --out physionet-run\n  \
        stroock reproduce pendulum-angle --model latent-ode --out ode-run\n  \
        stroock reproduce all --out runs/all\n  \
        stroock reproduce --table runs")]
    Reproduce(ReproduceArguments),
    /// List, download and check the public data sets
    #[command(subcommand)]
    Data(Data),
    /// Measure the speed of the kernels and of training on this machine
    #[command(subcommand)]
    Bench(Bench),
    /// Print shell completions
    #[command(after_help = "Example:\n  stroock completions bash > stroock.bash")]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Folder for the run; it must not contain a run already, unless --resume is given
    #[arg(long, default_value = "stroock-demo")]
    pub out: PathBuf,
    /// Passes over the training series [default: 120]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub epochs: Option<u64>,
    /// Random seed [default: 1]
    #[arg(long, conflicts_with = "resume")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub settings: SettingsArguments,
    /// Resume the run in the folder
    #[arg(long)]
    pub resume: bool,
    /// Print the results as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ReproduceArguments {
    /// Which experiment, or all runs of a plan
    #[arg(value_parser = experiments_or_all(), required_unless_present = "table")]
    pub experiment: Option<Which>,
    /// With `all`: TOML file of the runs [default: every system of the paper's tables]
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Folder for the run, or for the runs of several seeds; it must not contain one already, unless --resume is given
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Settings to start from
    #[arg(long, value_enum, default_value_t = PresetName::Clean)]
    pub preset: PresetName,
    /// Another system of the paper's tables in the place of its model, on the data of the preset paper or clean
    #[arg(long, value_name = "NAME", value_parser = rivals())]
    pub model: Option<Rival>,
    /// Passes over the training series [default: as published, 60 with --model]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub epochs: Option<u64>,
    /// Random seed of weights, batches and paths [default: 1]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Range of seeds, both ends included, each with a folder of its own: 1..10
    #[arg(long, value_parser = seeds, conflicts_with = "seed")]
    pub seeds: Option<Seeds>,
    /// PhysioNet: share of time points shown to the encoder
    #[arg(long, default_value_t = 0.5, value_parser = share)]
    pub observed: f64,
    /// PhysioNet: resolution of times in minutes
    #[arg(long, value_enum, default_value_t = Minutes::Six)]
    pub minutes: Minutes,
    /// Use at most this many series for each of training, validation and testing
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub limit: usize,
    #[command(flatten)]
    pub settings: SettingsArguments,
    /// Folder of the public data sets
    #[arg(long, env = "STROOCK_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// Resume stopped runs; finished runs are only tested again
    #[arg(long)]
    pub resume: bool,
    /// Only write RESULTS.md, from all runs below this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "experiment")]
    pub table: Option<PathBuf>,
    /// Print one JSON object per run
    #[arg(long)]
    pub json: bool,
}

/// Settings by their keys in the run's config.toml: defaults, then a file, then single settings.
#[derive(Debug, Args)]
pub struct SettingsArguments {
    /// TOML file of settings, with keys as in config.toml
    #[arg(long)]
    pub config: Option<PathBuf>,
    /// A setting, with a key as in config.toml; setting a `kind` changes that part, as in model.latent.drift.kind=constant
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
}

impl SettingsArguments {
    /// A configuration with these settings over it.
    pub fn over<C: Serialize + DeserializeOwned>(&self, config: &C) -> Result<C, Failure> {
        let text = match &self.config {
            Some(path) => Some(
                std::fs::read_to_string(path)
                    .map_err(|error| Failure::from(format!("cannot read `{}`: {error}", path.display())))?,
            ),
            None => None,
        };
        let file = self.config.as_deref().zip(text.as_deref());
        Ok(resolve_over(config, file, &self.set)?)
    }
}

/// One of the two layers of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Those of the file.
    File,
    /// Single ones.
    Single,
}

impl SettingsArguments {
    /// The settings of a fit with one layer over them. Keys may be those of a run's config.toml, where they are below
    /// `fit`, or those of the fit alone; what a config.toml says about data and command is about another run.
    pub fn over_run(&self, config: &RunConfig, layer: Layer) -> Result<FitConfig, Failure> {
        let settings = match layer {
            Layer::File => SettingsArguments { config: self.config.clone(), set: Vec::new() },
            Layer::Single => {
                let plain = |(key, value): &(String, String)| {
                    (key.strip_prefix("fit.").unwrap_or(key).to_owned(), value.clone())
                };
                SettingsArguments { config: None, set: self.set.iter().map(plain).collect() }
            }
        };
        let text = settings.config.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        let of_fit =
            |line: &str| line.starts_with("[fit]") || line.starts_with("[fit.") || line.starts_with("fit.");
        match text.is_some_and(|text| text.lines().any(|line| of_fit(line.trim_start()))) {
            true => Ok(settings.over(config)?.fit),
            false => settings.over(&config.fit),
        }
    }
}

/// First and last seed.
#[derive(Clone, Copy, Debug)]
pub struct Seeds(pub u64, pub u64);

fn seeds(text: &str) -> Result<Seeds, String> {
    let wrong = || format!("`{text}` is no range of seeds; write the first and the last one, as in 1..10");
    let (first, last) = text.split_once("..").ok_or_else(wrong)?;
    match (first.parse(), last.trim_start_matches('=').parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok(Seeds(first, last)),
        _ => Err(wrong()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("a share lies above 0 and up to 1".to_owned()),
    }
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is not KEY=VALUE"))?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// The presets, as they are named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PresetName {
    /// As published, with whatever that lets the model know of the test data
    Paper,
    /// As published, on clean splits
    Clean,
    /// As clean, on the two-dimensional sphere
    Globe,
    /// As globe, with the model that follows the observations (sine)
    Following,
    /// As clean, the published model with better settings of our own (rotating-mnist: more digits made of those for training)
    Tuned,
    /// As clean, with a model and settings of our own: the best that we have
    Best,
}

impl From<PresetName> for Preset {
    fn from(name: PresetName) -> Self {
        match name {
            PresetName::Paper => Preset::Paper,
            PresetName::Clean => Preset::Clean,
            PresetName::Globe => Preset::Globe,
            PresetName::Following => Preset::Following,
            PresetName::Tuned => Preset::Tuned,
            PresetName::Best => Preset::Best,
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Data {
    /// List the data sets and whether they have been downloaded
    #[command(after_help = "Example:\n  stroock data list")]
    List {
        #[command(flatten)]
        folder: DataFolderArguments,
    },
    /// Download a data set from its publishers, resuming partial downloads
    #[cfg(feature = "download")]
    #[command(after_help = "Example:\n  stroock data fetch mnist")]
    Fetch {
        /// Name of the data set
        name: String,
        #[command(flatten)]
        folder: DataFolderArguments,
        /// URL of a mirror of the data folder, tried before the publishers
        #[arg(long)]
        mirror: Option<String>,
    },
    /// Write a data set of tables to standard output as one CSV file in long form
    #[command(after_help = "Example:\n  stroock data export physionet2012 > physionet.csv")]
    Export {
        /// Name of the data set
        #[arg(value_parser = ["physionet2012"])]
        name: String,
        /// Folder of the public data sets
        #[arg(long, env = "STROOCK_DATA_DIR")]
        data_dir: Option<PathBuf>,
    },
    /// Read a downloaded data set and report whether it is complete
    #[command(after_help = "Example:\n  stroock data check mnist")]
    Check {
        /// Name of the data set
        name: String,
        #[command(flatten)]
        folder: DataFolderArguments,
    },
}

#[derive(Debug, Args)]
pub struct DataFolderArguments {
    /// Folder of the public data sets
    #[arg(long, env = "STROOCK_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What can be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// An experiment.
    One(Experiment),
    /// All runs of a plan.
    All,
}

/// The experiments by their names.
fn experiments() -> impl TypedValueParser<Value = Experiment> {
    PossibleValuesParser::new(Experiment::ALL.map(Experiment::name)).try_map(|name| experiment(&name))
}

/// The same, or all of them.
fn experiments_or_all() -> impl TypedValueParser<Value = Which> {
    const ALL: &str = "all";
    let names = Experiment::ALL.map(Experiment::name).into_iter().chain([ALL]);
    PossibleValuesParser::new(names).try_map(|name| match name.as_str() {
        ALL => Ok(Which::All),
        name => experiment(name).map(Which::One),
    })
}

fn experiment(name: &str) -> Result<Experiment, String> {
    let found = Experiment::ALL.into_iter().find(|experiment| experiment.name() == name);
    found.ok_or_else(|| format!("`{name}` is no experiment"))
}

/// The rivals by their names.
fn rivals() -> impl TypedValueParser<Value = Rival> {
    let names = PossibleValuesParser::new(Rival::ALL.iter().map(|rival| rival.name()));
    names.try_map(|name| {
        let found = Rival::ALL.iter().copied().find(|rival| rival.name() == name);
        found.ok_or_else(|| format!("`{name}` is no model of the tables"))
    })
}

/// The step that PhysioNet's times are rounded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Minutes {
    #[value(name = "6")]
    Six,
    #[value(name = "1")]
    One,
}

impl Minutes {
    /// The options of an experiment with this resolution.
    pub fn options(self) -> Options {
        let resolution = match self {
            Minutes::Six => Resolution::SixMinutes,
            Minutes::One => Resolution::OneMinute,
        };
        Options { resolution, ..Options::default() }
    }
}

/// Writes the completions of a shell to standard output.
pub fn print_completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    // Into memory first: the generator panics where it cannot write, as into a pipe that nobody reads.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "stroock", &mut script);
    print(String::from_utf8_lossy(&script).trim_end())
}
