//! How often each class is there.

use serde::Serialize;

use super::super::Table;
use crate::Labels;

/// How often each class is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LabelBalance {
    /// Name of the column.
    pub column: String,
    /// Whether times are counted, and not series.
    pub per_time: bool,
    /// Every class with its count.
    pub classes: Vec<(String, usize)>,
    /// Series or times without a class.
    pub unknown: usize,
}

impl LabelBalance {
    /// Of the label column of a table; `None` where it has none.
    pub(super) fn of(table: &Table) -> Option<Self> {
        let label = table.columns.label.as_ref()?;
        let mut counts = vec![0; table.classes.len()];
        let mut unknown = 0;
        let mut count = |class: Option<u32>| match class.and_then(|class| counts.get_mut(class as usize)) {
            Some(place) => *place += 1,
            None => unknown += 1,
        };
        for series in table.data.series() {
            match &series.labels {
                Labels::Class(class) => count(Some(*class)),
                Labels::ClassPerTime(classes) => classes.iter().for_each(|class| count(*class)),
                _ if label.per_time => series.times.iter().for_each(|_| count(None)),
                _ => count(None),
            }
        }
        let classes = table.classes.iter().cloned().zip(counts).collect();
        Some(LabelBalance { column: label.column.clone(), per_time: label.per_time, classes, unknown })
    }

    /// Share of the rarest and of the most frequent class among those that are known.
    pub fn extremes(&self) -> Option<(f64, f64)> {
        let known: usize = self.classes.iter().map(|class| class.1).sum();
        let share = |count: usize| count as f64 / known.max(1) as f64;
        let least = self.classes.iter().map(|class| class.1).min()?;
        let most = self.classes.iter().map(|class| class.1).max()?;
        Some((share(least), share(most)))
    }
}
