//! Whether the decimals of a table stand after a comma.

use super::cell::Cell;
use super::rows::{Next, Rows};
use crate::table::TableError;

/// The sign before the decimals of a table: a comma where that is certain, a point otherwise.
///
/// It is certain where some cell cannot be read otherwise: `0,5` and `12,25` have decimals, while `1,250` may be a
/// thousand; and where no cell has decimals after a point. The file is rewound.
pub(super) fn decimal_sign(rows: &mut dyn Rows) -> Result<u8, TableError> {
    let columns = rows.header().len();
    let (mut commas, mut points) = (false, false);
    for _ in 0..rows.ahead() {
        match rows.advance()? {
            Next::End => break,
            Next::Ragged { .. } => continue,
            Next::Row { .. } => {}
        }
        for column in 0..columns {
            if let Cell::Text(text) = rows.cell(column) {
                commas |= has_decimals(text, b',') && !is_thousands(text, b',');
                points |= has_decimals(text, b'.') && !is_thousands(text, b'.');
            }
        }
    }
    rows.rewind();
    Ok(if commas && !points { b',' } else { b'.' })
}

/// The number of a text with decimals after a comma, and perhaps points between thousands.
pub(super) fn with_comma(text: &str) -> Option<f64> {
    let (whole, decimals) = match text.split_once(',') {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (text, None),
    };
    if !whole.contains('.') && decimals.is_none() {
        return text.parse().ok();
    }
    let size = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    if whole.contains('.') && !is_grouped(size, '.') {
        return None;
    }
    let whole = whole.replace('.', "");
    match decimals {
        Some(decimals) if decimals.contains(['.', ',', '+']) => None,
        Some(decimals) => format!("{whole}.{decimals}").parse().ok(),
        None => whole.parse().ok(),
    }
}

/// Whether a text may be a number with a comma, for decimals or between thousands.
pub(super) fn may_have_comma(text: &str) -> bool {
    text.contains(',')
        && (with_comma(text).is_some() || is_grouped(text.strip_prefix('-').unwrap_or(text), ','))
}

/// Digits, the sign, and digits, as in `-12,5`.
fn has_decimals(text: &[u8], sign: u8) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let mut parts = text.split(|&byte| byte == sign);
    let is_digits = |part: Option<&[u8]>| {
        part.is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
    };
    is_digits(parts.next()) && is_digits(parts.next()) && parts.next().is_none()
}

/// Whether what has decimals may as well have thousands: `1,250`, but neither `0,250` nor `1234,250`.
fn is_thousands(text: &[u8], sign: u8) -> bool {
    let text = std::str::from_utf8(text).unwrap_or_default();
    is_grouped(text.strip_prefix('-').unwrap_or(text), char::from(sign))
}

/// Groups of three digits, the first of one to three and without a zero at its beginning.
fn is_grouped(text: &str, sign: char) -> bool {
    let mut groups = text.split(sign);
    let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len())
        && !first.starts_with('0')
        && is_digits(first)
        && groups.all(|group| group.len() == 3 && is_digits(group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_are_decimals_and_points_are_thousands() {
        let read = ["1,5", "-0,25", "1.234,5", "1.234", "7", "1e3", "2,5e-1"].map(with_comma);
        assert_eq!(read, [1.5, -0.25, 1234.5, 1234.0, 7.0, 1000.0, 0.25].map(Some));
        assert_eq!(["1.5", "1,2,3", "1,2.5", "12.34,5", "x,5", ","].map(with_comma), [None; 6]);
    }
}
