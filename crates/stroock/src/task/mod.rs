//! What is predicted beside the observations: classes and numbers, per time point or per series.

mod head;
mod target;

pub use head::{TaskConfig, TaskHead, TaskKind};
pub use target::{TaskError, target_evidence};
