//! Numbers that belong to a whole series.

use crate::table::{Duplicates, Fault};

/// A number of a series: what was found, and where first.
#[derive(Clone, Copy, Default)]
struct Found {
    sum: f64,
    count: u32,
    last: f64,
    line: u32,
}

/// Numbers that belong to a whole series.
pub(super) struct Statics {
    names: Vec<String>,
    duplicates: Duplicates,
    /// `[series, names]`.
    found: Vec<Found>,
    /// Values of the row that is being read.
    row: Vec<(usize, f64, u32)>,
}

impl Statics {
    pub(super) fn new(names: Vec<String>, duplicates: Duplicates) -> Self {
        Statics { names, duplicates, found: Vec::new(), row: Vec::new() }
    }

    /// Names of the numbers.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Place of a name.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Checks a value of the row that is being read against those before it.
    pub(super) fn check(
        &mut self,
        series: u32,
        index: usize,
        value: f64,
        line: u32,
        name: &str,
    ) -> Result<(), Fault> {
        if value.is_nan() {
            return Ok(());
        }
        if let Some(found) = self.found.get(series as usize * self.names.len() + index)
            && found.count > 0
            && found.last != value
            && self.duplicates == Duplicates::Error
        {
            return Err(Fault::Differs {
                column: self.names[index].clone(),
                value: value.to_string(),
                line: found.line.into(),
                other: found.last.to_string(),
                series: name.to_owned(),
            });
        }
        self.row.push((index, value, line));
        Ok(())
    }

    /// Takes the values of the row over, and returns how many series got one that had none.
    pub(super) fn commit(&mut self, series: u32) -> u64 {
        if self.row.is_empty() {
            return 0;
        }
        let start = series as usize * self.names.len();
        if self.found.len() < start + self.names.len() {
            self.found.resize(start + self.names.len(), Found::default());
        }
        let mut new = 0;
        for (index, value, line) in self.row.drain(..) {
            let found = &mut self.found[start + index];
            if found.count == 0 {
                new += 1;
                found.line = line;
            }
            found.count += 1;
            found.sum += value;
            found.last = value;
        }
        new
    }

    /// Forgets the values of the row that is being read, and all series but the first ones.
    pub(super) fn forget(&mut self, series: usize) {
        self.row.clear();
        self.found.truncate(series * self.names.len());
    }

    /// The number of a series; `None` where it is missing.
    pub(super) fn value(&self, series: usize, index: usize) -> Option<f64> {
        let found = self.found.get(series * self.names.len() + index).filter(|found| found.count > 0)?;
        Some(match self.duplicates {
            Duplicates::Mean => found.sum / f64::from(found.count),
            Duplicates::Error | Duplicates::Last => found.last,
        })
    }
}
