//! What is predicted beside the observations: classes and numbers, per time point or per series.

mod head;
mod labels;

pub use head::{TaskConfig, TaskHead, TaskKind};
pub use labels::{TaskError, label_targets};
