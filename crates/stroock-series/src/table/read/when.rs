//! The time of a row.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::cell::{Cell, Notation, not_a};
use super::profile::{ColumnProfile, Profile};
use super::vocabulary::{date_part, means_dates, means_months};
use crate::table::{DateFormat, Fault, TableError, TimeScale, date, time::zone_named};

/// How the cells of the time columns make a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number,
    /// Hours and minutes.
    Clock,
    Date(DateFormat),
    /// Year, month, day, ... in a column each.
    Parts,
    /// A date, and a time of day in a second column.
    DateAndClock(DateFormat),
}

/// How times are to be read.
#[derive(Clone, Copy, Default)]
pub(super) struct Wish<'a> {
    /// Zone of dates without one.
    pub(super) zone: Option<&'a str>,
    /// How dates are written.
    pub(super) format: Option<DateFormat>,
    /// How the times of a model are written.
    pub(super) expected: Option<&'a TimeScale>,
}

/// Reads the time of a row.
pub(super) struct When {
    kind: Kind,
    columns: Vec<String>,
    zone: TimeZone,
    is_utc: bool,
    zone_name: String,
    /// What the numbers of a column that is read as numbers may be instead.
    pub(super) doubt: Option<DateFormat>,
}

impl When {
    /// Finds out from the first rows how the times in `columns` are written.
    pub(super) fn new(columns: &[String], profile: &Profile, wish: Wish<'_>) -> Result<Self, TableError> {
        let Wish { zone, format, expected } = wish;
        let profiles: Vec<_> = columns.iter().filter_map(|column| profile.column(column)).collect();
        let expected_format = match expected {
            Some(TimeScale::Date { format, .. }) => Some(*format),
            _ => None,
        };
        let of_texts = |column: &ColumnProfile| {
            format.or_else(|| column.date_format(expected_format)).ok_or_else(|| TableError::DateOrder {
                column: column.name.clone(),
                value: column.first_text().unwrap_or_default().to_owned(),
            })
        };
        let mut doubt = None;
        let kind = match (profiles.as_slice(), format) {
            ([_], Some(format)) => Kind::Date(format),
            ([only], None) if !only.is_text() && only.present > 0 => {
                let found = of_numbers(only, expected);
                doubt = found.err().flatten();
                found.map_or(Kind::Number, Kind::Date)
            }
            ([only], None) if only.is_dates() => Kind::Date(of_texts(only)?),
            ([only], None) if only.is_clock() => Kind::Clock,
            ([_], None) => Kind::Number,
            ([first, second], _) if first.is_dates() && second.is_clock() => {
                Kind::DateAndClock(of_texts(first)?)
            }
            ([first, second], _) if first.is_all(DateFormat::Yyyymmdd) && second.is_clock() => {
                Kind::DateAndClock(DateFormat::Yyyymmdd)
            }
            ([_, ..], _) if profiles.len() <= 6 && profiles.iter().all(|part| !part.is_text()) => Kind::Parts,
            _ => return Err(TableError::TimeParts { columns: columns.to_vec() }),
        };
        let of_file = profiles.first().and_then(|column| column.zone.as_deref());
        let zone_name =
            zone.or(of_file.filter(|name| zone_named(name).is_some())).unwrap_or("UTC").to_owned();
        let zone = zone_named(&zone_name).ok_or_else(|| TableError::TimeZone { name: zone_name.clone() })?;
        let is_utc = zone == TimeZone::UTC;
        Ok(When { kind, columns: columns.to_vec(), zone, is_utc, zone_name, doubt })
    }

    /// What a number of the times means.
    pub(super) fn scale(&self) -> TimeScale {
        match self.kind {
            Kind::Number | Kind::Clock => TimeScale::Number,
            Kind::Parts => TimeScale::date(&self.zone_name),
            // A time of day says more than the day alone.
            Kind::DateAndClock(DateFormat::Yyyymmdd) => TimeScale::date(&self.zone_name),
            Kind::Date(format) | Kind::DateAndClock(format) => {
                TimeScale::Date { zone: self.zone_name.clone(), format, calendar: None }
            }
        }
    }

