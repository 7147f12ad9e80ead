//! Numbers, spans and times as a person reads them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::super::TimeScale;
use super::super::time::zone_named;

const UNITS: [(f64, &str, &str); 6] = [
    (365.25 * 86_400.0, "year", "years"),
    (86_400.0, "day", "days"),
    (3_600.0, "h", "h"),
    (60.0, "min", "min"),
    (1.0, "s", "s"),
    (1e-3, "ms", "ms"),
];
/// Below so many years, spans are in days: `2 years` is a date, `400 days` is a length.
const YEARS: f64 = 2.0;

/// How spans and points of time are written for a person.
#[derive(Clone, Debug)]
pub(in crate::table) enum Amount {
    /// As the numbers of the table.
    Number,
    /// As multiples of seconds, and as dates in a zone.
    Date(TimeZone),
}

impl Amount {
    /// The way that suits a scale. Dates are in UTC where the zone is not known here.
    pub(in crate::table) fn of(scale: &TimeScale) -> Self {
        match scale {
            TimeScale::Number => Amount::Number,
            TimeScale::Date { zone, .. } => Amount::Date(zone_named(zone).unwrap_or(TimeZone::UTC)),
        }
    }

    /// A length of time: `2 days`, `90 s`, or just `0.5`.
    pub(in crate::table) fn span(&self, length: f64) -> String {
        let Amount::Date(_) = self else { return number(length) };
        let is_reached = |unit: f64| length.abs() >= if unit == UNITS[0].0 { YEARS * unit } else { unit };
        if length == 0.0 {
            return "0 s".into();
        }
        let (unit, one, many) = UNITS.into_iter().find(|unit| is_reached(unit.0)).unwrap_or(UNITS[5]);
        let count = number(length / unit);
        let name = if count == "1" { one } else { many };
        format!("{count} {name}")
    }

    /// A point of time.
    pub(in crate::table) fn point(&self, time: f64) -> String {
        let date = match self {
            Amount::Number => None,
            // Rounded to a microsecond, about what a double of seconds since 1970 can tell.
            Amount::Date(zone) => Timestamp::from_microsecond((time * 1e6).round() as i64)
                .ok()
                .map(|stamp| stamp.to_zoned(zone.clone())),
        };
        let Some(date) = date else { return number(time) };
        let format = match (date.subsec_nanosecond(), date.second(), date.minute(), date.hour()) {
            (0, 0, 0, 0) => "%Y-%m-%d",
            (0, 0, _, _) => "%Y-%m-%d %H:%M",
            (0, _, _, _) => "%Y-%m-%d %H:%M:%S",
            _ => "%Y-%m-%d %H:%M:%S%.f",
        };
        date.strftime(format).to_string()
    }
}

/// A number with about four significant digits, and all digits before the point up to ten millions.
pub(in crate::table) fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || !value.is_finite() {
        return if size == 0.0 { "0".into() } else { value.to_string() };
    }
    if !(1e-4..1e7).contains(&size) {
        let text = format!("{value:.3e}");
        return match text.split_once('e') {
            Some((digits, power)) => format!("{}e{power}", trimmed(digits)),
            None => text,
        };
    }
    let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
    trimmed(&format!("{value:.decimals$}")).to_string()
}

fn trimmed(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (43_824.0, "43824"),
            (98.613_2, "98.61"),
            (-0.012_345, "-0.01235"),
            (1.5e12, "1.5e12"),
            (0.000_012, "1.2e-5"),
            (999.96, "1000"),
            (100.0, "100"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn spans_have_the_unit_of_their_size() {
        let amount = Amount::of(&TimeScale::date("UTC"));
        let cases =
            [(86_400.0, "1 day"), (172_800.0, "2 days"), (5_400.0, "1.5 h"), (0.25, "250 ms"), (0.0, "0 s")];
        for (length, text) in cases {
            assert_eq!(amount.span(length), text);
        }
        assert_eq!(amount.span(400.0 * 86_400.0), "400 days");
        assert_eq!(amount.span(365.25 * 86_400.0 * 5.0), "5 years");
        assert_eq!(Amount::Number.span(0.5), "0.5");
    }

    #[test]
    fn points_are_dates_in_their_zone() {
        let amount = Amount::of(&TimeScale::date("Asia/Shanghai"));
        assert_eq!(amount.point(1_262_275_200.0), "2010-01-01");
        assert_eq!(amount.point(1_262_278_800.5), "2010-01-01 01:00:00.5");
        assert_eq!(amount.point(1e300), "1e300");
        assert_eq!(Amount::of(&TimeScale::date("nowhere")).point(0.0), "1970-01-01");
    }
}
