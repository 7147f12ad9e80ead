//! How the times of a table are written.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::date::{self, CalendarStep, DateFormat};

/// How times are written, and what a number of [`crate::Series::times`] means.
///
/// ```
/// use stroock_series::table::TimeScale;
/// let date = TimeScale::date("UTC");
/// assert_eq!(date.parse("1970-01-02 06:00"), Some(108_000.0));
/// assert_eq!(date.write(108_000.5), "1970-01-02T06:00:00.5Z");
/// assert_eq!(date.parse_length("15min"), Some(900.0));
/// assert_eq!(date.write_length(21_600.0), "6 h");
/// assert_eq!(TimeScale::Number.parse("47:30"), Some(47.5));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeScale {
    /// As numbers, in a unit that only the user knows; or as `hours:minutes`, which are hours.
    Number,
    /// As dates; the numbers are seconds since the beginning of 1970, UTC.
    Date {
        /// Name of the zone that dates without one are in, and that dates are written in.
        zone: String,
        /// How dates are written.
        #[serde(default, skip_serializing_if = "is_default")]
        format: DateFormat,
        /// The step of whole months that the times keep to, where they do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        calendar: Option<CalendarStep>,
    },
}

fn is_default(format: &DateFormat) -> bool {
    *format == DateFormat::default()
}

/// Lengths of time with a name, in seconds.
const UNITS: [(&[&str], f64); 5] = [
    (&["w", "week", "weeks"], 604_800.0),
    (&["d", "day", "days"], 86_400.0),
    (&["h", "hour", "hours"], 3_600.0),
    (&["min", "m", "minute", "minutes"], 60.0),
    (&["s", "sec", "second", "seconds"], 1.0),
];

impl TimeScale {
    /// Dates with the year first, in a zone.
    pub fn date(zone: impl Into<String>) -> Self {
        TimeScale::Date { zone: zone.into(), format: DateFormat::default(), calendar: None }
    }

    /// The number of a time that is written like those of the table, or as a date in a way that leaves no doubt; `None`
    /// if it is not.
    pub fn parse(&self, text: &str) -> Option<f64> {
        let text = text.trim();
        match self {
            TimeScale::Number => {
                text.parse().ok().filter(|time: &f64| time.is_finite()).or_else(|| date::clock_hours(text))
            }
            TimeScale::Date { zone, format, .. } => date::parse_any(text, *format, &zone_named(zone)?),
        }
    }

    /// A length of time: a number in the unit of the table, or for dates `90s`, `15min`, `6h`, `2d`, `1w`, where
    /// a number alone means seconds.
    pub fn parse_length(&self, text: &str) -> Option<f64> {
        let text = text.trim();
        let number = |text: &str| text.trim().parse().ok().filter(|length: &f64| length.is_finite());
        if let (TimeScale::Date { .. }, None) = (self, number(text)) {
            let unit = text.trim_start_matches(|sign: char| !sign.is_alphabetic());
            let (_, seconds) = UNITS.iter().find(|(names, _)| names.contains(&unit))?;
            return Some(number(&text[..text.len() - unit.len()])? * seconds);
        }
        number(text)
    }

    /// A time as the user writes it: the shortest number that means it; the month, quarter, year or day where the
    /// table has these and the time is the beginning of one; or a date by RFC 3339 in the zone of the table, to the
    /// microsecond.
    pub fn write(&self, time: f64) -> String {
        self.write_period(time).unwrap_or_else(|| self.write_instant(time))
    }

    /// Times as [`TimeScale::write`] has them, all of them in one way.
    pub fn write_all(&self, times: &[f64]) -> Vec<String> {
        let periods: Option<Vec<String>> = times.iter().map(|&time| self.write_period(time)).collect();
        periods.unwrap_or_else(|| times.iter().map(|&time| self.write_instant(time)).collect())
    }

