//! How tables are named, read and written.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stroock::series::table::{Duplicates, ReadOptions};

/// Which files are read, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading tables")]
pub struct TableArguments {
    /// Column of the names of the series [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,
    /// Column of times; or the columns of the parts of a date, as in year,month,day,hour [default: guessed]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub time: Vec<String>,
    /// Long form: column of the names of variables [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    pub variable: Option<String>,
    /// Long form: column of values [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    pub value: Option<String>,
    /// Variables to read [default: all columns of numbers, or all variables of the long form]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub variables: Vec<String>,
    /// Variables with one value for a whole series
    #[arg(long = "static", value_name = "NAMES", value_delimiter = ',')]
    pub statics: Vec<String>,
    /// Columns to leave out
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Zone of dates without one, as in Europe/Vienna [default: UTC]
    #[arg(long, value_name = "ZONE")]
    pub time_zone: Option<String>,
    /// What stands for a missing value, beside an empty cell [default: NA, NaN, null and the like]
    #[arg(long, value_name = "TEXTS", value_delimiter = ',')]
    pub missing: Vec<String>,
    /// Sign between the fields of a CSV file [default: guessed]
    #[arg(long, value_name = "SIGN", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// What to do with two values of one variable at one time
    #[arg(long, value_enum, default_value_t = DuplicatesName::Error)]
    pub duplicates: DuplicatesName,
    /// Leave out rows that cannot be understood, and count them
    #[arg(long)]
    pub skip_bad_rows: bool,
}

/// What to do with two values of one variable at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DuplicatesName {
    /// Refuse the table
    Error,
    /// Take their mean
    Mean,
    /// Take the last one
    Last,
}

impl TableArguments {
    /// The options of the reader.
    pub fn options(&self) -> ReadOptions {
        let defaults = ReadOptions::default();
        ReadOptions {
            id: self.id.clone(),
            time: self.time.clone(),
            variable: self.variable.clone(),
            value: self.value.clone(),
            variables: self.variables.clone(),
            statics: self.statics.clone(),
            ignore: self.ignore.clone(),
            time_zone: self.time_zone.clone(),
            missing: if self.missing.is_empty() { defaults.missing.clone() } else { self.missing.clone() },
            delimiter: self.delimiter,
            duplicates: match self.duplicates {
                DuplicatesName::Error => Duplicates::Error,
                DuplicatesName::Mean => Duplicates::Mean,
                DuplicatesName::Last => Duplicates::Last,
            },
            skip_bad_rows: self.skip_bad_rows,
            ..defaults
        }
    }
}

/// Where predictions go.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArguments {
    /// File to write: .csv, .csv.gz or .parquet; CSV on standard output if not given
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long)]
    pub overwrite: bool,
    /// One JSON object per row, on standard output
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
}

/// How much of a predictive distribution is wanted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Intervals")]
pub struct ProcessArguments {
    /// Levels of quantiles
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', default_values_t = [0.05, 0.5, 0.95])]
    pub quantiles: Vec<f64>,
    /// Draws to give out, each a column
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub samples: usize,
    /// Draws that means and quantiles are taken over
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub draws: usize,
    /// Seed of the draws
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl ProcessArguments {
    /// As a options to a model.
    pub fn options(&self) -> stroock::estimator::PredictOptions {
        stroock::estimator::PredictOptions {
            quantiles: self.quantiles.clone(),
            draws: self.draws.max(self.samples),
            samples: self.samples,
            seed: self.seed,
        }
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        _ => match text.as_bytes() {
            [byte] => Ok(*byte),
            _ => Err("a delimiter is one sign, or `tab`".into()),
        },
    }
}
