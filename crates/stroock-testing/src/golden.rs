//! Golden values: JSON files in double precision, computed by independent implementations.
//!
//! The files are in `tests/golden` of the repository, and tests fail without them. `STROOCK_GOLDEN` names another folder
//! with files of the same names, of other seeds and sizes: tests take their shapes and the number of cases from
//! the file.

use std::io::Write;
use std::path::PathBuf;

use serde_json::Value;

/// The folder with public data sets and other files that are too large for the repository: the one that
/// `STROOCK_SHARED` names, or `shared` beside the checkout. Where it is absent, `None`, with a note on standard
/// error: the caller skips its test.
///
/// # Panics
/// When `STROOCK_SHARED` names no folder.
pub fn shared_folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("STROOCK_SHARED").map(PathBuf::from) {
        assert!(folder.is_dir(), "STROOCK_SHARED names no folder: {}", folder.display());
        return Some(folder);
    }
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    if folder.is_dir() {
        return Some(folder);
    }
    // The harness would keep the output of `eprintln!` to itself.
    let _ = writeln!(
        std::io::stderr(),
        "SKIPPED {}: no data sets at {} (set STROOCK_SHARED to their folder)",
        std::thread::current().name().unwrap_or("a test"),
        folder.display()
    );
    None
}

/// The golden file `name`.
///
/// # Panics
/// When it is missing or not JSON.
pub fn golden(name: &str) -> Value {
    let folder = match std::env::var_os("STROOCK_GOLDEN") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden"),
    };
    let path = folder.join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The cases of a golden file with a top-level `cases` list.
///
/// # Panics
/// When the file is missing, is not JSON, or has no cases.
pub fn golden_cases(name: &str) -> Vec<Value> {
    match golden(name)["cases"].as_array() {
        Some(cases) if !cases.is_empty() => cases.clone(),
        _ => panic!("{name}: no list `cases`, or an empty one"),
    }
}

/// A nested list of numbers as its shape and its entries in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Extent of every axis, outermost first; empty for a single number.
    pub shape: Vec<usize>,
    /// Entries in row-major order.
    pub entries: Vec<f64>,
}

/// Reads the (nested list of) numbers under `key`.
///
/// # Panics
/// When `key` is missing, is not made of numbers, or is ragged.
pub fn array(value: &Value, key: &str) -> Array {
    let node = value.get(key).unwrap_or_else(|| panic!("golden value `{key}` is missing"));
    let mut shape = Vec::new();
    let mut level = node;
    while let Some(list) = level.as_array() {
        shape.push(list.len());
        level = list.first().unwrap_or_else(|| panic!("golden value `{key}` is empty"));
    }
    let mut entries = Vec::new();
    flatten(node, key, &mut entries);
    assert_eq!(entries.len(), shape.iter().product::<usize>(), "golden value `{key}` is ragged");
    Array { shape, entries }
}

/// Reads the single number under `key`.
///
/// # Panics
/// When `key` is missing or is not a number.
pub fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("golden value `{key}` is not a number"))
}

fn flatten(node: &Value, key: &str, entries: &mut Vec<f64>) {
    match node {
        Value::Array(list) => list.iter().for_each(|item| flatten(item, key, entries)),
        other => entries.push(
            other.as_f64().unwrap_or_else(|| panic!("golden value `{key}` holds {other}, not a number")),
        ),
    }
}
