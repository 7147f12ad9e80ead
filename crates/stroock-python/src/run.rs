//! What the folder of a run knows about its model, as `stroock report` and `stroock evaluate` use it.

use std::path::Path;

use pyo3::prelude::*;
use stroock::estimator::{EstimatorError, Model, RunConfig, Subject};
use stroock::run::{Metrics, MetricsRow, RunPaths, parse};
use stroock::series::table::Table;

use crate::error::exceptions::ModelError;
use crate::error::{Failure, wrong};

/// How the model of a run folder was fitted, and the metrics of its epochs; nothing is known about a model file.
pub fn noted(path: &Path) -> PyResult<Option<(RunConfig, Vec<MetricsRow>)>> {
    if !path.is_dir() {
        return Ok(None);
    }
    let paths = RunPaths::new(path);
    let file = paths.config();
    // A folder with nothing but a model in it is as good as the file.
    let Ok(text) = std::fs::read_to_string(&file) else { return Ok(None) };
    let config = parse(&file, &text).map_err(|error| ModelError::new_err(error.to_string()))?;
    let metrics = paths.metrics();
    let rows = match metrics.exists() {
        true => Metrics::read(&metrics).map_err(|error| ModelError::new_err(error.to_string()))?.rows,
        false => Vec::new(),
    };
    Ok(Some((config, rows)))
}

/// The table that a run was fitted to, read from its files once more and cut as then.
pub fn table(config: &RunConfig) -> PyResult<Table> {
    let RunConfig { data, fit, .. } = config;
    if data.files.is_empty() {
        return Err(wrong(
            "the run was fitted to a table in memory, and does not hold it: give the data to test on, data=...",
        ));
    }
    let table = Table::read(&data.files, &data.read).map_err(Failure::from)?.sampled(fit.sampling);
    match data.change(&table).map_err(EstimatorError::from).map_err(Failure::from)? {
        None => Ok(table),
        Some(change) => Err(wrong(format!(
            "the data have changed since the fit: {change}; give the data to test on, data=..."
        ))),
    }
}

/// The series of its table that a run has kept for testing.
pub fn subject(model: &Model, config: &RunConfig, table: Table) -> Result<Subject, EstimatorError> {
    Ok(Subject::of_split(config.fit.split(&table)?, model.prepare(&table)?, table))
}

/// Why a model file cannot be tested by itself.
pub fn without_data() -> PyErr {
    wrong(
        "a model file holds the model, but not the data of its fit: give the data to test on, data=..., or load the folder of \
         the run",
    )
}
