//! Tables from texts, and what is in them.

// Every test file uses some of these.
#![allow(dead_code)]

use std::path::PathBuf;

use stroock_series::Series;
use stroock_series::table::{ReadOptions, Table, TableError};
use tempfile::TempDir;

/// Files with the given contents, and their paths.
pub fn files(contents: &[&[u8]]) -> (TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let paths = contents.iter().enumerate().map(|(index, content)| {
        let path = folder.path().join(format!("file{index}.csv"));
        std::fs::write(&path, content).expect("a file for the test");
        path
    });
    let paths = paths.collect();
    (folder, paths)
}

/// The table of a file with the given content.
pub fn read_with(content: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Table, TableError> {
    let (_folder, paths) = files(&[content.as_ref()]);
    Table::read(&paths, options)
}

/// The same, with everything guessed.
pub fn read(content: impl AsRef<[u8]>) -> Result<Table, TableError> {
    read_with(content, &ReadOptions::default())
}

/// The values of a series, `None` where they are missing.
pub fn cells(series: &Series<f64>, channels: usize) -> Vec<Vec<Option<f64>>> {
    let cell = |at, channel| {
        series.is_observed(channels, at, channel).then(|| series.values[at * channels + channel])
    };
    (0..series.times.len()).map(|at| (0..channels).map(|channel| cell(at, channel)).collect()).collect()
}

/// Names of the variables.
pub fn names(table: &Table) -> Vec<&str> {
    table.variables.iter().map(|variable| variable.name.as_str()).collect()
}

/// Checks that a table is refused with a message that has all the parts.
#[track_caller]
pub fn assert_says(result: Result<Table, TableError>, parts: &[&str]) {
    let message = result.expect_err("the table should be refused").to_string();
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

/// An option with a name.
pub fn some(name: &str) -> Option<String> {
    Some(name.to_owned())
}

/// A list of names.
pub fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}
