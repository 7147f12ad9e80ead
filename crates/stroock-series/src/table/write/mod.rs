//! Predictions as tables: CSV and Parquet.

mod csv;
mod error;
mod file;
#[cfg(feature = "parquet")]
mod parquet;

use std::collections::HashSet;

pub use error::WriteError;
pub use file::FrameFile;

/// A column of a table that is to be written.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Names, dates, classes.
    Text(Vec<String>),
    /// Numbers; NaN is a blank.
    Number(Vec<f64>),
    /// Whole numbers.
    Count(Vec<i64>),
}

impl Column {
    /// Rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Text(texts) => texts.len(),
            Column::Number(numbers) => numbers.len(),
            Column::Count(counts) => counts.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A table that is to be written: columns of equal length.
///
/// ```
/// use stroock_series::table::{Column, DataFrame};
/// let data_frame = DataFrame {
///     names: vec!["id".into(), "time".into(), "mean".into()],
///     columns: vec![
///         Column::Text(vec!["a".into(), "b, c".into()]),
///         Column::Count(vec![0, 1]),
///         Column::Number(vec![0.1, f64::NAN]),
///     ],
/// };
/// let mut text = Vec::new();
/// data_frame.to_csv(&mut text)?;
/// assert_eq!(text, b"id,time,mean\na,0,0.1\n\"b, c\",1,\n");
/// # Ok::<(), stroock_series::table::WriteError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataFrame {
    /// Name of every column; no name is there twice.
    pub names: Vec<String>,
    /// The columns.
    pub columns: Vec<Column>,
}

impl DataFrame {
    /// Rows.
    ///
    /// # Errors
    /// When the columns do not make a table.
    pub fn rows(&self) -> Result<usize, WriteError> {
        if self.names.len() != self.columns.len() {
            return Err(WriteError::Names { names: self.names.len(), columns: self.columns.len() });
        }
        let mut seen = HashSet::new();
        if let Some(name) = self.names.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(WriteError::Name { name: name.clone() });
        }
        let expected = self.columns.first().map_or(0, Column::len);
        match self.names.iter().zip(&self.columns).find(|(_, column)| column.len() != expected) {
            Some((name, column)) => {
                Err(WriteError::Rows { name: name.clone(), expected, actual: column.len() })
            }
            None => Ok(expected),
        }
    }
}
