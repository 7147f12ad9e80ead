//! Dates and times of day as people write them.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};

/// Seconds since the beginning of 1970, UTC, of a date such as `2024-01-31`, `2024-01-31 14:05`,
/// `2024/01/31T14:05:06.789+01:00`; `zone` is where it was written if it does not say.
pub(super) fn parse(text: &str, zone: &TimeZone) -> Option<f64> {
    if text.ends_with(']') {
        return text.parse::<Zoned>().ok().map(|zoned| seconds(zoned.timestamp()));
    }
    let (date, rest) = date_and_time(text.as_bytes())?;
    match rest.trim_ascii_start() {
        [] => in_zone(date, zone),
        [b'Z' | b'z'] => in_zone(date, &TimeZone::UTC),
        b"UTC" | b"GMT" => in_zone(date, &TimeZone::UTC),
        rest => match offset(rest)? {
            (offset, []) => offset.to_timestamp(date).ok().map(seconds),
            _ => None,
        },
    }
}

/// Whether a text is a date, in whatever zone.
pub(super) fn is_date(text: &str) -> bool {
    parse(text, &TimeZone::UTC).is_some()
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
    let (&sign, rest) = bytes.split_first()?;
    let sign = match sign {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, rest) = digits(rest, 2, 2)?;
    let (minutes, rest) = match rest {
        [b':', rest @ ..] => digits(rest, 2, 2)?,
        [b'0'..=b'9', ..] => digits(rest, 2, 2)?,
        _ => (0, rest),
    };
    if minutes > 59 {
        return None;
    }
    Some((Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()?, rest))
}

fn seconds(timestamp: Timestamp) -> f64 {
    timestamp.as_second() as f64 + f64::from(timestamp.subsec_nanosecond()) / 1e9
}

/// `year-month-day`, and the time of day if there is one; and what follows.
fn date_and_time(bytes: &[u8]) -> Option<(DateTime, &[u8])> {
    let (year, rest) = digits(bytes, 4, 4)?;
    let (&separator, rest) = rest.split_first()?;
    if !matches!(separator, b'-' | b'/' | b'.') {
        return None;
    }
    let (month, rest) = digits(rest, 1, 2)?;
    let (day, mut rest) = digits(rest.strip_prefix(&[separator])?, 1, 2)?;
    let (mut hour, mut minute, mut second, mut nanosecond) = (0, 0, 0, 0);
    if let [b'T' | b't' | b' ', time @ ..] = rest
        && let Some(found) = digits(time.trim_ascii_start(), 1, 2)
    {
        (hour, rest) = found;
        (minute, rest) = digits(rest.strip_prefix(b":")?, 2, 2)?;
        if let [b':', seconds @ ..] = rest {
            (second, rest) = digits(seconds, 2, 2)?;
            if let [b'.' | b',', fraction @ ..] = rest {
                let length = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let (shown, _) = digits(fraction, 1, 9)?;
                nanosecond = shown * 10_i32.pow(9 - length.min(9) as u32);
                rest = &fraction[length..];
            }
        }
    }
    let narrow = |number: i32| i8::try_from(number).ok();
    let date = DateTime::new(
        i16::try_from(year).ok()?,
        narrow(month)?,
        narrow(day)?,
        narrow(hour)?,
        narrow(minute)?,
        narrow(second)?,
        nanosecond,
    );
    Some((date.ok()?, rest))
}

/// A number of at least `least` digits, of which at most `most` are read, and what follows it.
fn digits(bytes: &[u8], least: usize, most: usize) -> Option<(i32, &[u8])> {
    let length = bytes.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    if length < least {
        return None;
    }
    let number = bytes[..length].iter().fold(0, |number, byte| number * 10 + i32::from(byte - b'0'));
    Some((number, &bytes[length..]))
}
