//! Parquet files.

use super::exercise;
use crate::scratch::FOLDER;

/// The input is a file.
pub fn run(data: &[u8]) {
    FOLDER.with(|folder| exercise::read(folder.write("table.parquet", data)));
}
