//! What is asked about one's own data.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use stroock::estimator::{Goal, ModelKind, SampleSource};

use super::SettingsArguments;
use super::tables::{IntervalArguments, OutputArguments, TableArguments, at_least_one};

#[derive(Debug, Args)]
pub struct DescribeArguments {
    /// CSV (optionally gzipped) or Parquet files, folders of these, or patterns such as 'parts/*.parquet'; `-` reads standard input
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
    /// Column of class labels
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<String>,
    #[command(flatten)]
    pub table: TableArguments,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct FitArguments {
    /// CSV (optionally gzipped) or Parquet files, folders of these, or patterns such as 'parts/*.parquet'; `-` reads standard input
    #[arg(required_unless_present = "resume")]
    pub data: Vec<PathBuf>,
    /// Folder for the run; it must not contain a run already, unless --resume is given
    #[arg(long)]
    pub out: PathBuf,
    /// What the model is fitted for
    #[arg(long, value_enum, default_value_t = GoalName::Impute)]
    pub task: GoalName,
    /// Column of class labels, one per time point or one per series
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<String>,
    /// Which model [default: the latent SDE on the sphere that suits the data]
    #[arg(long, value_name = "NAME", value_parser = models())]
    pub model: Option<ModelKind>,
    /// Variables that are known ahead of time, such as prices or holidays, for forecasts to use; `forecast` reads their
    /// future values from rows of its table
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub known: Vec<String>,
    /// Length of the windows that long series are cut into, such as 48, 2d or 6h; `none` keeps them whole
    /// [default: chosen from the data]
    #[arg(long, value_name = "LENGTH")]
    pub window: Option<String>,
    /// Learn the logarithms of these variables, which have no negative values; predictions stay in their own units
    #[arg(long, value_name = "VARIABLES", value_delimiter = ',')]
    pub log: Vec<String>,
    /// Passes over the training series [default: chosen from the data]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub epochs: Option<u64>,
    /// Random seed [default: 1]
    #[arg(long)]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub settings: SettingsArguments,
    #[command(flatten)]
    pub table: TableArguments,
    /// Resume the run in the folder
    #[arg(long, conflicts_with_all = ["data", "model", "seed", "window", "known", "log"])]
    pub resume: bool,
    /// Print the results as JSON
    #[arg(long)]
    pub json: bool,
}

/// The models by their names.
fn models() -> impl TypedValueParser<Value = ModelKind> {
    let names = PossibleValuesParser::new(ModelKind::ALL.map(ModelKind::name));
    names.try_map(|name| ModelKind::named(&name).ok_or_else(|| format!("`{name}` is no model for tables")))
}

/// What a model is fitted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GoalName {
    /// Fill gaps
    Impute,
    /// Predict future values
    Forecast,
    /// Predict the classes in the --target column
    Classify,
}

impl From<GoalName> for Goal {
    fn from(name: GoalName) -> Self {
        match name {
            GoalName::Impute => Goal::Impute,
            GoalName::Forecast => Goal::Forecast,
            GoalName::Classify => Goal::Classify,
        }
    }
}

/// A model and the tables it is asked about.
#[derive(Debug, Args)]
pub struct SubjectArguments {
    /// Model file, or folder of a run
    pub model: PathBuf,
    /// CSV (optionally gzipped) or Parquet files, folders of these, or patterns such as 'parts/*.parquet'; `-` reads standard input
    #[arg(required = true)]
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub table: TableArguments,
}

#[derive(Debug, Args)]
pub struct ImputeArguments {
    #[command(flatten)]
    pub subject: SubjectArguments,
    /// Predict every series and variable at these times, instead of filling the gaps
    #[arg(long, value_name = "TIMES", value_delimiter = ',', conflicts_with = "wide")]
    pub at: Vec<String>,
    /// Write the whole table, with every column and row of the files, and gaps filled by predictive means
    #[arg(long)]
    pub wide: bool,
    #[command(flatten)]
    pub intervals: IntervalArguments,
    #[command(flatten)]
    pub output: OutputArguments,
}

