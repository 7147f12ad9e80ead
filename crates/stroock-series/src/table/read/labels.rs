//! Classes of series, or of their times.

use std::collections::HashMap;

use super::cell::{Cell, not_a};
use super::intern::Names;
use crate::table::{Fault, ReadOptions};

/// No class.
pub(super) const NONE: u32 = u32::MAX;

/// Classes of series, or of their times: which of the two is known at the end only.
pub(super) struct Labels {
    column: Option<String>,
    per_time: Option<bool>,
    /// Classes of a model, where there is one.
    known: Vec<String>,
    names: Names,
    /// Which of the names are classes of rows that were used.
    is_used: Vec<bool>,
    /// Class of each series and the line it was found in.
    of_series: Vec<(u32, u32)>,
    /// Whether some series has more than one class.
    varies: bool,
}

impl Labels {
    pub(super) fn new(column: Option<String>, options: &ReadOptions) -> Self {
        let known = options.expect.as_ref().map_or_else(Vec::new, |expect| expect.classes.clone());
        let hint = options.expect.as_ref().and_then(|expect| expect.columns.label.as_ref());
        let hint = hint.filter(|label| Some(&label.column) == column.as_ref()).map(|label| label.per_time);
        Labels {
            column,
            per_time: options.label_per_time.or(hint),
            known,
            names: Names::default(),
            is_used: Vec::new(),
            of_series: Vec::new(),
            varies: false,
        }
    }

    /// The class of the next row, of which everything else has been understood.
    pub(super) fn push(&mut self, series: u32, cell: Cell<'_>, line: u32, name: &str) -> Result<u32, Fault> {
        let class = match cell {
            Cell::Null => NONE,
            cell => self.class(cell)?,
        };
        if self.of_series.len() <= series as usize {
            self.of_series.resize(series as usize + 1, (NONE, 0));
        }
        let (first, first_line) = self.of_series[series as usize];
        if class != NONE && first != NONE && class != first {
            if self.per_time == Some(false) {
                return Err(Fault::Differs {
                    column: self.column.clone().unwrap_or_default(),
                    value: cell.shown(),
                    line: first_line.into(),
                    other: self.names.name(first).to_owned(),
                    series: name.to_owned(),
                });
            }
            self.varies = true;
        }
        if first == NONE {
            self.of_series[series as usize] = (class, line);
        }
        if class != NONE {
            self.is_used.resize(self.names.len(), false);
            self.is_used[class as usize] = true;
        }
        Ok(class)
    }

    fn class(&mut self, cell: Cell<'_>) -> Result<u32, Fault> {
        let column = self.column.clone().unwrap_or_default();
        let mut buffer = String::new();
        let not_text = |column| not_a(cell, column, |column, value| Fault::NotText { column, value });
        let Some(name) = cell.name(&mut buffer) else { return Err(not_text(column)) };
        if !self.known.is_empty() && !self.known.iter().any(|known| known.as_bytes() == name) {
            let known = self.known.clone();
            return Err(not_a(cell, column, |column, value| Fault::UnknownClass { column, value, known }));
        }
        self.names.index(name).ok_or_else(|| not_text(column))
    }

    /// Forgets all but the first series.
    pub(super) fn forget(&mut self, series: usize) {
        self.of_series.truncate(series);
    }

    /// The column.
    pub(super) fn column(&self) -> Option<&str> {
        self.column.as_deref()
    }

    /// Whether the classes belong to times.
    pub(super) fn are_per_time(&self) -> bool {
        self.column.is_some() && self.per_time.unwrap_or(self.varies)
    }

    /// Class of a series.
    pub(super) fn of_series(&self, series: usize) -> u32 {
        self.of_series.get(series).map_or(NONE, |found| found.0)
    }

    /// Names of the classes, sorted (as numbers if all are), and for each name that came its place among them.
    pub(super) fn classes(&self) -> (Vec<String>, Vec<u32>) {
        let mut classes = self.known.clone();
        if classes.is_empty() {
            let used = self.names.all().zip(&self.is_used).filter(|(_, is_used)| **is_used);
            classes = used.map(|(name, _)| name.to_owned()).collect();
            let numbers: Option<Vec<f64>> = classes.iter().map(|name| name.parse().ok()).collect();
            match numbers.is_some() {
                true => classes.sort_by(|a, b| number(a).total_cmp(&number(b)).then_with(|| a.cmp(b))),
                false => classes.sort(),
            }
        }
        let place: HashMap<&str, u32> = classes.iter().map(String::as_str).zip(0..).collect();
        let places = self.names.all().map(|name| place.get(name).copied().unwrap_or(NONE)).collect();
        (classes, places)
    }
}

fn number(name: &str) -> f64 {
    name.parse().unwrap_or(f64::NAN)
}
