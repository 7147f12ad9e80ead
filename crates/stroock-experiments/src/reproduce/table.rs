//! All results side by side with what is published, as Markdown.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use burn::module::Module;
use burn::tensor::Device;
use stroock::initial::InitialWeights;
use stroock::model::ModelSettings;
use stroock::run::RunError;

use super::published::published;
use super::{RunConfig, RunResult, RunStatus};
use crate::protocol::{Experiment, Metric};

/// How every table begins: a file that does not is somebody's own.
pub const BEGINNING: &str =
    "# Results\n\nWritten by `stroock reproduce --table` from the folders of the runs";

/// The results of all run folders below a folder, in the order of their paths.
///
/// # Errors
/// When a folder cannot be listed or a result not be understood.
pub fn collect(folder: &Path) -> Result<Vec<RunResult>, RunError> {
    let list = |path: &Path| {
        fs::read_dir(path).map_err(|reason| RunError::Io { action: "list", path: path.to_owned(), reason })
    };
    let mut results: Vec<RunResult> = RunResult::read(folder)?.into_iter().collect();
    let mut below = Vec::new();
    for entry in list(folder)? {
        let path =
            entry.map_err(|reason| RunError::Io { action: "list", path: folder.into(), reason })?.path();
        if path.is_dir() {
            below.push(path);
        }
    }
    below.sort();
    for path in below {
        results.extend(collect(&path)?);
    }
    Ok(results)
}

/// Runs that differ in nothing but the seed of their weights, batches and paths.
struct Group<'a> {
    runs: Vec<&'a RunResult>,
}

/// The results as Markdown: a section for every experiment, ours and the published numbers.
pub fn markdown(results: &[RunResult]) -> String {
    let mut text = format!(
        "{BEGINNING}; nothing here is typed by hand. Where there are several seeds, mean and standard deviation over \
         them. Our metric is the exact mean over all entries of the test series, with as many draws as published \
         (one, unless the row says otherwise).\n",
    );
    for experiment in Experiment::ALL {
        let of_experiment: Vec<&RunResult> =
            results.iter().filter(|result| result.config.experiment == experiment).collect();
        if of_experiment.is_empty() {
            continue;
        }
        let mut settings: BTreeMap<String, Vec<&RunResult>> = BTreeMap::new();
        for result in of_experiment {
            settings.entry(result.config.name()).or_default().push(result);
        }
        for (name, runs) in settings {
            section(&mut text, &name, &runs);
        }
    }
    text
}

fn section(text: &mut String, name: &str, runs: &[&RunResult]) {
    let metric = runs[0].config.protocol.metric;
    let _ = write!(
        text,
        "\n## {name}\n\n| model | {} | parameters | epochs | seeds | s / epoch | wall time | threads | data |\n\
         |---|---|---|---|---|---|---|---|---|\n",
        heading(metric)
    );
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for run in runs {
        groups.entry(key(run)).or_insert(Group { runs: Vec::new() }).runs.push(run);
    }
    // Rivals stand beside their published numbers.
    let (own, mut rivals): (Vec<&Group>, Vec<&Group>) =
        groups.values().partition(|group| group.runs[0].config.model.is_none());
    own.iter().for_each(|group| group.write(text, metric));
    for row in published(&runs[0].config) {
        let value = number(metric, row.mean, row.sd);
        let _ = writeln!(text, "| {} | {value} | | as published | | | | | whole |", row.model);
        rivals.retain(|group| {
            let is_here = group.runs[0].config.system().is_some_and(|system| row.is_of(system));
            if is_here {
                group.write(text, metric);
            }
            !is_here
        });
    }
    rivals.iter().for_each(|group| group.write(text, metric));
    let commands: Vec<&str> =
        groups.values().filter_map(|group| group.runs.first()).map(|run| run.command.as_str()).collect();
    let _ = write!(
        text,
        "\nCommands: {}.\n",
        commands.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(", ")
    );
}

/// What runs of one group share.
fn key(run: &RunResult) -> String {
    let mut config = run.config.clone();
    config.protocol.training.seed = 0;
    format!("{:?} {:?} {} {config:?}", config.preset, run.status, run.epochs)
}

impl Group<'_> {
    fn write(&self, text: &mut String, metric: Metric) {
        let _ = writeln!(text, "{}", self.row(metric));
        if let Some(row) = self.row_with_draws(metric) {
            let _ = writeln!(text, "{row}");
        }
    }

    fn row(&self, metric: Metric) -> String {
        self.line("", self.number(metric))
    }

    fn number(&self, metric: Metric) -> String {
        let values: Vec<f64> = self.runs.iter().map(|run| run.test.value).collect();
        number_of(metric, &values)
    }

    /// Nothing where draws change nothing that is shown, as in models that draw nothing.
    fn row_with_draws(&self, metric: Metric) -> Option<String> {
        let drawn: Option<Vec<(usize, f64)>> = self
            .runs
            .iter()
            .map(|run| run.test_with_draws.map(|(draws, evaluation)| (draws, evaluation.value)))
            .collect();
        let drawn = drawn?;
        let values: Vec<f64> = drawn.iter().map(|(_, value)| *value).collect();
        let draws = drawn.first()?.0;
        let number = number_of(metric, &values);
        (number != self.number(metric)).then(|| self.line(&format!(", mean of {draws} draws"), number))
    }

    fn line(&self, what: &str, value: String) -> String {
        let first = self.runs[0];
        let stopped = if first.status == RunStatus::Stopped { ", stopped early" } else { "" };
        let minutes = self.runs.iter().map(|run| run.seconds).sum::<f64>() / 60.0 / self.runs.len() as f64;
        let noted: BTreeSet<usize> = self.runs.iter().filter_map(|run| run.threads).collect();
        let threads = match noted.is_empty() {
            true => "not noted".to_owned(),
            false => noted.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
        };
        let system = match first.config.system() {
            Some(system) => format!("{system} (our harness)"),
            None => "**stroock**".to_owned(),
        };
        let parameters = parameters(&first.config).map(thousands).unwrap_or_default();
        let per_epoch = minutes * 60.0 / first.epochs.max(1) as f64;
        format!(
            "| {system}, preset `{}`{what}{stopped} | {value} | {parameters} | {} (tested: {}, {}) | {} | {per_epoch:.1} | \
             {minutes:.1} min | {threads} | {} |",
            first.config.preset.name(),
            first.epochs,
            first.tested_epoch,
            first.selection,
            self.runs.len(),
            first.coverage,
        )
    }
}

/// How many numbers training chooses; `None` for settings that make no model any more.
fn parameters(config: &RunConfig) -> Option<usize> {
    let mut weights = InitialWeights::new(0, &Device::flex());
    Some(config.protocol.model.init(&mut weights).ok()?.num_params())
}

/// With a thin space between thousands.
fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join("\u{202f}")
}

fn heading(metric: Metric) -> &'static str {
    match metric {
        Metric::SquaredError { .. } => "test MSE (e-3)",
        Metric::TaskSquaredError => "test MSE of the target (e-3)",
        Metric::Accuracy => "test accuracy (%)",
    }
}

fn number_of(metric: Metric, values: &[f64]) -> String {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    let sd = (values.len() > 1).then(|| (square / (count - 1.0)).sqrt());
    number(metric, mean, sd)
}

fn number(metric: Metric, mean: f64, sd: Option<f64>) -> String {
    let scale = if metric == Metric::Accuracy { 100.0 } else { 1e3 };
    match sd {
        Some(sd) => format!("{:.2} ± {:.2}", mean * scale, sd * scale),
        None => format!("{:.2}", mean * scale),
    }
}
