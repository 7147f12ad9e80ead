//! Classes, true and predicted.

use crate::ReportError;
use crate::error::length;

/// How often each class was taken for each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Confusion {
    /// Names of the classes, `[C]`.
    pub classes: Vec<String>,
    /// Counts, `[C, C]`: a row for each true class, a column for each predicted one.
    pub counts: Vec<Vec<u64>>,
}

impl Confusion {
    pub(crate) fn check(&self, field: &str) -> Result<(), ReportError> {
        let (classes, count) = (format!("{field}.classes"), self.classes.len());
        length(format!("{field}.counts"), self.counts.len(), classes.clone(), count)?;
        for (index, row) in self.counts.iter().enumerate() {
            length(format!("{field}.counts[{index}]"), row.len(), classes.clone(), count)?;
        }
        Ok(())
    }

    /// Right predictions, and all of them. Sums are of real numbers, which no count can overflow.
    pub(crate) fn right(&self) -> (f64, f64) {
        let right = self.counts.iter().enumerate().filter_map(|(class, row)| row.get(class));
        let all = self.counts.iter().flatten();
        (right.map(|&count| count as f64).sum(), all.map(|&count| count as f64).sum())
    }
}
