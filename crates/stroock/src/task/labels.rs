//! The labels of a batch as targets: ragged, and unknown in places.

use thiserror::Error;

use super::TaskKind;
use crate::batch::{Batch, Targets, TargetsError};
use crate::series::Labels;

/// Why the labels of a batch do not fit a task.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TaskError {
    /// A series has labels of another kind.
    #[error("the task is {task}, but series {series} of the batch has {found}")]
    Kind {
        /// What is to be predicted.
        task: &'static str,
        /// Index of the series in the batch.
        series: usize,
        /// What it has instead.
        found: &'static str,
    },
    /// The labels do not make targets.
    #[error("labels: {0}")]
    Targets(#[from] TargetsError),
}

/// The labels of a batch at its points, `[Q, width]` (or at its series, `[B, 1]`). A series without labels has
/// none that are observed.
///
/// # Errors
/// When a series has labels of another kind.
pub fn label_targets(kind: TaskKind, batch: &Batch) -> Result<Targets, TaskError> {
    let offsets = batch.targets.point_offsets();
    let (mut values, mut mask) = (Vec::new(), Vec::new());
    for (series, labels) in batch.labels.iter().enumerate() {
        let points = offsets[series + 1] - offsets[series];
        match (kind, labels) {
            (TaskKind::ClassPerSeries { .. }, Labels::Class(class)) => {
                push(&mut values, &mut mask, Some(*class))
            }
            (TaskKind::ClassPerTime { .. }, Labels::ClassPerTime(classes)) => {
                classes.iter().for_each(|class| push(&mut values, &mut mask, *class));
            }
            (
                TaskKind::RealPerTime { .. } | TaskKind::Angle,
                Labels::RealPerTime { width, values: numbers },
            ) if *width == kind.width() => {
                values.extend_from_slice(numbers);
                mask.extend(numbers.iter().map(|number| number.is_finite()));
            }
            (_, Labels::None) => {
                let rows = if kind.is_per_time() { points } else { 1 };
                values.resize(values.len() + rows * kind.width(), 0.0);
                mask.resize(values.len(), false);
            }
            _ => return Err(TaskError::Kind { task: kind.name(), series, found: name(labels) }),
        }
    }
    let offsets = match kind.is_per_time() {
        true => offsets.to_vec(),
        false => (0..=batch.labels.len()).collect(),
    };
    Ok(Targets::new(kind.width(), offsets, values, Some(&mask))?)
}

fn push(values: &mut Vec<f32>, mask: &mut Vec<bool>, class: Option<u32>) {
    values.push(class.unwrap_or_default() as f32);
    mask.push(class.is_some());
}

fn name(labels: &Labels) -> &'static str {
    match labels {
        Labels::None => "no labels",
        Labels::Class(_) => "a class for the whole series",
        Labels::ClassPerTime(_) => "classes per time point",
        Labels::RealPerTime { .. } => "another number of values per time point, or values instead of classes",
    }
}