    /// The time that is so many calendar steps after another; `None` where the times keep to no calendar.
    ///
    /// ```
    /// use stroock_series::table::{CalendarStep, DateFormat, TimeScale};
    /// let calendar = Some(CalendarStep { months: 1, month_end: false });
    /// let months = TimeScale::Date { zone: "UTC".into(), format: DateFormat::Month, calendar };
    /// let january = months.parse("2024-01").unwrap();
    /// assert_eq!(months.write(months.calendar_steps_after(january, 14).unwrap()), "2025-03");
    /// ```
    pub fn calendar_steps_after(&self, time: f64, steps: i32) -> Option<f64> {
        let TimeScale::Date { zone, calendar: Some(calendar), .. } = self else { return None };
        calendar.after(time, steps, &zone_named(zone)?)
    }

    fn write_period(&self, time: f64) -> Option<String> {
        let TimeScale::Date { zone, format, .. } = self else { return None };
        format.write(time, &zone_named(zone)?)
    }

    fn write_instant(&self, time: f64) -> String {
        let TimeScale::Date { zone, .. } = self else { return shortest(time) };
        let microseconds = (time * 1e6).round();
        let timestamp = Timestamp::from_microsecond(microseconds as i64);
        match (timestamp, zone_named(zone)) {
            _ if microseconds.is_nan() => shortest(time),
            (Err(_), _) => shortest(time),
            // The local mean times of old have seconds, which an offset by RFC 3339 cannot have: those are in UTC.
            (Ok(timestamp), Some(zone))
                if zone != TimeZone::UTC && zone.to_offset(timestamp).seconds() % 60 == 0 =>
            {
                timestamp.display_with_offset(zone.to_offset(timestamp)).to_string()
            }
            (Ok(timestamp), _) => timestamp.to_string(),
        }
    }

    /// A length of time for a reader, to six digits: `6 h`, `2 d`, or the number.
    pub fn write_length(&self, length: f64) -> String {
        let unit = match self {
            TimeScale::Number => return rounded(length),
            TimeScale::Date { .. } => {
                // A week is seven days to most readers.
                UNITS[1..].iter().find(|(_, seconds)| length.abs() >= *seconds).unwrap_or(&UNITS[4])
            }
        };
        format!("{} {}", rounded(length / unit.1), unit.0[0])
    }

    /// What the times are: `numbers`, `dates, day first`, `months, in steps of 3`.
    pub fn in_words(&self) -> String {
        let TimeScale::Date { format, calendar, .. } = self else { return "numbers".into() };
        match calendar {
            Some(CalendarStep { months: 1, .. }) => format!("{format}, in steps of a month"),
            Some(CalendarStep { months, .. }) if months % 12 == 0 => {
                let years = months / 12;
                let many = if years == 1 { "a year".into() } else { format!("{years} years") };
                format!("{format}, in steps of {many}")
            }
            Some(CalendarStep { months, .. }) => format!("{format}, in steps of {months} months"),
            None => format.to_string(),
        }
    }

    /// Unit of lengths of time: `s` for dates, nothing for numbers, whose unit only the user knows.
    pub fn unit(&self) -> &'static str {
        match self {
            TimeScale::Number => "",
            TimeScale::Date { .. } => "s",
        }
    }
}

/// A zone by its name, or by its offset from UTC such as `+01:00`.
pub(super) fn zone_named(name: &str) -> Option<TimeZone> {
    match name.as_bytes() {
        b"Z" => Some(TimeZone::UTC),
        [b'+' | b'-', ..] => date::offset(name.as_bytes()).map(|(offset, _)| TimeZone::fixed(offset)),
        _ if name.eq_ignore_ascii_case("utc") => Some(TimeZone::UTC),
        _ => TimeZone::get(name).ok(),
    }
}

/// The shortest text that reads back as the number, with an exponent where that is much shorter.
pub(super) fn shortest(number: f64) -> String {
    match number.abs() {
        size if size != 0.0 && !(1e-5..1e16).contains(&size) && size.is_finite() => format!("{number:e}"),
        _ => number.to_string(),
    }
}

fn rounded(number: f64) -> String {
    format!("{number:.5e}").parse().map_or_else(|_| number.to_string(), shortest)
}
