//! What an evaluation was taken from, and what it found: the record behind a published figure.

use std::path::Path;

use serde::Serialize;
use stroock::estimator::{EvaluateOptions, Evaluation, FitConfig, RunConfig};
use stroock::run::{Metrics, RunPaths, write_atomic};
use stroock::series::SeriesSource;

use crate::failure::Failure;

/// A record of an evaluation.
#[derive(Serialize)]
pub struct Record<'a> {
    /// The command that gave it.
    command: String,
    version: &'static str,
    data: Coverage,
    /// Epochs that were trained, and the seconds they took.
    epochs: usize,
    training_seconds: f64,
    /// Threads of the last of them, where they are noted.
    training_threads: Option<f64>,
    held_out: EvaluateOptions,
    scores: &'a Evaluation,
    settings: &'a FitConfig,
}

/// How much there is in the data, as the model sees them.
#[derive(Serialize)]
pub struct Coverage {
    files: usize,
    /// Series after cutting, and those that were tested on.
    series: usize,
    tested: usize,
    variables: usize,
    times: usize,
    /// Observed values, and their share of all values at all times.
    observed: usize,
    share: f64,
}

impl Coverage {
    /// Counts what is in series that came from so many files.
    pub fn of<V: Clone, S: SeriesSource<V>>(data: &S, files: usize) -> Result<Self, Failure> {
        let (mut times, mut observed, variables) = (0, 0, data.observation().len());
        data.for_each(&mut |_, series| {
            times += series.times.len();
            observed += match &series.observed {
                Some(observed) => observed.iter().filter(|&&observed| observed).count(),
                None => series.values.len(),
            };
            Ok(())
        })?;
        let share = observed as f64 / (times * variables).max(1) as f64;
        Ok(Self { files, series: data.len(), tested: 0, variables, times, observed, share })
    }
}

impl<'a> Record<'a> {
    /// The record of an evaluation of a run.
    pub fn new(
        config: &'a RunConfig,
        coverage: Coverage,
        evaluation: &'a Evaluation,
        run: &RunPaths,
    ) -> Result<Self, Failure> {
        let rows = Metrics::read(&run.metrics())?.rows;
        Ok(Self {
            command: command_line(),
            version: env!("CARGO_PKG_VERSION"),
            data: Coverage { tested: evaluation.series, ..coverage },
            epochs: rows.len(),
            training_seconds: rows.iter().filter_map(|row| row.get("seconds")?.as_number()).sum(),
            training_threads: rows.iter().rev().find_map(|row| row.get("threads")?.as_number()),
            held_out: evaluation.options,
            scores: evaluation,
            settings: &config.fit,
        })
    }

    /// Writes the record as JSON.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        let mut text = serde_json::to_string(self)?;
        text.push('\n');
        Ok(write_atomic(path, text.as_bytes())?)
    }
}

/// The command line of this process, such that a shell reads it as it was given.
pub fn command_line() -> String {
    let words = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("stroock".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word such that a shell reads it as it is.
pub fn quoted(word: &str) -> String {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "-_./:=,+@%".contains(sign);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