#[derive(Debug, Args)]
pub struct ForecastArguments {
    #[command(flatten)]
    pub subject: SubjectArguments,
    /// How far to forecast after the end of every series: a number of steps such as 24, or a length of time such as 7d
    #[arg(
        long = "for",
        value_name = "STEPS|LENGTH",
        required_unless_present = "until",
        conflicts_with = "until"
    )]
    pub ahead: Option<String>,
    /// Last time to forecast, written as in the table
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Step between the times, such as 1, 15min or 6h [default: the usual step of the data; months are months]
    #[arg(long, value_name = "LENGTH")]
    pub every: Option<String>,
    #[command(flatten)]
    pub intervals: IntervalArguments,
    #[command(flatten)]
    pub output: OutputArguments,
}

#[derive(Debug, Args)]
pub struct ClassifyArguments {
    #[command(flatten)]
    pub subject: SubjectArguments,
    /// Posterior draws that class probabilities are averaged over
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = at_least_one)]
    pub draws: usize,
    /// Random seed of the draws
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub output: OutputArguments,
}

#[derive(Debug, Args)]
pub struct SampleArguments {
    /// Model file, or folder of a run
    pub model: PathBuf,
    /// Series to sample posterior paths for; without any, new series are sampled, each over the span of the training
    /// series, or of one window of long ones
    pub data: Vec<PathBuf>,
    /// Number of new series, or of posterior paths per given series
    #[arg(long, default_value_t = 10, value_parser = at_least_one)]
    pub count: usize,
    /// What new series are sampled from
    #[arg(long, value_enum, default_value_t = SourceName::Posterior, conflicts_with = "data")]
    pub from: SourceName,
    /// Step between the times, such as 1, 15min or 6h [default: the median step of the training data]
    #[arg(long, value_name = "LENGTH")]
    pub every: Option<String>,
    /// Random seed of the draws
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub table: TableArguments,
    #[command(flatten)]
    pub output: OutputArguments,
}

/// What new series are sampled from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SourceName {
    /// What the model has made of all training series together: series that look like them
    Posterior,
    /// The prior of the latent process
    Prior,
}

impl From<SourceName> for SampleSource {
    fn from(name: SourceName) -> Self {
        match name {
            SourceName::Posterior => SampleSource::Posterior,
            SourceName::Prior => SampleSource::Prior,
        }
    }
}

#[derive(Debug, Args)]
pub struct EvaluateArguments {
    /// Model file, or folder of a run
    pub model: PathBuf,
    /// Tables to test on, as for `fit` [default: the test series of the run]
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub table: TableArguments,
    #[command(flatten)]
    pub held: HeldArguments,
    /// Compare sampled series with the test series, too: scale, profile over time, autocorrelation, a two-sample test
    #[arg(
        long,
        value_name = "FROM",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "posterior"
    )]
    pub samples: Option<SourceName>,
    /// Write a record of the run, its data and its scores as JSON to this file
    #[arg(long)]
    pub record: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What is held out.
#[derive(Debug, Args)]
pub struct HeldArguments {
    /// What is held out: values one by one, runs of times of each variable, or the last part of every series
    #[arg(long, value_enum, default_value_t = HoldOutName::Blocks)]
    pub hold_out: HoldOutName,
    /// Share of the values that is held out
    #[arg(long, default_value_t = 0.2, value_parser = proper_share)]
    pub share: f64,
    /// Times to forecast from, where the last part is held out; methods are chosen anew at each
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub origins: usize,
    /// Consecutive observations in a held-out block
    #[arg(long, default_value_t = 6, value_parser = at_least_one)]
    pub block: usize,
    /// Posterior draws that means and intervals are computed from
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one)]
    pub draws: usize,
    /// Random seed of the hold-out and of the draws
    #[arg(long = "hold-out-seed", default_value_t = 1)]
    pub seed: u64,
}

/// What is held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HoldOutName {
    /// Values one by one
    Random,
    /// Runs of times of each variable
    Blocks,
    /// The last part of every series
    Tail,
}

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Folder of a run
    pub run: PathBuf,
    /// Data to report on [default: the test series of the run]
    pub data: Vec<PathBuf>,
    /// Number of series to show
    #[arg(long, default_value_t = 8)]
    pub series: usize,
    /// File to write [default: report.html in the folder of the run]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub table: TableArguments,
    /// Print what was written as JSON
    #[arg(long)]
    pub json: bool,
}

fn proper_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("a share lies between 0 and 1".to_owned()),
    }
}
