//! What can be wrong with a table, in the words of its owner. Options are called by the fields of [`ReadOptions`](super::ReadOptions).

use std::io;

use thiserror::Error;

use super::fault::{Fault, Place, quoted};
use crate::SeriesError;

/// Why a table could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// A row cannot be used.
    #[error("{place}, {fault}; {}", .fault.advice())]
    Row {
        /// Where.
        place: Box<Place>,
        /// Why.
        fault: Box<Fault>,
    },
    /// The operating system refused.
    #[error("cannot read `{file}`: {source}")]
    Io {
        /// Name of the file.
        file: String,
        /// Its reason.
        source: io::Error,
    },
    /// A Parquet file is damaged, or has something in it that is not known here.
    #[error("cannot read `{file}` as Parquet: {message}")]
    Parquet {
        /// Name of the file.
        file: String,
        /// The reason.
        message: String,
    },
    /// Nothing to read.
    #[error("no file to read; name at least one, or `-` for the standard input")]
    NoFiles,
    /// A folder has no table, or nothing matches a pattern.
    #[error(
        "`{place}`: no table there; a folder is read for files whose names end in .csv, .tsv, .txt (also with .gz), \
         .parquet or .pq"
    )]
    NoTables {
        /// The folder or the pattern.
        place: String,
    },
    /// A file is empty, or has no row under its header.
    #[error("{} no rows; a table needs a header and at least one row", has(.files))]
    NoRows {
        /// Names of the files.
        files: Vec<String>,
    },
    /// Every row was left out.
    #[error("none of the {rows} rows can be used; the first fault: {first}")]
    NoGoodRows {
        /// Rows.
        rows: u64,
        /// The first fault.
        first: String,
    },
    /// The first line is not a header.
    #[error(
        "`{file}`: the first line ({line}) has numbers only; give the table a header with the names of its columns"
    )]
    NoHeader {
        /// Name of the file.
        file: String,
        /// The line.
        line: String,
    },
    /// There are more columns than any table of series has.
    #[error(
        "`{file}` has {columns} columns, more than the {most} that are read; is its first line a header, and its \
         delimiter the right one? A table of so many variables is better written in the long form"
    )]
    TooManyColumns {
        /// Name of the file.
        file: String,
        /// Its columns.
        columns: usize,
        /// Most columns.
        most: usize,
    },
    /// A Parquet file announces more rows than its size can be of.
    #[error(
        "`{file}` has {bytes} bytes and announces {rows} rows of {columns} columns, far more than tables of that size \
         have; if that is right, set the environment variable {variable} to the number of bytes that it may expand to \
         (at least {expanded})"
    )]
    TooManyRows {
        /// Name of the file.
        file: String,
        /// Its size.
        bytes: u64,
        /// Its rows.
        rows: u64,
        /// Its columns.
        columns: usize,
        /// Bytes of so many numbers.
        expanded: u64,
        /// Environment variable that allows more.
        variable: &'static str,
    },
    /// Two columns have one name.
    #[error("`{file}`: two columns have the name `{column}`; rename one of them")]
    TwoColumns {
        /// Name of the file.
        file: String,
        /// The name.
        column: String,
    },
    /// A name was given that is not a column, or a variable of a long table.
    #[error("`{option}`: there is no column{} `{name}`{}; there are {}", or_variable(.long), suggestion(.nearest), quoted(.known))]
    UnknownName {
        /// The field of [`ReadOptions`](super::ReadOptions) that has it.
        option: &'static str,
        /// The name.
        name: String,
        /// The most similar one that exists.
        nearest: Option<String>,
        /// Those that exist.
        known: Vec<String>,
        /// Whether names of variables were allowed, too.
        long: bool,
    },
    /// One column was given two roles.
    #[error("column `{column}` cannot be both `{first}` and `{second}`")]
    TwoRoles {
        /// The column.
        column: String,
        /// The one role.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// Only one of the two columns of a long table was given or found.
    #[error("a long table needs both `variable` and `value`, but no column for `{missing}` was found among {}", quoted(.known))]
    HalfLong {
        /// The role without a column.
        missing: &'static str,
        /// Columns.
        known: Vec<String>,
    },
    /// No column looks like times.
    #[error("no column looks like times{}; there are {}", unlike(.unreadable), quoted(.known))]
    NoTime {
        /// A column that is named like times, and what is written there.
        unreadable: Option<(String, String)>,
        /// Columns.
        known: Vec<String>,
    },
    /// Several time columns that do not make a date.
    #[error("`time` {}: several columns must be the parts of a date (year, month, day, hour, minute, second) from the year down, or a date and a time of day", .columns.join(","))]
    TimeParts {
        /// The columns.
        columns: Vec<String>,
    },
    /// Whether the day or the month comes first in dates cannot be seen.
    #[error(
        "column `{column}`: in dates such as `{value}`, the first number may be the day or the month, and the others do not settle it; say which"
    )]
    DateOrder {
        /// The column.
        column: String,
        /// One of its dates.
        value: String,
    },
    /// No column is left for the values.
    #[error("no column has numbers to read as values{}", because(.ignored))]
    NoVariables {
        /// Columns that were left out, each with the reason.
        ignored: Vec<(String, String)>,
    },
    /// A table has none of the variables of a model.
    #[error("the table has none of the variables of the model ({}); it has {}", quoted(.expected), quoted(.known))]
    NoExpected {
        /// Variables of the model.
        expected: Vec<String>,
        /// Columns or variables of the table.
        known: Vec<String>,
    },
    /// Times are numbers for the model and dates in the table, or the other way round.
    #[error("the model has times as {expected}, but the table has {found} in {}", quoted(.columns))]
    TimeKind {
        /// What the model has.
        expected: &'static str,
        /// What the table has.
        found: &'static str,
        /// Time columns of the table.
        columns: Vec<String>,
    },
    /// A time zone does not exist.
    #[error(
        "there is no time zone `{name}`; write a name such as Europe/Vienna, UTC, or an offset such as +01:00"
    )]
    TimeZone {
        /// The name.
        name: String,
    },
    /// Files have different columns.
    #[error("`{file}` {} the column `{column}`, but `{first}` {}; files that are read together need the same columns", if *.lacks { "lacks" } else { "has" }, if *.lacks { "has it" } else { "has not" })]
    Columns {
        /// The file that differs.
        file: String,
        /// The first file.
        first: String,
        /// The column.
        column: String,
        /// Whether the file lacks it, and does not have it in addition.
        lacks: bool,
    },
    /// Two values of a variable at one time of a series.
    #[error("{place}: series `{series}` has a second `{variable}` at time {time} (the first is in {first})")]
    Duplicate {
        /// The later row.
        place: Box<Place>,
        /// The earlier row.
        first: Box<Place>,
        /// Name of the series.
        series: String,
        /// Name of the variable, or of the label column.
        variable: String,
        /// The time as the user writes it.
        time: String,
        /// Whether the table has a column of names of series.
        has_id: bool,
    },
    /// The values would not fit into memory.
    #[error(
        "{times} times with {variables} variables each are more values than fit into memory; choose fewer"
    )]
    TooLarge {
        /// Times of all series.
        times: u64,
        /// Variables.
        variables: usize,
        /// Whether the table is in the long form.
        long: bool,
    },
    /// The cells of a table take more memory than they may.
    #[error(
        "the cells of the table take more than {} MB, and all of them have to be in memory to be written as they were",
        .bytes >> 20
    )]
    ManyCells {
        /// Bytes that they may take.
        bytes: u64,
    },
    /// Columns in memory have different lengths.
    #[error("column `{column}` has {actual} entries, but there are {expected} ids")]
    ColumnLength {
        /// Name of the column.
        column: String,
        /// Number of ids.
        expected: usize,
        /// Its length.
        actual: usize,
    },
    /// The series do not make a data set.
    #[error(transparent)]
    Series(#[from] SeriesError),
}

impl TableError {
    /// An error of the operating system about `file`.
    pub(super) fn io(file: &str) -> impl FnOnce(io::Error) -> TableError + '_ {
        move |source| TableError::Io { file: file.to_owned(), source }
    }
}

fn has(files: &[String]) -> String {
    format!("{} {}", quoted(files), if files.len() == 1 { "has" } else { "have" })
}

fn or_variable(long: &bool) -> &'static str {
    if *long { " or variable" } else { "" }
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

fn unlike(unreadable: &Option<(String, String)>) -> String {
    unreadable.as_ref().map_or_else(String::new, |(column, value)| {
        format!(" (in `{column}`, `{value}` is neither a number nor a date such as 2024-01-31 14:05)")
    })
}

fn because(ignored: &[(String, String)]) -> String {
    match ignored.first() {
        None => String::new(),
        Some((column, reason)) => format!(" (`{column}`: {reason})"),
    }
}
