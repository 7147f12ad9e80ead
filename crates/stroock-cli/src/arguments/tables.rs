//! How tables are named, read and written.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use stroock::series::table::{DateFormat, Duplicates, ReadOptions, Room, RoomError};

/// Which files are read, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading tables")]
pub struct TableArguments {
    /// Column that identifies the series [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,
    /// Column of times, or the columns of the parts of a date, as in year,month,day,hour [default: guessed]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub time: Vec<String>,
    /// Long form: column of variable names [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    pub variable: Option<String>,
    /// Long form: column of values [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    pub value: Option<String>,
    /// Variables to read [default: all numeric columns, or all variables of the long form]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub variables: Vec<String>,
    /// Variables that are constant within a series
    #[arg(long = "static", value_name = "NAMES", value_delimiter = ',')]
    pub statics: Vec<String>,
    /// Columns to ignore
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Time zone of dates without one, such as Europe/Vienna [default: UTC]
    #[arg(long, value_name = "ZONE")]
    pub time_zone: Option<String>,
    /// How dates are written [default: found out where there is no doubt]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub date_format: Option<DateFormatName>,
    /// Text or number that marks a missing value, besides an empty cell, NA, NaN, null and the like; may be repeated
    #[arg(long, value_name = "TEXTS", value_delimiter = ',', allow_hyphen_values = true)]
    pub missing: Vec<String>,
    /// Field delimiter of CSV files [default: guessed]
    #[arg(long, value_name = "SIGN", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// Sign before the decimals of numbers in CSV files, `,` or `.` [default: found out where there is no doubt]
    #[arg(long, value_name = "SIGN", value_parser = decimal)]
    pub decimal: Option<u8>,
    /// How to treat two values of a variable at the same time
    #[arg(long, value_enum, default_value_t = DuplicatesName::Error)]
    pub duplicates: DuplicatesName,
    /// Skip rows that cannot be parsed, and report how many
    #[arg(long)]
    pub skip_bad_rows: bool,
    /// Memory that may be taken, such as 2GB; tables that need more are read into a temporary file beside the output
    /// [default: half of the memory of the machine]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory: Option<u64>,
}

fn memory(text: &str) -> Result<u64, RoomError> {
    Room::parse(text)
}

/// What to do with two values of one variable at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DuplicatesName {
    /// Report an error
    Error,
    /// Use their mean
    Mean,
    /// Use the last one
    Last,
}

/// How dates are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DateFormatName {
    /// Year first: 2024-01-31 14:05
    Ymd,
    /// Day first: 31.01.2024 or 31/1/2024
    Dmy,
    /// Month first: 01/31/2024
    Mdy,
    /// Without separators: 20240131
    Yyyymmdd,
    /// Months: 2024-01, 202401 or Jan 2024
    Month,
    /// Quarters: 2024Q1
    Quarter,
    /// Years: 2024
    Year,
}

impl From<DateFormatName> for DateFormat {
    fn from(name: DateFormatName) -> Self {
        match name {
            DateFormatName::Ymd => DateFormat::Ymd,
            DateFormatName::Dmy => DateFormat::Dmy,
            DateFormatName::Mdy => DateFormat::Mdy,
            DateFormatName::Yyyymmdd => DateFormat::Yyyymmdd,
            DateFormatName::Month => DateFormat::Month,
            DateFormatName::Quarter => DateFormat::Quarter,
            DateFormatName::Year => DateFormat::Year,
        }
    }
}

impl TableArguments {
    /// How much memory may be taken; temporary files are beside the given path, or where the system has them.
    pub fn room(&self, output: Option<&Path>) -> Room {
        let usual = Room::default();
        let beside = output.and_then(Path::parent).filter(|folder| folder.is_dir());
        // The folder of a plain name is this one.
        let here = output.filter(|path| path.parent() == Some(Path::new(""))).map(|_| Path::new("."));
        Room {
            memory: self.memory.unwrap_or(usual.memory),
            scratch: beside.or(here).map_or(usual.scratch, Path::to_path_buf),
        }
    }

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
            date_format: self.date_format.map(DateFormat::from),
            missing: defaults.missing.iter().chain(&self.missing).cloned().collect(),
            delimiter: self.delimiter,
            decimal: self.decimal,
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
    /// Output file: .csv, .csv.gz or .parquet [default: CSV on standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub overwrite: bool,
    /// Print one JSON object per row to standard output
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
}

impl OutputArguments {
    /// Whether the output tells numbers from texts.
    pub fn has_types(&self) -> bool {
        let is_parquet =
            |path: &PathBuf| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"));
        self.json || self.output.as_ref().is_some_and(is_parquet)
    }
}

/// How much of a predictive distribution is wanted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Intervals")]
pub struct IntervalArguments {
    /// Quantile levels
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', default_values_t = [0.05, 0.5, 0.95])]
    pub quantiles: Vec<f64>,
    /// Number of draws to write, each as a column
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub samples: usize,
    /// Posterior draws that means and quantiles are computed from
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = at_least_one)]
    pub draws: usize,
    /// Random seed of the draws
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl IntervalArguments {
    /// The options of a prediction.
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

fn decimal(text: &str) -> Result<u8, String> {
    match text {
        "," | "comma" => Ok(b','),
        "." | "point" => Ok(b'.'),
        _ => Err("decimals stand after `,` or `.`".into()),
    }
}

/// A number of things of which there must be some.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1 is needed".into()),
        Ok(count) => Ok(count),
        Err(error) => Err(format!("{error}")),
    }
}
