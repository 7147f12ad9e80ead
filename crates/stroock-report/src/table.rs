//! Tables of scores.

use crate::ReportError;
use crate::error::length;

/// A table of words and numbers.
///
/// Columns in which every entry is a number are set flush right, the others flush left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What the table shows.
    pub caption: String,
    /// Names of the columns; the first one names the rows.
    pub header: Vec<String>,
    /// The rows, each with as many cells as the header.
    pub rows: Vec<Row>,
    /// A remark below the table, such as what the columns mean.
    pub note: String,
}

/// A row of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The cells, as they are to be read.
    pub cells: Vec<String>,
    /// Places of the cells that are emphasised as the best ones of the row.
    pub best: Vec<usize>,
}

impl From<Vec<String>> for Row {
    /// A row without emphasis.
    fn from(cells: Vec<String>) -> Self {
        Row { cells, best: Vec::new() }
    }
}

impl Table {
    pub(crate) fn check(&self, field: &str) -> Result<(), ReportError> {
        for (index, row) in self.rows.iter().enumerate() {
            let (cells, header) = (format!("{field}.rows[{index}].cells"), format!("{field}.header"));
            length(cells, row.cells.len(), header, self.header.len())?;
        }
        Ok(())
    }

    /// Whether all cells of a column are numbers, or say that there is none.
    pub(crate) fn is_numeric(&self, column: usize) -> bool {
        let cells = self.rows.iter().filter_map(|row| row.cells.get(column));
        let mut words = cells.map(|cell| cell.trim()).filter(|cell| !matches!(*cell, "" | "-" | "–" | "—"));
        words.all(|cell| {
            let digits = cell.trim_start_matches(['+', '-', '−', '±', '<', '>', '≤', '≥', '~', '.', ' ']);
            digits.starts_with(|sign: char| sign.is_ascii_digit()) || matches!(cell, "NaN" | "inf" | "-inf")
        })
    }
}
