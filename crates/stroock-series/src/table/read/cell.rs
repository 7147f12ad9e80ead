//! A cell of a table, wherever it comes from.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

use super::decimal::with_comma;
use crate::table::Fault;

/// A cell of a table.
#[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "cells of CSV files are texts"))]
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'a> {
    /// Nothing.
    Null,
    /// Text, not yet checked to be UTF-8, without spaces around it.
    Text(&'a [u8]),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// Seconds since the beginning of 1970, UTC.
    Instant(f64),
    /// A date without a zone, as the instant that it would be in UTC.
    Local(Timestamp),
    /// Something that is neither a number nor a text nor a date, by a description.
    Other(&'static str),
}

impl Cell<'_> {
    /// The cell as its owner would write it.
    pub(super) fn shown(self) -> String {
        match self {
            Cell::Null => String::new(),
            Cell::Text(bytes) => String::from_utf8_lossy(bytes).chars().take(80).collect(),
            Cell::Integer(number) => number.to_string(),
            Cell::Number(number) | Cell::Instant(number) => number.to_string(),
            Cell::Local(_) => self.local().map_or_else(String::new, |date| date.to_string()),
            Cell::Other(description) => description.to_owned(),
        }
    }

    /// The date of a cell without a zone.
    pub(super) fn local(self) -> Option<DateTime> {
        match self {
            Cell::Local(date) => Some(Offset::UTC.to_datetime(date)),
            _ => None,
        }
    }

    /// The cell as its owner would write it, however long it is.
    pub(super) fn whole(self) -> String {
        match self {
            Cell::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            cell => cell.shown(),
        }
    }

    /// The bytes of a name, if the cell can be one; numbers are written into `buffer`.
    pub(super) fn name<'b>(&'b self, buffer: &'b mut String) -> Option<&'b [u8]> {
        match self {
            Cell::Text(bytes) => Some(bytes),
            Cell::Other(_) => None,
            other => {
                *buffer = other.shown();
                Some(buffer.as_bytes())
            }
        }
    }
}

/// How numbers are written, and what stands for a missing value.
pub(super) struct Notation {
    words: Vec<String>,
    numbers: Vec<f64>,
    /// First bytes of the words in either case: nearly every cell is told apart by its first byte.
    starts: [bool; 256],
    /// Whether decimals stand after a comma.
    comma: bool,
}

impl Notation {
    /// The notation with these marks of missing values, and this sign before decimals.
    pub(super) fn new(words: &[String], decimal: u8) -> Self {
        let words: Vec<String> = words.iter().map(|word| word.trim().to_owned()).collect();
        let mut starts = [false; 256];
        for &start in words.iter().filter_map(|word| word.as_bytes().first()) {
            starts[start.to_ascii_lowercase() as usize] = true;
            starts[start.to_ascii_uppercase() as usize] = true;
        }
        let comma = decimal == b',';
        let number = |word: &String| word.parse().ok().or_else(|| with_comma(word).filter(|_| comma));
        let numbers = words.iter().filter_map(number).filter(|number: &f64| number.is_finite());
        Notation { numbers: numbers.collect(), words, starts, comma }
    }

    /// Whether decimals stand after a comma.
    pub(super) fn comma(&self) -> bool {
        self.comma
    }

    /// A number if the cell reads as one; dates do not.
    #[inline]
    pub(super) fn number(&self, cell: Cell<'_>) -> Option<f64> {
        match cell {
            Cell::Text(bytes) => self.number_of(bytes),
            Cell::Integer(number) => Some(number as f64),
            Cell::Number(number) => Some(number),
            Cell::Null | Cell::Instant(_) | Cell::Local(_) | Cell::Other(_) => None,
        }
    }

    /// A time that is a number; truth values are none.
    #[inline]
    pub(super) fn time(&self, cell: Cell<'_>) -> Option<f64> {
        let time = match cell {
            Cell::Text(bytes) if !self.comma => std::str::from_utf8(bytes).ok()?.parse().ok(),
            Cell::Text(bytes) => with_comma(std::str::from_utf8(bytes).ok()?),
            cell => self.number(cell),
        };
        time.filter(|time: &f64| time.is_finite())
    }

    /// A number, or a truth value as 1 or 0.
    fn number_of(&self, bytes: &[u8]) -> Option<f64> {
        let text = std::str::from_utf8(bytes).ok()?;
        let number = if self.comma { with_comma(text) } else { text.parse().ok() };
        match number {
            Some(number) => Some(number),
            None if text.eq_ignore_ascii_case("true") => Some(1.0),
            None if text.eq_ignore_ascii_case("false") => Some(0.0),
            None => None,
        }
    }

    /// Whether the cell is missing.
    #[inline]
    pub(super) fn holds(&self, cell: Cell<'_>) -> bool {
        match cell {
            Cell::Null => true,
            Cell::Text([]) => true,
            Cell::Text(bytes) => {
                (self.starts[bytes[0] as usize]
                    && self.words.iter().any(|word| word.as_bytes().eq_ignore_ascii_case(bytes)))
                    || (!self.numbers.is_empty()
                        && self.number_of(bytes).is_some_and(|number| self.numbers.contains(&number)))
            }
            Cell::Integer(number) => self.numbers.contains(&(number as f64)),
            Cell::Number(number) => number.is_nan() || self.numbers.contains(&number),
            Cell::Instant(_) | Cell::Local(_) | Cell::Other(_) => false,
        }
    }

    /// The value of a cell of `column`: not a number where it is missing, finite otherwise.
    #[inline]
    pub(super) fn value(&self, cell: Cell<'_>, column: &str) -> Result<f64, Fault> {
        if self.holds(cell) {
            return Ok(f64::NAN);
        }
        let (column, shown) = (|| column.to_owned(), || cell.shown());
        match self.number(cell) {
            Some(number) if number.is_finite() => Ok(number),
            Some(_) => Err(Fault::NotFinite { column: column(), value: shown() }),
            None => Err(not_a(cell, column(), |column, value| Fault::Number { column, value })),
        }
    }
}

/// `fault` about a cell, or that its bytes are not even text.
pub(super) fn not_a(cell: Cell<'_>, column: String, fault: impl FnOnce(String, String) -> Fault) -> Fault {
    match cell {
        Cell::Text(bytes) if std::str::from_utf8(bytes).is_err() => {
            Fault::NotText { column, value: cell.shown() }
        }
        _ => fault(column, cell.shown()),
    }
}
