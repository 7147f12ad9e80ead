//! What is in a table.

use pyo3::prelude::*;
use stroock::series::table::{Overview, Table};

use crate::arguments::read_options;
use crate::error::{Failure, wrong};
use crate::frame::Frame;

fn read(py: Python<'_>, frame: &Bound<'_, Frame>, name: &str, read: &str) -> PyResult<Table> {
    let (options, frame) = (read_options(read)?, frame.get());
    let table = py.detach(|| Table::from_batches(name, &frame.schema, frame.batches.clone(), &options));
    Ok(table.map_err(Failure::from)?)
}

/// What was found in a table, as a text and as JSON.
#[pyfunction]
#[pyo3(signature = (frame, name, read))]
pub fn describe(
    py: Python<'_>,
    frame: &Bound<'_, Frame>,
    name: &str,
    read: &str,
) -> PyResult<(String, String)> {
    let table = self::read(py, frame, name, read)?;
    let overview = py.detach(|| Overview::of(&table));
    let json = serde_json::to_string(&overview).map_err(|error| wrong(error.to_string()))?;
    Ok((overview.text(), json))
}

/// How many series, times and values a table has, and nothing more: the time of reading is measured by it.
#[pyfunction]
#[pyo3(signature = (frame, name, read))]
pub fn extent(
    py: Python<'_>,
    frame: &Bound<'_, Frame>,
    name: &str,
    read: &str,
) -> PyResult<(usize, usize, u64)> {
    let table = self::read(py, frame, name, read)?;
    let series = table.data.series();
    Ok((series.len(), series.iter().map(|series| series.times.len()).sum(), table.account.values))
}
