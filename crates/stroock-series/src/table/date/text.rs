//! Days and times of day as people write them.

use jiff::civil::DateTime;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// `year-month-day`, or a day with the name of its month, and the time of day if there is one; and what follows.
pub(super) fn day_text(text: &str) -> Option<(DateTime, &str)> {
    let (year, month, day, rest) = year_first(text).or_else(|| named(text))?;
    with_clock(year, month, day, rest)
}

/// `day.month.year`, or `month/day/year` where the day is not first; and what follows.
pub(super) fn year_last(text: &str, day_first: bool) -> Option<(DateTime, &str)> {
    let (first, rest) = digits(text, 1, 2)?;
    let separator = rest.chars().next().filter(|sign| matches!(sign, '-' | '/' | '.'))?;
    let (second, rest) = digits(&rest[1..], 1, 2)?;
    let (year, rest) = digits(rest.strip_prefix(separator)?, 4, 4)?;
    let (day, month) = if day_first { (first, second) } else { (second, first) };
    with_clock(year, month, day, rest)
}

fn year_first(text: &str) -> Option<(i32, i32, i32, &str)> {
    let (year, rest) = digits(text, 4, 4)?;
    let separator = rest.chars().next().filter(|sign| matches!(sign, '-' | '/' | '.'))?;
    let (month, rest) = digits(&rest[1..], 1, 2)?;
    let (day, rest) = digits(rest.strip_prefix(separator)?, 1, 2)?;
    Some((year, month, day, rest))
}

/// `Jan 31 2024`, `January 31, 2024`, `31 Jan 2024`, `31-Jan-2024`, `2024-Jan-31`.
fn named(text: &str) -> Option<(i32, i32, i32, &str)> {
    let skip = |text| str::trim_start_matches(text, [' ', '-', ',', '.', '/']);
    if let Some((month, rest)) = month_name(text) {
        let (day, rest) = digits(skip(rest), 1, 2)?;
        let (year, rest) = digits(skip(rest.strip_prefix([' ', '-', ',', '/'])?), 4, 4)?;
        return Some((year, month, day, rest));
    }
    let (first, rest) = digits(text, 1, 4)?;
    let (month, rest) = month_name(skip(rest))?;
    match digits(text, 4, 4) {
        Some((year, _)) => {
            let (day, rest) = digits(skip(rest), 1, 2)?;
            Some((year, month, day, rest))
        }
        None => {
            let (year, rest) = digits(skip(rest), 4, 4)?;
            Some((year, month, first, rest))
        }
    }
}

/// The number of a month by its English name or the beginning of it, from three letters on; and what follows.
pub(super) fn month_name(text: &str) -> Option<(i32, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let name = text[..length].to_ascii_lowercase();
    let place = MONTHS.iter().position(|month| length >= 3 && month.starts_with(&name))?;
    Some((place as i32 + 1, &text[length..]))
}

/// A day with the time of day that may follow it.
fn with_clock(year: i32, month: i32, day: i32, rest: &str) -> Option<(DateTime, &str)> {
    let (mut hour, mut minute, mut second, mut nanosecond) = (0, 0, 0, 0);
    let mut rest = rest;
    if let Some(time) = rest.strip_prefix(['T', 't', ' ', ','])
        && let Some(found) = digits(time.trim_start(), 1, 2)
    {
        (hour, rest) = found;
        (minute, rest) = digits(rest.strip_prefix(':')?, 2, 2)?;
        if let Some(seconds) = rest.strip_prefix(':') {
            (second, rest) = digits(seconds, 2, 2)?;
            if let Some(fraction) = rest.strip_prefix(['.', ',']) {
                let length = fraction.bytes().take_while(u8::is_ascii_digit).count();
                let (shown, _) = digits(fraction, 1, 9)?;
                nanosecond = shown * 10_i32.pow(9 - length.min(9) as u32);
                rest = &fraction[length..];
            }
        }
        let half = rest.trim_start();
        let named = |name: &str| half.get(..2).is_some_and(|start| start.eq_ignore_ascii_case(name));
        if named("am") || named("pm") {
            if !(1..=12).contains(&hour) {
                return None;
            }
            hour = hour % 12 + if named("pm") { 12 } else { 0 };
            rest = &half[2..];
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
pub(super) fn digits(text: &str, least: usize, most: usize) -> Option<(i32, &str)> {
    let length = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    if length < least {
        return None;
    }
    let number = text.bytes().take(length).fold(0, |number, byte| number * 10 + i32::from(byte - b'0'));
    Some((number, &text[length..]))
}
