//! What can be wrong with a row, and where it is.

use std::fmt;

use thiserror::Error;

/// A row of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the file as it was given; `-` is the standard input.
    pub file: String,
    /// Line as an editor counts (the header is line 1), or row of a Parquet file (the first is 1).
    pub line: u64,
    /// Whether `line` counts the rows of a Parquet file.
    pub is_row: bool,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, {} {}", self.file, if self.is_row { "row" } else { "line" }, self.line)
    }
}

/// Why a row cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The row is ragged.
    #[error("{found} fields, but the header has {expected}")]
    Fields {
        /// Fields of the row.
        found: usize,
        /// Columns of the table.
        expected: usize,
    },
    /// A value is not a number.
    #[error("column `{column}`: `{value}` is not a number")]
    Number {
        /// Column, or variable of a long table.
        column: String,
        /// What is written there.
        value: String,
    },
    /// A number is infinite, or too large for single precision.
    #[error("column `{column}`: `{value}` is not a finite number in single precision")]
    NotFinite {
        /// Column, or variable of a long table.
        column: String,
        /// What is written there.
        value: String,
    },
    /// A time cannot be read.
    #[error("column `{column}`: `{value}` is not {expected}")]
    Time {
        /// Column.
        column: String,
        /// What is written there.
        value: String,
        /// What the times of this table look like.
        expected: &'static str,
    },
    /// A cell that must not be empty is.
    #[error("column `{column}` is empty, but every row needs {expected}")]
    Empty {
        /// Column.
        column: String,
        /// What is missing.
        expected: &'static str,
    },
    /// The bytes of a cell are not text.
    #[error("column `{column}`: `{value}` is not UTF-8 text")]
    NotText {
        /// Column.
        column: String,
        /// The bytes, with a mark in place of what cannot be shown.
        value: String,
    },
    /// Something that belongs to a whole series differs within it.
    #[error("column `{column}`: `{value}`, but line {line} has `{other}` for the same series `{series}`")]
    Differs {
        /// Column.
        column: String,
        /// What is written there.
        value: String,
        /// Line or row of the other value, in the file that is named before or in one read earlier.
        line: u64,
        /// The other value.
        other: String,
        /// Name of the series.
        series: String,
    },
    /// A class that a model does not know.
    #[error("column `{column}`: the class `{value}` is not one of {}", quoted(.known))]
    UnknownClass {
        /// Column.
        column: String,
        /// What is written there.
        value: String,
        /// Classes of the model.
        known: Vec<String>,
    },
}

impl Fault {
    /// What to do about it.
    pub(super) fn advice(&self) -> &'static str {
        match self {
            Fault::Fields { .. } => "give every row the same fields (quote those that contain the delimiter)",
            Fault::Number { .. } => "write a number, or leave the cell empty",
            Fault::NotFinite { .. } => "write a finite number, or leave the cell empty",
            Fault::Time { .. } => "write the time like the others of its column",
            Fault::Empty { .. } => "fill it in",
            Fault::NotText { .. } => "save the file as UTF-8",
            Fault::Differs { .. } => "write one value for the whole series",
            Fault::UnknownClass { .. } => "write a class of the model, or leave the cell empty",
        }
    }
}

/// Names in quotes with commas between them, the first dozen of them.
pub(super) fn quoted(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut list = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        list.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    list
}
