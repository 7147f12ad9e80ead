//! The targets of a batch as evidence: ragged, and unknown in places.

use thiserror::Error;

use super::TaskKind;
use crate::batch::{Batch, Evidence, EvidenceError};
use crate::series::Target;

/// Why the targets of a batch do not fit a task.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TaskError {
    /// A series has targets of another kind.
    #[error("the task is {task}, but series {series} of the batch has {found}")]
    Kind {
        /// What is to be predicted.
        task: &'static str,
        /// Index of the series in the batch.
        series: usize,
        /// What it has instead.
        found: &'static str,
    },
    /// The targets do not make evidence.
    #[error("targets: {0}")]
    Evidence(#[from] EvidenceError),
}

/// The targets of a batch at its points, `[Q, width]` (or at its series, `[B, 1]`). A series without targets has
/// none that are observed.
///
/// # Errors
/// When a series has targets of another kind.
pub fn target_evidence(kind: TaskKind, batch: &Batch) -> Result<Evidence, TaskError> {
    let offsets = batch.evidence.point_offsets();
    let (mut values, mut mask) = (Vec::new(), Vec::new());
    for (series, target) in batch.targets.iter().enumerate() {
        let points = offsets[series + 1] - offsets[series];
        match (kind, target) {
            (TaskKind::ClassPerSeries { .. }, Target::Class(class)) => {
                push(&mut values, &mut mask, Some(*class))
            }
            (TaskKind::ClassPerTime { .. }, Target::ClassPerTime(classes)) => {
                classes.iter().for_each(|class| push(&mut values, &mut mask, *class));
            }
            (
                TaskKind::RealPerTime { .. } | TaskKind::Angle,
                Target::RealPerTime { width, values: numbers },
            ) if *width == kind.width() => {
                values.extend_from_slice(numbers);
                mask.extend(numbers.iter().map(|number| number.is_finite()));
            }
            (_, Target::None) => {
                let rows = if kind.is_per_time() { points } else { 1 };
                values.resize(values.len() + rows * kind.width(), 0.0);
                mask.resize(values.len(), false);
            }
            _ => return Err(TaskError::Kind { task: kind.name(), series, found: name(target) }),
        }
    }
    let offsets = match kind.is_per_time() {
        true => offsets.to_vec(),
        false => (0..=batch.targets.len()).collect(),
    };
    Ok(Evidence::new(kind.width(), offsets, values, Some(&mask))?)
}

fn push(values: &mut Vec<f32>, mask: &mut Vec<bool>, class: Option<u32>) {
    values.push(class.unwrap_or_default() as f32);
    mask.push(class.is_some());
}

fn name(target: &Target) -> &'static str {
    match target {
        Target::None => "no targets",
        Target::Class(_) => "a class for the whole series",
        Target::ClassPerTime(_) => "classes per time point",
        Target::RealPerTime { .. } => "another number of values per time point, or values instead of classes",
    }
}
