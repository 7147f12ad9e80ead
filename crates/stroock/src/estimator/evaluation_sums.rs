//! Tests of a model in parts: sums that scores follow from.

use serde::{Deserialize, Serialize};

use super::EvaluateOptions;
use crate::score::{ClassSums, ScoreError, ScoreSums};

/// What was found out about a model on some series, before it is divided by their number. Merged over parts of a table
/// that have whole series each, these are the sums of the table, but for rounding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationSums {
    /// How it was found out.
    pub options: EvaluateOptions,
    /// Series that were tested on.
    pub series: usize,
    /// All variables together, each divided by its standard deviation in the training data.
    pub overall: ScoreSums,
    /// Each variable in its own unit, `[C]`.
    pub variables: Vec<ScoreSums>,
    /// Classes, where the model predicts them.
    pub classes: Option<ClassSums>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl EvaluationSums {
    /// Adds the sums of other series.
    ///
    /// # Errors
    /// When the others were tested otherwise, or on another model.
    pub fn merge(&mut self, other: &Self) -> Result<(), ScoreError> {
        let same = |list, same: bool| if same { Ok(()) } else { Err(ScoreError::Settings { list }) };
        same("options", self.options == other.options)?;
        same("variables", self.variables.len() == other.variables.len())?;
        same("classes", self.classes.is_some() == other.classes.is_some())?;
        self.series += other.series;
        self.overall.merge(&other.overall)?;
        for (sums, more) in self.variables.iter_mut().zip(&other.variables) {
            sums.merge(more)?;
        }
        if let (Some(sums), Some(more)) = (&mut self.classes, &other.classes) {
            sums.merge(more)?;
        }
        for warning in &other.warnings {
            if !self.warnings.contains(warning) {
                self.warnings.push(warning.clone());
            }
        }
        Ok(())
    }
}
