//! The ways in which people write dates.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::text::{day_text, digits, month_name, year_last};

/// How dates are written.
///
/// Dates with the name of the month (`31 Jan 2024`, `Jan 31, 2024`) are read in whatever order, and so are those with
/// the year first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateFormat {
    /// `2024-01-31`, `2024/1/31 14:05`.
    #[default]
    Ymd,
    /// `31.01.2024`, `31/1/2024 14:05`.
    Dmy,
    /// `01/31/2024`, `1/31/2024 2:05 PM`.
    Mdy,
    /// `20240131`.
    Yyyymmdd,
    /// Whole months: `2024-01`, `2024M1`, `Jan 2024`, `01/2024`, `202401`.
    Month,
    /// Whole quarters of a year: `2024Q1`, `2024-Q1`, `Q1 2024`.
    Quarter,
    /// Whole years: `2024`.
    Year,
}

/// Years that a number without any separator may mean; others are more likely to be no year.
const YEARS: std::ops::RangeInclusive<i32> = 1700..=2299;

impl DateFormat {
    /// All of them.
    pub const ALL: [DateFormat; 7] = [
        DateFormat::Ymd,
        DateFormat::Dmy,
        DateFormat::Mdy,
        DateFormat::Yyyymmdd,
        DateFormat::Month,
        DateFormat::Quarter,
        DateFormat::Year,
    ];

    /// An example.
    pub fn example(self) -> &'static str {
        match self {
            DateFormat::Ymd => "2024-01-31 14:05",
            DateFormat::Dmy => "31.01.2024 14:05",
            DateFormat::Mdy => "01/31/2024 14:05",
            DateFormat::Yyyymmdd => "20240131",
            DateFormat::Month => "2024-01",
            DateFormat::Quarter => "2024Q1",
            DateFormat::Year => "2024",
        }
    }

    /// The first moment of what a text names, and what follows it (a time zone, perhaps).
    pub(super) fn read(self, text: &str) -> Option<(DateTime, &str)> {
        match self {
            DateFormat::Ymd => day_text(text),
            DateFormat::Dmy => year_last(text, true),
            DateFormat::Mdy => year_last(text, false),
            DateFormat::Yyyymmdd => whole(yyyymmdd(text)?),
            DateFormat::Month => whole(month(text)?),
            DateFormat::Quarter => whole(quarter(text)?),
            DateFormat::Year => whole(year(text)?),
        }
    }

    /// Whether the format has no time of day, and no zone.
    pub(super) fn is_whole(self) -> bool {
        !matches!(self, DateFormat::Ymd | DateFormat::Dmy | DateFormat::Mdy)
    }

    /// A time in this format; `None` where it says less than the time, or where the order of its parts is a matter of
    /// taste.
    pub(in crate::table) fn write(self, time: f64, zone: &TimeZone) -> Option<String> {
        let stamp = Timestamp::from_microsecond((time * 1e6).round() as i64).ok()?;
        let date = zone.to_datetime(stamp);
        let day = date.date();
        if date != DateTime::from(day) || !(1000..=9999).contains(&day.year()) {
            return None;
        }
        let first_of = |months: i8| day.day() == 1 && (day.month() - 1) % months == 0;
        match self {
            DateFormat::Ymd | DateFormat::Dmy | DateFormat::Mdy => None,
            // Other years are not read without a separator.
            DateFormat::Yyyymmdd if !YEARS.contains(&i32::from(day.year())) => None,
            DateFormat::Yyyymmdd => Some(format!("{}{:02}{:02}", day.year(), day.month(), day.day())),
            DateFormat::Month if first_of(1) => Some(format!("{}-{:02}", day.year(), day.month())),
            DateFormat::Quarter if first_of(3) => {
                Some(format!("{}Q{}", day.year(), (day.month() - 1) / 3 + 1))
            }
            DateFormat::Year if first_of(12) => Some(day.year().to_string()),
            _ => None,
        }
    }
}

impl fmt::Display for DateFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DateFormat::Ymd => "dates, year first",
            DateFormat::Dmy => "dates, day first",
            DateFormat::Mdy => "dates, month first",
            DateFormat::Yyyymmdd => "dates without separators, year first",
            DateFormat::Month => "months",
            DateFormat::Quarter => "quarters of years",
            DateFormat::Year => "years",
        })
    }
}

fn whole(date: Date) -> Option<(DateTime, &'static str)> {
    Some((date.into(), ""))
}

fn date(year: i32, month: i32, day: i32) -> Option<Date> {
    Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// So many digits as a number, and nothing else; whole numbers of a data frame may have become `20240131.0`.
fn number(text: &str, length: usize) -> Option<i32> {
    let text = text.strip_suffix(".0").unwrap_or(text);
    match digits(text, length, length)? {
        (number, "") => Some(number),
        _ => None,
    }
}

fn yyyymmdd(text: &str) -> Option<Date> {
    let number = number(text, 8)?;
    date(number / 10_000, number / 100 % 100, number % 100).filter(|_| YEARS.contains(&(number / 10_000)))
}

fn year(text: &str) -> Option<Date> {
    date(number(text, 4)?, 1, 1)
}

fn month(text: &str) -> Option<Date> {
    if let Some(number) = number(text, 6).filter(|number| YEARS.contains(&(number / 100))) {
        return date(number / 100, number % 100, 1);
    }
    let is_between = |sign: char| matches!(sign, '-' | '/' | '.' | ' ');
    if let Some((month, rest)) = month_name(text) {
        return date(number(rest.trim_start_matches(is_between), 4)?, month, 1);
    }
    match digits(text, 4, 4) {
        Some((year, rest)) => {
            let rest = rest.strip_prefix(is_between).unwrap_or(rest);
            if let Some((month, "")) = month_name(rest) {
                return date(year, month, 1);
            }
            let marked = rest.strip_prefix(['M', 'm']);
            match digits(marked.unwrap_or(rest), 1, 2)? {
                (month, "") if marked.is_some() || !text[4..].starts_with(|c: char| c.is_ascii_digit()) => {
                    date(year, month, 1)
                }
                _ => None,
            }
        }
        None => {
            let (month, rest) = digits(text, 1, 2)?;
            date(number(rest.strip_prefix(['/', '-'])?, 4)?, month, 1)
        }
    }
}

fn quarter(text: &str) -> Option<Date> {
    let is_between = |sign: char| matches!(sign, '-' | '/' | ' ');
    let first_month = |quarter: i32| (1..=4).contains(&quarter).then_some(3 * quarter - 2);
    if let Some(rest) = text.strip_prefix(['Q', 'q']) {
        let (quarter, rest) = digits(rest, 1, 1)?;
        return date(number(rest.trim_start_matches(is_between), 4)?, first_month(quarter)?, 1);
    }
    let (year, rest) = digits(text, 4, 4)?;
    let rest = rest.strip_prefix(is_between).unwrap_or(rest).strip_prefix(['Q', 'q'])?;
    match digits(rest, 1, 1)? {
        (quarter, "") => date(year, first_month(quarter)?, 1),
        _ => None,
    }
}
