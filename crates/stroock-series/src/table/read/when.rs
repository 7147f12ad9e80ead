//! The time of a row.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::cell::{Cell, Missing, not_a};
use super::profile::Profile;
use super::vocabulary::date_part;
use crate::table::{Fault, TableError, TimeScale, date, time::zone_named};

/// How the cells of the time columns make a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number,
    /// Hours and minutes.
    Clock,
    Date,
    /// Year, month, day, ... in a column each.
    Parts,
    /// A date, and a time of day in a second column.
    DateAndClock,
}

/// Reads the time of a row.
pub(super) struct When {
    kind: Kind,
    columns: Vec<String>,
    zone: TimeZone,
    zone_name: String,
}

impl When {
    /// Finds out from the first rows how the times in `columns` are written.
    pub(super) fn new(columns: &[String], profile: &Profile, zone: Option<&str>) -> Result<Self, TableError> {
        let profiles: Vec<_> = columns.iter().filter_map(|column| profile.column(column)).collect();
        let kind = match profiles.as_slice() {
            [only] if date_part(&only.name) == Some(0) && only.is_years() => Kind::Parts,
            [only] if !only.is_text() && only.present > 0 => Kind::Number,
            [only] if only.is_dates() => Kind::Date,
            [only] if only.is_clock() => Kind::Clock,
            [_] => Kind::Number,
            [first, second] if first.is_dates() && second.is_clock() => Kind::DateAndClock,
            [_, ..] if profiles.len() <= 6 && profiles.iter().all(|part| !part.is_text()) => Kind::Parts,
            _ => return Err(TableError::TimeParts { columns: columns.to_vec() }),
        };
        let of_file = profiles.first().and_then(|column| column.zone.as_deref());
        let zone_name =
            zone.or(of_file.filter(|name| zone_named(name).is_some())).unwrap_or("UTC").to_owned();
        let zone = zone_named(&zone_name).ok_or_else(|| TableError::TimeZone { name: zone_name.clone() })?;
        Ok(When { kind, columns: columns.to_vec(), zone, zone_name })
    }

    /// What a number of the times means.
    pub(super) fn scale(&self) -> TimeScale {
        match self.kind {
            Kind::Number | Kind::Clock => TimeScale::Number,
            Kind::Date | Kind::Parts | Kind::DateAndClock => TimeScale::Date { zone: self.zone_name.clone() },
        }
    }

    /// The time from the cells of the time columns.
    #[inline]
    pub(super) fn read(&self, cells: &[Cell<'_>], missing: &Missing) -> Result<f64, Fault> {
        let time = match (self.kind, cells) {
            (Kind::Number, [Cell::Text(bytes)]) => std::str::from_utf8(bytes)
                .ok()
                .and_then(|text| text.parse().ok())
                .filter(|time: &f64| time.is_finite()),
            (Kind::Number, [cell]) => cell.number().filter(|time| time.is_finite()),
            (Kind::Clock, [Cell::Text(bytes)]) => std::str::from_utf8(bytes).ok().and_then(date::clock_hours),
            (Kind::Date, [cell]) => self.date(*cell),
            (Kind::Parts, parts) => self.parts(parts),
            (Kind::DateAndClock, [day, clock]) => self.date_and_clock(*day, *clock),
            _ => None,
        };
        match time {
            // Minus zero is zero: the two must not be different times.
            Some(time) => Ok(time + 0.0),
            None => Err(self.fault(cells, missing)),
        }
    }

    fn date(&self, cell: Cell<'_>) -> Option<f64> {
        match cell {
            Cell::Text(bytes) => date::parse(std::str::from_utf8(bytes).ok()?, &self.zone),
            Cell::Instant(seconds) => Some(seconds),
            Cell::Local(date) => date::in_zone(date, &self.zone),
            Cell::Null | Cell::Integer(_) | Cell::Number(_) | Cell::Other(_) => None,
        }
    }

    fn parts(&self, cells: &[Cell<'_>]) -> Option<f64> {
        let mut parts = [1970, 1, 1, 0, 0, 0];
        let mut seconds = 0.0;
        for (index, cell) in cells.iter().enumerate() {
            let number = cell.number()?;
            // Seconds may have a fraction.
            if index == 5 && (0.0..60.0).contains(&number) {
                seconds = number;
            } else if number.fract() == 0.0 && number.abs() < 1e4 {
                parts[index] = number as i16;
            } else {
                return None;
            }
        }
        let narrow = |index: usize| i8::try_from(parts[index]).ok();
        let date =
            DateTime::new(parts[0], narrow(1)?, narrow(2)?, narrow(3)?, narrow(4)?, narrow(5)?, 0).ok()?;
        Some(date::in_zone(date, &self.zone)? + seconds)
    }

    fn date_and_clock(&self, day: Cell<'_>, clock: Cell<'_>) -> Option<f64> {
        let day = match day {
            Cell::Local(date) => date.date().to_string(),
            Cell::Text(bytes) => std::str::from_utf8(bytes).ok()?.to_owned(),
            _ => return None,
        };
        let Cell::Text(clock) = clock else { return None };
        date::parse(&format!("{day} {}", std::str::from_utf8(clock).ok()?), &self.zone)
    }

    /// Why there is no time in the cells.
    fn fault(&self, cells: &[Cell<'_>], missing: &Missing) -> Fault {
        let columns = || cells.iter().copied().zip(&self.columns);
        if let Some((_, column)) = columns().find(|(cell, _)| missing.holds(*cell)) {
            return Fault::Empty { column: column.clone(), expected: "a time" };
        }
        let expected = match self.kind {
            Kind::Number => "a number, as the other times are",
            Kind::Clock => "hours and minutes such as 47:30, as the other times are",
            Kind::Date => "a date such as 2024-01-31 14:05, as the other times are",
            Kind::Parts => "a part of a date that exists",
            Kind::DateAndClock => "a date and a time of day",
        };
        let fault = |column, value| Fault::Time { column, value, expected };
        let unreadable = |(cell, _): &(Cell<'_>, &String)| cell.number().is_none();
        match columns().find(unreadable) {
            Some((cell, column)) if cells.len() == 1 || self.kind == Kind::Parts => {
                not_a(cell, column.clone(), fault)
            }
            _ => {
                let shown: Vec<_> = cells.iter().map(|cell| cell.shown()).collect();
                fault(self.columns.join(","), shown.join(","))
            }
        }
    }
}
