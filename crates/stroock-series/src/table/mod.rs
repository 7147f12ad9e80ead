//! Tables of time series: CSV and Parquet, long and wide.

mod align;
mod columns;
mod date;
mod describe;
mod error;
mod fault;
mod memory;
mod options;
mod read;
mod room;
mod step;
mod stored;
mod time;
mod window;
mod write;

use serde::{Deserialize, Serialize};

use crate::Dataset;

pub use align::Align;
pub use columns::{Columns, Form, LabelColumn};
pub use date::{CalendarStep, DateFormat};
pub use describe::{Finding, LabelBalance, Overview, Spread, Summary, VariableOverview};
pub use error::TableError;
pub use fault::{Fault, Place};
pub use options::{Duplicates, Expectation, ReadOptions};
pub use read::Cells;
pub use room::{Room, RoomError};
pub use step::Step;
pub use stored::{AnyTable, StoredTable};
pub use time::TimeScale;
pub use window::{Sampling, Suggestion};
pub use write::{Column, DataFrame, FrameFile, WriteError};

/// A channel of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableVariable {
    /// Its name in the table.
    pub name: String,
    /// Whether it has one value for a whole series; it is then observed at the first time of the series only.
    #[serde(default)]
    pub is_static: bool,
}

/// Series that were read from tables: in memory, or in a file ([`StoredTable`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Table<D = Dataset<f64>> {
    /// The series in the order of their first rows; their times count from their origins.
    pub data: D,
    /// For each series what is to be added to its times to have the times of the user.
    pub origins: Vec<f64>,
    /// The channels.
    pub variables: Vec<TableVariable>,
    /// Names of the classes of the label column, sorted; empty without one.
    pub classes: Vec<String>,
    /// How times are written.
    pub time: TimeScale,
    /// Which column is what.
    pub columns: Columns,
    /// What became of the rows.
    pub account: Account,
}

/// What became of the rows of a table: `rows = skipped + used`, and nothing is lost without being counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Files that were read.
    pub files: usize,
    /// Rows without the header.
    pub rows: u64,
    /// Rows that were left out because they could not be understood.
    pub skipped: u64,
    /// The first of them, each with its place and its fault.
    pub faults: Vec<String>,
    /// Values that are present in rows that were used.
    pub values: u64,
    /// Values that were merged with others of the same series, variable and time, or gave way to them.
    pub merged: u64,
}
