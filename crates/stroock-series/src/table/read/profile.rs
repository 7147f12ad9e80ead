//! What the first rows of a table show about its columns.

use std::collections::BTreeSet;

use super::cell::{Cell, Notation};
use super::decimal::may_have_comma;
use super::rows::{AHEAD, Next, Rows};
use crate::table::{DateFormat, TableError, date};

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
    /// Of the cells, those that are dates in each format; numbers are counted as those that they may be.
    formats: [usize; DateFormat::ALL.len()],
    /// Whether all dates with the year last have points between their parts.
    dotted: bool,
    /// Whether all numbers could be years, and those of our time.
    years: bool,
    recent: bool,
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
            formats: [0; DateFormat::ALL.len()],
            dotted: true,
            years: true,
            recent: true,
            counts: true,
            last: None,
        }
    }

    fn look_at(&mut self, cell: Cell<'_>, notation: &Notation) {
        if notation.holds(cell) {
            self.counts = false;
            return;
        }
        self.present += 1;
        let number = notation.number(cell);
        self.counts &= match (self.last, number) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(last), Some(number)) => number == last + 1.0,
        };
        self.last = number;
        self.years &= number.is_none_or(|number| number.fract() == 0.0 && (1000.0..3000.0).contains(&number));
        self.recent &= number.is_some_and(|number| (1800.0..=2100.0).contains(&number));
        match cell {
            _ if number.is_some() => {
                self.numbers += 1;
                self.note_formats(&cell.shown());
            }
            Cell::Instant(_) | Cell::Local(_) => {
                self.dates += 1;
                self.formats[DateFormat::Ymd as usize] += 1;
            }
            Cell::Text(bytes) => {
                let text = std::str::from_utf8(bytes).unwrap_or_default();
                self.dates += usize::from(self.note_formats(text));
                self.clocks += usize::from(date::clock_hours(text).is_some());
            }
            _ => {}
        }
        if number.is_none() && self.distinct.len() <= DISTINCT {
            self.distinct.insert(cell.shown());
        }
    }

    /// Counts a text for the formats that it is a date of; whether there is one.
    fn note_formats(&mut self, text: &str) -> bool {
        // Dates with the year first are read whatever the order of others: they tell nothing about it.
        if date::is_date(text, DateFormat::Ymd) {
            self.formats[DateFormat::Ymd as usize] += 1;
            return true;
        }
        let mut any = false;
        for format in DateFormat::ALL.into_iter().skip(1).filter(|format| date::is_date(text, *format)) {
            self.formats[format as usize] += 1;
            any = true;
            if matches!(format, DateFormat::Dmy | DateFormat::Mdy) {
                self.dotted &= text.contains('.') && !text.contains(['/', '-']);
            }
        }
        any
    }

    /// Whether all cells may be dates in a format.
    pub(super) fn is_all(&self, format: DateFormat) -> bool {
        self.present > 0 && self.formats[format as usize] == self.present
    }

    /// The format of texts that are dates; `None` where the order of day and month cannot be known.
    pub(super) fn date_format(&self, expected: Option<DateFormat>) -> Option<DateFormat> {
        let count = |format: DateFormat| self.formats[format as usize];
        let (day_first, month_first) = (count(DateFormat::Dmy), count(DateFormat::Mdy));
        let others = [DateFormat::Ymd, DateFormat::Month, DateFormat::Quarter];
        let most = others.into_iter().map(count).max().unwrap_or(0);
        if day_first.max(month_first) <= most {
            return others.into_iter().find(|format| count(*format) == most);
        }
        match day_first.cmp(&month_first) {
            std::cmp::Ordering::Greater => Some(DateFormat::Dmy),
            std::cmp::Ordering::Less => Some(DateFormat::Mdy),
            // Nobody writes the month first with points.
            std::cmp::Ordering::Equal if self.dotted => Some(DateFormat::Dmy),
            std::cmp::Ordering::Equal => {
                expected.filter(|format| matches!(format, DateFormat::Dmy | DateFormat::Mdy))
            }
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

    /// Whether the column has years that people keep records of.
    pub(super) fn is_recent_years(&self) -> bool {
        self.is_years() && self.recent && self.is_all(DateFormat::Year)
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

    /// Why a column of text is not a variable, as far as so many first rows tell, or all rows.
    pub(super) fn reason(&self, first: Option<usize>) -> String {
        let example = self.distinct.first().map(String::as_str).unwrap_or_default();
        if self.is_dates() {
            return format!("dates, such as `{example}`");
        }
        if !self.distinct.is_empty() && self.distinct.iter().all(|text| may_have_comma(text)) {
            return format!("numbers with commas, such as `{example}`: decimals or thousands?");
        }
        let rows = first.map_or_else(String::new, |rows| format!(" in the first {rows} rows"));
        match self.distinct.len() {
            0 | 1 => format!("text, always `{example}`{rows}"),
            count if count > DISTINCT => {
                format!("text with more than {DISTINCT} different values, such as `{example}`")
            }
            count if count <= 20 => {
                format!("text with {count} different values{rows}, such as `{example}`: perhaps the label")
            }
            count => format!("text with {count} different values{rows}, such as `{example}`"),
        }
    }
}

/// What the first rows of a table show.
pub(super) struct Profile {
    pub(super) columns: Vec<ColumnProfile>,
    pub(super) rows: usize,
    /// Whether there may be more rows than were looked at.
    pub(super) is_part: bool,
}

impl Profile {
    /// Looks at the first rows of a first file.
    pub(super) fn of(rows: &mut dyn Rows, notation: &Notation) -> Result<Self, TableError> {
        let columns = rows.header().iter().enumerate();
        let columns = columns.map(|(index, name)| ColumnProfile::new(name, rows.zone(index))).collect();
        let mut profile = Profile { columns, rows: 0, is_part: false };
        profile.look_at(rows, notation)?;
        Ok(profile)
    }

    /// Looks at the first rows of a further file, which is rewound afterwards.
    pub(super) fn look_at(&mut self, rows: &mut dyn Rows, notation: &Notation) -> Result<(), TableError> {
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
                    column.look_at(rows.cell(place), notation);
                }
            }
        }
        self.is_part |= rows.ahead() >= AHEAD;
        rows.rewind();
        Ok(())
    }

    /// The rows that were looked at, where they may not be all.
    pub(super) fn first_rows(&self) -> Option<usize> {
        self.is_part.then_some(self.rows)
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
