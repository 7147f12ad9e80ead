//! Tables that ask for too much are refused before they get it.

use std::fmt::Write;
use std::fs;
use std::time::{Duration, Instant};

use stroock_series::table::{ReadOptions, Table, TableError};

fn read(name: &str, content: &[u8]) -> Result<Table, TableError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    Table::read(&[path], &ReadOptions::default())
}

/// A table of so many columns and a row.
fn wide(columns: usize) -> String {
    let mut text = String::from("time");
    (1..columns).for_each(|column| write!(text, ",x{column}").unwrap());
    text.push_str("\n0");
    (1..columns).for_each(|_| text.push_str(",1.5"));
    text.push('\n');
    text
}

#[test]
fn a_header_without_end() {
    let error = read("wide.csv", wide(70_000).as_bytes()).unwrap_err();
    assert!(matches!(error, TableError::TooManyColumns { columns: 70_000, .. }), "{error}");
    assert!(error.to_string().contains("wide.csv"), "{error}");
}

#[test]
fn ten_thousand_columns_are_read_in_seconds() {
    let start = Instant::now();
    assert_eq!(read("wide.csv", wide(10_000).as_bytes()).unwrap().variables.len(), 9_999);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn a_line_without_end() {
    // A field of sixteen megabytes is read, and is not a number.
    let text = format!("time,x\n0,{}\n", "9".repeat(1 << 24));
    assert!(read("long.csv", text.as_bytes()).is_err());
}
