//! What the first rows of a table show about its columns.

use std::collections::BTreeSet;

use super::cell::{Cell, Missing};
use super::rows::{Next, Rows};
use crate::table::{TableError, date};

/// Different values that are counted one by one.
const DISTINCT: usize = 50;

/// What the first rows show about a column.
pub(super) struct ColumnProfile {
    pub(super) name: String,
    /// Cells that are not missing, and how many of them are numbers, dates, and times of day.
    pub(super) present: usize,
    pub(super) numbers: usize,
    pub(super) dates: usize,
    pub(super) clocks: usize,
    /// Different values, as far as they were counted.
    distinct: BTreeSet<String>,
    pub(super) zone: Option<String>,
    /// Whether all numbers could be years.
    years: bool,
    /// Whether every row has the number of the row before plus one, and the last number.
    counts: bool,
    last: Option<f64>,
}

impl ColumnProfile {
    fn new(name: &str, zone: Option<&str>) -> Self {
        ColumnProfile {
            name: name.to_owned(),
            present: 0,
            numbers: 0,
            dates: 0,
            clocks: 0,
            distinct: BTreeSet::new(),
            zone: zone.map(str::to_owned),
            years: true,
            counts: true,
            last: None,
        }
    }

    fn look_at(&mut self, cell: Cell<'_>, missing: &Missing) {
        if missing.holds(cell) {
            self.counts = false;
            return;
        }
        self.present += 1;
        let number = cell.number();
        self.counts &= match (self.last, number) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(last), Some(number)) => number == last + 1.0,
        };
        self.last = number;
        self.years &= number.is_none_or(|number| number.fract() == 0.0 && (1000.0..3000.0).contains(&number));
        match cell {
            _ if number.is_some() => self.numbers += 1,
            Cell::Instant(_) | Cell::Local(_) => self.dates += 1,
            Cell::Text(bytes) => {
                let text = std::str::from_utf8(bytes).unwrap_or_default();
                self.dates += usize::from(date::is_date(text));
                self.clocks += usize::from(date::clock_hours(text).is_some());
            }
            _ => {}
        }
        if number.is_none() && self.distinct.len() <= DISTINCT {
            self.distinct.insert(cell.shown());
        }
    }

    /// Whether fewer than half of the cells are numbers.
    pub(super) fn is_text(&self) -> bool {
        2 * self.numbers < self.present
    }

    /// Whether at least half of the cells are dates.
    pub(super) fn is_dates(&self) -> bool {
        self.present > 0 && 2 * self.dates >= self.present
    }

    /// Whether at least half of the cells are times of day or hours with minutes.
    pub(super) fn is_clock(&self) -> bool {
        self.present > 0 && 2 * self.clocks >= self.present
    }

    /// Whether the column has whole numbers that could be years.
    pub(super) fn is_years(&self) -> bool {
        self.years && !self.is_text()
    }

    /// Whether the column could be the time.
    pub(super) fn is_time(&self) -> bool {
        self.is_dates() || self.is_clock() || !self.is_text()
    }

    /// Whether the column does nothing but count the rows.
    pub(super) fn counts_rows(&self) -> bool {
        self.counts && self.present > 1
    }

    /// One of its texts.
    pub(super) fn first_text(&self) -> Option<&str> {
        self.distinct.first().map(String::as_str)
    }

    /// Why a column of text is not a variable.
    pub(super) fn reason(&self) -> String {
        let example = self.distinct.first().map(String::as_str).unwrap_or_default();
        if self.is_dates() {
            return format!("dates, such as `{example}`");
        }
        match self.distinct.len() {
            0 | 1 => format!("text, always `{example}`"),
            count if count > DISTINCT => {
                format!("text with more than {DISTINCT} different values, such as `{example}`")
            }
            count if count <= 20 => {
                format!("text with {count} different values, such as `{example}`: perhaps the label")
            }
            count => format!("text with {count} different values, such as `{example}`"),
        }
    }
}

/// What the first rows of a table show.
pub(super) struct Profile {
    pub(super) columns: Vec<ColumnProfile>,
    pub(super) rows: usize,
}

impl Profile {
    /// Looks at the first rows of a first file.
    pub(super) fn of(rows: &mut dyn Rows, missing: &Missing) -> Result<Self, TableError> {
        let columns = rows.header().iter().enumerate();
        let columns = columns.map(|(index, name)| ColumnProfile::new(name, rows.zone(index))).collect();
        let mut profile = Profile { columns, rows: 0 };
        profile.look_at(rows, missing)?;
        Ok(profile)
    }

    /// Looks at the first rows of a further file, which is rewound afterwards.
    pub(super) fn look_at(&mut self, rows: &mut dyn Rows, missing: &Missing) -> Result<(), TableError> {
        let place = |column: &ColumnProfile| rows.header().iter().position(|name| *name == column.name);
        let places: Vec<Option<usize>> = self.columns.iter().map(place).collect();
        for _ in 0..rows.ahead() {
            match rows.advance()? {
                Next::End => break,
                Next::Ragged { .. } => continue,
                Next::Row { .. } => self.rows += 1,
            }
            for (column, place) in self.columns.iter_mut().zip(&places) {
                if let Some(place) = *place {
                    column.look_at(rows.cell(place), missing);
                }
            }
        }
        rows.rewind();
        Ok(())
    }

    /// Names of all columns.
    pub(super) fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// The column with a name.
    pub(super) fn column(&self, name: &str) -> Option<&ColumnProfile> {
        self.columns.iter().find(|column| column.name == name)
    }
}
