//! A run of a plan as a process.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::time::{Duration, Instant};

use stroock::run::{Metrics, RunPaths};
use stroock_experiments::protocol::Experiment;
use stroock_experiments::reproduce::PlannedRun;

use super::time_left::Pace;
use crate::arguments::ReproduceArguments;
use crate::failure::Failure;

/// How long a process may take to save its state after Ctrl-C, which reaches it, too.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often metrics are read again.
const READ: Duration = Duration::from_secs(2);

/// A process that does a run.
pub struct Child<'a> {
    pub run: &'a PlannedRun,
    process: process::Child,
    metrics: PathBuf,
    log: PathBuf,
    pace: Pace,
    read: Option<Instant>,
}

impl<'a> Child<'a> {
    /// Starts, or resumes, a run; what it says goes to a file beside its folder.
    pub fn start(
        run: &'a PlannedRun,
        out: &Path,
        threads: usize,
        arguments: &ReproduceArguments,
    ) -> Result<Self, Failure> {
        let (folder, log) = (out.join(run.name()), out.join(format!("{}.log", run.name())));
        let wrong = |error| format!("cannot start the run `{}`: {error}", run.name());
        let said = File::options().create(true).append(true).open(&log).map_err(wrong)?;
        let mut command = Command::new(std::env::current_exe().map_err(wrong)?);
        command.args(words(run)).arg("--out").arg(&folder).arg("--resume");
        if let Some(data) = &arguments.data_dir {
            command.arg("--data-dir").arg(data);
        }
        command.env("RAYON_NUM_THREADS", threads.to_string());
        command.stdin(Stdio::null()).stdout(said.try_clone().map_err(wrong)?).stderr(said);
        let process = command.spawn().map_err(wrong)?;
        let metrics = RunPaths::new(folder).metrics();
        let pace = Pace { done: 0, epochs: run.config.protocol.training.epochs, seconds: 0.0 };
        Ok(Self { run, process, metrics, log, pace, read: None })
    }

    /// Nothing while it goes on; then whether it went well, or in words why not.
    pub fn ended(&mut self) -> Result<Option<Result<(), String>>, Failure> {
        let Some(status) = self.process.try_wait()? else { return Ok(None) };
        if status.success() {
            return Ok(Some(Ok(())));
        }
        let said = fs::read_to_string(&self.log).unwrap_or_default();
        let last = said.lines().rev().find(|line| line.starts_with("error")).unwrap_or("it says no more");
        let (name, log) = (self.run.name(), self.log.display());
        Ok(Some(Err(format!("the run `{name}` ended with {status}: {last} (see {log})"))))
    }

    /// Ends it: Ctrl-C on a terminal has reached it already, and what a kill destroys is at most an epoch.
    pub fn end(mut self, asked: Instant) {
        while asked.elapsed() < PATIENCE && matches!(self.process.try_wait(), Ok(None)) {
            std::thread::sleep(super::LOOK);
        }
        // One that has ended meanwhile cannot be killed, and need not.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// How fast it is.
    pub fn pace(&mut self) -> Pace {
        if self.read.is_none_or(|read| read.elapsed() > READ) {
            self.read = Some(Instant::now());
            // Not there yet, or half a line: the next time.
            if let Ok(metrics) = Metrics::read(&self.metrics) {
                self.pace.done = metrics.rows.last().map_or(0, |row| row.epoch);
                self.pace.seconds =
                    metrics.rows.iter().filter_map(|row| row.get("seconds")?.as_number()).sum();
            }
        }
        self.pace
    }

    /// How far it is.
    pub fn words(&self, pace: Pace) -> String {
        format!("{} epoch {}/{}", self.run.name(), pace.done, pace.epochs)
    }
}

/// The arguments that make a run.
fn words(run: &PlannedRun) -> Vec<String> {
    let config = &run.config;
    let mut words = vec!["reproduce".to_owned(), config.experiment.name().to_owned()];
    let mut option = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    option("preset", config.preset.name().to_owned());
    if let Some(rival) = config.model {
        option("model", rival.name().to_owned());
    }
    if config.experiment == Experiment::Physionet {
        option("observed", config.options.observed.to_string());
        option("minutes", config.options.resolution.minutes().to_string());
    }
    if let Some(epochs) = run.epochs {
        option("epochs", epochs.to_string());
    }
    if config.limit > 0 {
        option("limit", config.limit.to_string());
    }
    option("seed", config.protocol.training.seed.to_string());
    words
}
