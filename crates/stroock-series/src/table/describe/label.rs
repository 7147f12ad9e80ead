//! How often each class is there.

use serde::Serialize;

use super::super::Table;
use crate::{Labels, Series};

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
    /// Before the first series; `None` where the table has no label column.
    pub(super) fn none<D>(table: &Table<D>) -> Option<Self> {
        let label = table.columns.label.as_ref()?;
        let classes = table.classes.iter().map(|class| (class.clone(), 0)).collect();
        Some(LabelBalance { column: label.column.clone(), per_time: label.per_time, classes, unknown: 0 })
    }

    /// Counts the classes of a series.
    pub(super) fn add(&mut self, series: &Series<f64>) {
        let mut count =
            |class: Option<u32>| match class.and_then(|class| self.classes.get_mut(class as usize)) {
                Some(class) => class.1 += 1,
                None => self.unknown += 1,
            };
        match &series.labels {
            Labels::Class(class) => count(Some(*class)),
            Labels::ClassPerTime(classes) => classes.iter().for_each(|class| count(*class)),
            _ if self.per_time => series.times.iter().for_each(|_| count(None)),
            _ => count(None),
        }
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