    /// The time from the cells of the time columns.
    #[inline]
    pub(super) fn read(&self, cells: &[Cell<'_>], notation: &Notation) -> Result<f64, Fault> {
        let time = match (self.kind, cells) {
            (Kind::Number, [cell]) => notation.time(*cell),
            (Kind::Clock, [Cell::Text(bytes)]) => std::str::from_utf8(bytes).ok().and_then(date::clock_hours),
            (Kind::Date(format), [cell]) => self.date(*cell, format),
            (Kind::Parts, parts) => self.parts(parts, notation),
            (Kind::DateAndClock(format), [day, clock]) => self.date_and_clock(*day, *clock, format),
            _ => None,
        };
        match time {
            // Minus zero is zero: the two must not be different times.
            Some(time) => Ok(time + 0.0),
            None => Err(self.fault(cells, notation)),
        }
    }

    fn date(&self, cell: Cell<'_>, format: DateFormat) -> Option<f64> {
        match cell {
            Cell::Text(bytes) => date::parse(std::str::from_utf8(bytes).ok()?, format, &self.zone),
            Cell::Instant(seconds) => Some(seconds),
            Cell::Local(date) if self.is_utc => Some(date::seconds(date)),
            Cell::Local(_) => date::in_zone(cell.local()?, &self.zone),
            Cell::Integer(_) | Cell::Number(_) => date::parse(&cell.shown(), format, &self.zone),
            Cell::Null | Cell::Other(_) => None,
        }
    }

    fn parts(&self, cells: &[Cell<'_>], notation: &Notation) -> Option<f64> {
        let mut parts = [1970, 1, 1, 0, 0, 0];
        let mut seconds = 0.0;
        for (index, cell) in cells.iter().enumerate() {
            let number = notation.number(*cell)?;
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

    fn date_and_clock(&self, day: Cell<'_>, clock: Cell<'_>, format: DateFormat) -> Option<f64> {
        let day = match day {
            Cell::Local(_) => day.local()?.date().to_string(),
            Cell::Text(_) | Cell::Integer(_) | Cell::Number(_) => {
                date::day(&day.shown(), format)?.to_string()
            }
            _ => return None,
        };
        let Cell::Text(clock) = clock else { return None };
        date::parse(&format!("{day} {}", std::str::from_utf8(clock).ok()?), DateFormat::Ymd, &self.zone)
    }

    /// Why there is no time in the cells.
    fn fault(&self, cells: &[Cell<'_>], notation: &Notation) -> Fault {
        let columns = || cells.iter().copied().zip(&self.columns);
        if let Some((_, column)) = columns().find(|(cell, _)| notation.holds(*cell)) {
            return Fault::Empty { column: column.clone(), expected: "a time" };
        }
        let expected = match self.kind {
            Kind::Number => "a number, as the other times are",
            Kind::Clock => "hours and minutes such as 47:30, as the other times are",
            Kind::Date(format) => like(format),
            Kind::Parts => "a part of a date that exists",
            Kind::DateAndClock(_) => "a date and a time of day",
        };
        let fault = |column, value| Fault::Time { column, value, expected };
        let unreadable = |(cell, _): &(Cell<'_>, &String)| notation.number(*cell).is_none();
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

/// The dates that a column of numbers has; or that it has numbers, and what these may be instead.
fn of_numbers(
    column: &ColumnProfile,
    expected: Option<&TimeScale>,
) -> Result<DateFormat, Option<DateFormat>> {
    match expected {
        Some(TimeScale::Number) => return Err(None),
        Some(TimeScale::Date { format, .. }) if column.is_all(*format) => return Ok(*format),
        _ => {}
    }
    if column.is_all(DateFormat::Yyyymmdd) {
        // Eight digits that are a day each time are no accident.
        return Ok(DateFormat::Yyyymmdd);
    }
    match () {
        _ if column.is_years() && date_part(&column.name) == Some(0) => Ok(DateFormat::Year),
        _ if column.is_recent_years() && means_dates(&column.name) => Ok(DateFormat::Year),
        _ if column.is_all(DateFormat::Month) && means_months(&column.name) => Ok(DateFormat::Month),
        _ if column.is_all(DateFormat::Month) => Err(Some(DateFormat::Month)),
        _ if column.is_recent_years() => Err(Some(DateFormat::Year)),
        _ => Err(None),
    }
}

fn like(format: DateFormat) -> &'static str {
    match format {
        DateFormat::Ymd => "a date such as 2024-01-31 14:05, as the other times are",
        DateFormat::Dmy => "a date with the day first such as 31.01.2024 14:05, as the other times are",
        DateFormat::Mdy => "a date with the month first such as 01/31/2024 14:05, as the other times are",
        DateFormat::Yyyymmdd => "a date such as 20240131, as the other times are",
        DateFormat::Month => "a month such as 2024-01, as the other times are",
        DateFormat::Quarter => "a quarter such as 2024Q1, as the other times are",
        DateFormat::Year => "a year such as 2024, as the other times are",
    }
}
