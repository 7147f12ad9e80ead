//! What every kind of file gives: a header, and rows of cells one after the other.

use super::cell::Cell;
use crate::table::TableError;

/// The next row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// There is none.
    End,
    /// A row with a cell for each column.
    Row {
        /// Its line, or its number in a Parquet file.
        line: u64,
    },
    /// A row with too few or too many fields.
    Ragged {
        /// Its line.
        line: u64,
        /// Its fields.
        fields: usize,
    },
}

/// Rows that are looked at to find out what the columns are.
pub(super) const AHEAD: usize = 1000;

/// Most columns of a table; the names of columns are compared with each other.
const MOST_COLUMNS: usize = 1 << 16;

/// The rows of a file.
pub(super) trait Rows {
    /// Name of the file.
    fn file(&self) -> &str;

    /// Names of the columns.
    fn header(&self) -> &[String];

    /// Whether places are rows of a Parquet file, not lines.
    fn counts_rows(&self) -> bool;

    /// Goes to the next row.
    fn advance(&mut self) -> Result<Next, TableError>;

    /// Rows at the start, at most [`AHEAD`], that can be read twice.
    fn ahead(&self) -> usize;

    /// Goes back to the start, after no more than these rows.
    fn rewind(&mut self);

    /// A cell of the current row.
    fn cell(&self, column: usize) -> Cell<'_>;

    /// Zone of a column of instants, where the file names one.
    fn zone(&self, column: usize) -> Option<&str>;
}

/// Checks that a header has names, not too many of them, and that they differ.
pub(super) fn check_header(file: &str, header: &[String]) -> Result<(), TableError> {
    if header.len() > MOST_COLUMNS {
        let (file, columns) = (file.to_owned(), header.len());
        return Err(TableError::TooManyColumns { file, columns, most: MOST_COLUMNS });
    }
    let named = || header.iter().filter(|name| !name.is_empty());
    if named().next().is_some() && named().all(|name| name.parse::<f64>().is_ok()) {
        return Err(TableError::NoHeader { file: file.to_owned(), line: header.join(",") });
    }
    let mut seen = std::collections::HashSet::new();
    match header.iter().find(|name| !seen.insert(name.as_str())) {
        Some(column) => Err(TableError::TwoColumns { file: file.to_owned(), column: column.clone() }),
        None => Ok(()),
    }
}
