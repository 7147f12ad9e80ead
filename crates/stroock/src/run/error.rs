//! What can go wrong with the files of a run.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::tensor_file::TensorFileProblem;

/// Why a file or folder of a run cannot be used. Every variant names the path, and says what to do where
/// there is a choice.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The operating system refused.
    #[error("cannot {action} `{}`: {reason}", path.display())]
    Io {
        /// What was tried: "write", "open", ...
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the operating system said.
        reason: io::Error,
    },
    /// A file is to be written to a path without a file name.
    #[error("`{}` does not name a file", path.display())]
    NoFileName {
        /// Given path.
        path: PathBuf,
    },
    /// A new run was to start in a folder that holds one.
    #[error(
        "`{}` already holds a run (it has `{found}`): resume that run, or choose another folder",
        folder.display()
    )]
    Occupied {
        /// Folder of the run.
        folder: PathBuf,
        /// First file of a run that was found in it.
        found: &'static str,
    },
    /// A run was to be opened where there is none.
    #[error(
        "`{}` holds no run (it has no `config.toml`): check the path, or start a new run there",
        folder.display()
    )]
    NoRun {
        /// Given folder.
        folder: PathBuf,
    },
    /// Another process is writing to the run.
    #[error(
        "`{}` is in use by another process: wait for its end, stop it, or choose another folder",
        folder.display()
    )]
    InUse {
        /// Folder of the run.
        folder: PathBuf,
    },
    /// A line of the metrics is damaged, and it is not the last one (which a kill may cut short).
    #[error("`{}`, line {line}, is not a row of metrics ({reason}): repair or remove the line", path.display())]
    MetricsLine {
        /// The metrics file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A row of metrics has a name twice, or uses a name that is taken.
    #[error("the metrics of epoch {epoch} have more than one value for `{name}`")]
    MetricTwice {
        /// Epoch of the row.
        epoch: u64,
        /// Name at fault.
        name: String,
    },
    /// The saved state of a run cannot be understood.
    #[error(
        "`{}` is not a state that can be resumed ({reason}): it was written by another version or edited",
        path.display()
    )]
    State {
        /// The state file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The state to be saved cannot be written as JSON, or not be read back.
    #[error("the state cannot be written to `{}` such that it can be read back: {reason}", path.display())]
    StateNotWritable {
        /// The state file.
        path: PathBuf,
        /// What is wrong with the state.
        reason: String,
    },
    /// A file of tensors is not what it should be.
    #[error("`{}`: {problem}", path.display())]
    TensorFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: TensorFileProblem,
    },
    /// The process cannot listen to signals.
    #[error("cannot listen to Ctrl-C and SIGTERM: {reason}")]
    Signals {
        /// What the operating system said.
        reason: io::Error,
    },
}

impl RunError {
    /// For `map_err`: adds what was tried on which path.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RunError {
        move |reason| RunError::Io { action, path: path.to_owned(), reason }
    }
}
