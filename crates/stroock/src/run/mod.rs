//! Everything around a training run that does not need tensors: its folder, its files, its configuration,
//! and what the person in front of it sees.
//!
//! A run is a folder:
//!
//! | path | what |
//! |---|---|
//! | `config.toml` | the configuration with every key resolved, [`to_toml`] |
//! | `metrics.jsonl` | one JSON object per epoch, [`MetricsLog`] |
//! | `model.safetensors` | the best model so far, [`TensorFile`] |
//! | `last/` | all that is needed to resume: model, optimiser and `state.json`, [`LastState`] |
//! | `report.html` | the report |
//! | `events.out.tfevents.*` | the same metrics for TensorBoard, [`EventFile`] |
//!
//! Files appear complete or not at all ([`write_atomic`]), so that a run that is killed at any instant can be
//! resumed. The order of writes at the end of an epoch is: metrics, best model, `last/`. A kill in between
//! leaves metrics of an epoch that `last/` does not know; resuming cuts them off and computes the epoch again.

mod atomic;
mod error;
mod folder;
mod last;
mod layered;
mod metrics;
mod progress;
mod signals;
mod tensor_file;
mod tensorboard;

pub use atomic::{write_atomic, write_atomic_with};
pub use error::RunError;
pub use folder::{RunFolder, RunPaths};
pub use last::{LastState, Recovery};
pub use layered::{ConfigError, KeyProblem, Place, nearest, parse, resolve, resolve_over, to_toml};
pub use metrics::{Metric, Metrics, MetricsLog, MetricsRow, ResumedLog};
pub use progress::{Moment, Progress, RunLength};
pub use signals::StopFlag;
pub use tensor_file::{
    Element, ElementType, ExpectedTensor, Tensor, TensorFile, TensorFileProblem, TensorValues,
};
pub use tensorboard::EventFile;
