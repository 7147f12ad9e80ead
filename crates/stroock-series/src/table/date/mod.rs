//! Dates and times of day as people write them.

mod calendar;
mod format;
mod text;

use jiff::civil::{Date, DateTime};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};

pub(super) use calendar::CalendarSearch;
pub use calendar::CalendarStep;
pub use format::DateFormat;

use text::digits;

/// Seconds since the beginning of 1970, UTC, of a date in a format, such as `2024-01-31 14:05` or
/// `2024/01/31T14:05:06.789+01:00`; `zone` is where it was written if it does not say.
pub(super) fn parse(text: &str, format: DateFormat, zone: &TimeZone) -> Option<f64> {
    if text.ends_with(']') {
        return text.parse::<Zoned>().ok().map(|zoned| seconds(zoned.timestamp()));
    }
    let (date, rest) = format.read(text).or_else(|| match format.is_whole() {
        false => DateFormat::Ymd.read(text),
        true => None,
    })?;
    match rest.trim_start() {
        "" => in_zone(date, zone),
        "Z" | "z" | "UTC" | "GMT" => in_zone(date, &TimeZone::UTC),
        rest => match offset(rest.as_bytes())? {
            (offset, []) => offset.to_timestamp(date).ok().map(seconds),
            _ => None,
        },
    }
}

/// As [`parse`], whatever the format, as long as only one can be meant: the given one before others.
pub(super) fn parse_any(text: &str, format: DateFormat, zone: &TimeZone) -> Option<f64> {
    let others =
        [DateFormat::Ymd, DateFormat::Month, DateFormat::Quarter, DateFormat::Yyyymmdd, DateFormat::Year];
    std::iter::once(format).chain(others).find_map(|format| parse(text, format, zone))
}

/// The day of a date in a format, with nothing after it.
pub(super) fn day(text: &str, format: DateFormat) -> Option<Date> {
    let found = format.read(text).or_else(|| DateFormat::Ymd.read(text).filter(|_| !format.is_whole()))?;
    (found.1.is_empty() && found.0 == DateTime::from(found.0.date())).then(|| found.0.date())
}

/// Whether a text is a date in a format, in whatever zone.
pub(super) fn is_date(text: &str, format: DateFormat) -> bool {
    parse(text, format, &TimeZone::UTC).is_some()
}

/// The instant of a date in a zone. A date that the clocks skip or show twice is read as if they had not been
/// turned.
pub(super) fn in_zone(date: DateTime, zone: &TimeZone) -> Option<f64> {
    zone.to_ambiguous_timestamp(date).compatible().ok().map(seconds)
}

/// Hours of `47:30` or `47:30:15`.
pub(super) fn clock_hours(text: &str) -> Option<f64> {
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |text| (-1.0, text));
    let mut parts = text.split(':');
    let digits =
        |part: &str| !part.is_empty() && part.len() <= 6 && part.bytes().all(|byte| byte.is_ascii_digit());
    let whole = |part: &str| if digits(part) { part.parse::<f64>().ok() } else { None };
    let hours = whole(parts.next()?)?;
    let minutes = whole(parts.next()?).filter(|minutes| *minutes < 60.0)?;
    let seconds = match parts.next() {
        None => 0.0,
        Some(part) if part.bytes().next().is_some_and(|byte| byte.is_ascii_digit()) => {
            part.parse().ok().filter(|seconds: &f64| *seconds < 60.0)?
        }
        Some(_) => return None,
    };
    // One division, so that the hours are the nearest number to the true ones.
    parts.next().is_none().then(|| sign * (hours * 3600.0 + minutes * 60.0 + seconds) / 3600.0)
}

/// An offset from UTC such as `+01:00`, `-0330` or `+01`, and what follows it.
pub(super) fn offset(bytes: &[u8]) -> Option<(Offset, &[u8])> {
    let text = std::str::from_utf8(bytes).ok()?;
    let sign = match text.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let (hours, rest) = digits(&text[1..], 2, 2)?;
    let (minutes, rest) = match rest.as_bytes() {
        [b':', ..] => digits(&rest[1..], 2, 2)?,
        [b'0'..=b'9', ..] => digits(rest, 2, 2)?,
        _ => (0, rest),
    };
    if minutes > 59 {
        return None;
    }
    Some((Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()?, rest.as_bytes()))
}

/// Seconds since the beginning of 1970.
pub(super) fn seconds(timestamp: Timestamp) -> f64 {
    timestamp.as_second() as f64 + f64::from(timestamp.subsec_nanosecond()) / 1e9
}
