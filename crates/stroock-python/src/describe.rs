//! What is in a table.

use pyo3::prelude::*;
use stroock::series::table::{Overview, Table};

use crate::arguments::read_options;
use crate::error::{Failure, wrong};
use crate::frame::Frame;

/// What was found in a table, as a text and as JSON.
#[pyfunction]
pub fn describe(
    py: Python<'_>,
    frame: &Bound<'_, Frame>,
    name: &str,
    read: &str,
) -> PyResult<(String, String)> {
    let (options, frame) = (read_options(read)?, frame.get());
    let overview = py
        .detach(|| {
            let table = Table::from_batches(name, &frame.schema, frame.batches.clone(), &options)?;
            Ok(Overview::of(&table))
        })
        .map_err(|error: stroock::series::table::TableError| PyErr::from(Failure::from(error)))?;
    let json = serde_json::to_string(&overview).map_err(|error| wrong(error.to_string()))?;
    Ok((overview.text(), json))
}
