//! Golden values: JSON files in double precision, computed by independent implementations.
//!
//! The files live outside the repository, in the folder that the environment variable `STROOCK_SHARED`
//! names (default: `../shared` beside the workspace root). Tests take their shapes from the file.

use std::path::PathBuf;

use serde_json::Value;

/// The folder of shared test material, or `None`, with a note on standard error, where it is absent.
pub fn shared_folder() -> Option<PathBuf> {
    let folder = match std::env::var_os("STROOCK_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("SKIPPED: no shared test material at {} (set STROOCK_SHARED to its folder)", folder.display());
    None
}

/// The golden file `name`, or `None`, with a note on standard error, where it is absent.
///
/// # Panics
/// When the file is there and is not JSON: a damaged golden file must fail the test, not skip it.
pub fn golden(name: &str) -> Option<Value> {
    let path = shared_folder()?.join("golden").join(name);
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: no golden file at {}", path.display());
        return None;
    };
    Some(serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

/// The cases of a golden file with a top-level `cases` list; empty where the file is absent.
pub fn golden_cases(name: &str) -> Vec<Value> {
    golden(name).map_or_else(Vec::new, |file| {
        file["cases"].as_array().unwrap_or_else(|| panic!("{name}: no list `cases`")).clone()
    })
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
