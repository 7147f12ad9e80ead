//! `stroock report`: a page about a fitted model.

use std::path::Path;

use serde::Serialize;
use stroock::estimator::{EvaluateOptions, Evaluation, Model, RunConfig, Subject};
use stroock::run::{Metrics, RunPaths, write_atomic};
use stroock_model_report::ModelReport;

use crate::arguments::ReportArguments;
use crate::evaluate::{evaluate, given, of_run};
use crate::failure::Failure;
use crate::fit::config_of;
use crate::output::{print, print_json};
use crate::tables::load;

pub use stroock_model_report::SERIES;

#[derive(Serialize)]
struct Written {
    report: String,
}

pub fn run(arguments: &ReportArguments) -> Result<(), Failure> {
    let paths = RunPaths::new(&arguments.run);
    let config = config_of(&arguments.run)?;
    let model = load(&arguments.run)?;
    let subject = match arguments.data.is_empty() {
        true => of_run(&model, &arguments.run, &arguments.table)?,
        false => given(&model, &arguments.data, &arguments.table)?,
    };
    let options = EvaluateOptions::of(config.fit.goal);
    let evaluation = evaluate(&model, &subject, &options)?;
    let path = arguments.output.clone().unwrap_or_else(|| paths.report());
    write(&model, &config, &paths, &subject, &evaluation, arguments.series, &path)?;
    let report = path.display().to_string();
    match arguments.json {
        true => print_json(&Written { report }),
        false => print(&format!("The report: {report}")),
    }
}

/// Writes the page.
pub fn write(
    model: &Model,
    config: &RunConfig,
    run: &RunPaths,
    subject: &Subject,
    evaluation: &Evaluation,
    series: usize,
    path: &Path,
) -> Result<(), Failure> {
    let rows = Metrics::read(&run.metrics())?.rows;
    let report =
        ModelReport { model, config: Some(config), rows: &rows, subject, evaluation, series }.report()?;
    Ok(write_atomic(path, report.html()?.as_bytes())?)
}
