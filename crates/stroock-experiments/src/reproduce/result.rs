//! What a run has found, next to its configuration.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use stroock::run::{RunError, write_atomic};

use super::{Evaluation, RunConfig};

/// The file of the result in a run folder.
const FILE: &str = "result.json";

/// Whether a run has done all its epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// It has.
    Finished,
    /// It was stopped and can be resumed.
    Stopped,
}

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunResult {
    /// What was run.
    pub config: RunConfig,
    /// Whether it has done all its epochs.
    pub status: RunStatus,
    /// Epochs that were done.
    pub epochs: u64,
    /// The epoch of the model that was tested.
    pub tested_epoch: u64,
    /// How that model was chosen, in words.
    pub selection: String,
    /// The metric on the test series, with as many draws as published.
    pub test: Evaluation,
    /// The metric with more draws, and how many.
    pub test_with_draws: Option<(usize, Evaluation)>,
    /// Wall time of training in seconds, over all its parts.
    pub seconds: f64,
    /// Threads that it was trained with; not noted by older runs.
    #[serde(default)]
    pub threads: Option<usize>,
    /// Series for training, validation and testing.
    pub series: [usize; 3],
    /// How much of the published data there was, in words.
    pub coverage: String,
    /// The command that gives the same result.
    pub command: String,
}

impl RunResult {
    /// Writes `result.json` into a run folder.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), RunError> {
        let path = folder.join(FILE);
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| RunError::StateNotWritable { path: path.clone(), reason: error.to_string() })?;
        write_atomic(&path, (text + "\n").as_bytes())
    }

    /// Reads `result.json` of a run folder; `None` if there is none.
    ///
    /// # Errors
    /// When it cannot be understood.
    pub fn read(folder: &Path) -> Result<Option<Self>, RunError> {
        let path = folder.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(reason) => return Err(RunError::Io { action: "read", path, reason }),
        };
        let result = serde_json::from_str(&text)
            .map_err(|error| RunError::State { path, reason: error.to_string() })?;
        Ok(Some(result))
    }
}
