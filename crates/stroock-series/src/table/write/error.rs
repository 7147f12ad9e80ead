//! Why a table cannot be written.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a table cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Names and columns do not make a table.
    #[error("{names} names for {columns} columns: every column needs one name")]
    Names {
        /// Names.
        names: usize,
        /// Columns.
        columns: usize,
    },
    /// Two columns have one name.
    #[error("the column name `{name}` is there twice: rename one of the variables")]
    Name {
        /// The name.
        name: String,
    },
    /// Columns have different lengths.
    #[error("column `{name}` has {actual} rows, but the first column has {expected}")]
    Rows {
        /// Name of the column.
        name: String,
        /// Rows of the first column.
        expected: usize,
        /// Rows of this one.
        actual: usize,
    },
    /// A part of a table has other columns than those before it.
    #[error("a part with the columns {found} cannot be put behind others with {expected}")]
    OtherColumns {
        /// Columns of the first part.
        expected: String,
        /// Columns of this one.
        found: String,
    },
    /// The ending of a file name says nothing about the format, or it is Parquet in a build without it.
    #[error("`{}`: do not know the format; let the name end in .csv, .csv.gz or .parquet", path.display())]
    Format {
        /// The file.
        path: PathBuf,
    },
    /// There is such a file already.
    #[error("`{}` exists already: choose another name, or say that it may be replaced", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be written.
    #[error("`{}` cannot be written: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The place that rows go to does not take them.
    #[error("rows cannot be written: {0}")]
    Output(#[from] io::Error),
    /// Parquet is not made.
    #[cfg(feature = "parquet")]
    #[error("Parquet cannot be written: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
}
