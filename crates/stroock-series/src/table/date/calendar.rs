//! Steps of whole months, which have no fixed length.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use super::in_zone;

/// A step of whole months between times that are all the first or all the last day of a month: 1 for months, 3 for
/// quarters, 12 for years.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalendarStep {
    /// Months of a step.
    pub months: u32,
    /// Whether the times are the last days of their months, and not the first.
    #[serde(default)]
    pub month_end: bool,
}

/// Times that show a calendar, at least: two times have a distance, but no rhythm.
const FEWEST: usize = 3;

impl CalendarStep {
    /// The step that all distances are multiples of; `None` where a time is no midnight of a first (or last) day.
    pub(in crate::table) fn of<'a>(
        series: impl Iterator<Item = &'a [f64]> + Clone,
        zone: &TimeZone,
    ) -> Option<Self> {
        let of_kind = |month_end: bool| {
            let (mut step, mut most) = (0, 0);
            for times in series.clone() {
                let mut last = None;
                for &time in times {
                    let month = month_of(time, zone, month_end)?;
                    step = last.map_or(step, |last| gcd(step, month - last));
                    last = Some(month);
                }
                most = most.max(times.len());
            }
            let months = u32::try_from(step).ok().filter(|step| *step > 0 && most >= FEWEST)?;
            Some(CalendarStep { months, month_end })
        };
        of_kind(false).or_else(|| of_kind(true))
    }

    /// The time so many steps after another one of the same calendar; `None` beyond the years that there are.
    pub(in crate::table) fn after(self, time: f64, steps: i32, zone: &TimeZone) -> Option<f64> {
        let day = day_of(time, zone)?;
        let months = i64::from(steps).checked_mul(i64::from(self.months))?;
        let day = day.first_of_month().checked_add(Span::new().try_months(months).ok()?).ok()?;
        let day = if self.month_end { day.last_of_month() } else { day };
        in_zone(DateTime::from(day), zone)
    }
}

/// The day that begins at a time.
fn day_of(time: f64, zone: &TimeZone) -> Option<Date> {
    let stamp = Timestamp::from_microsecond((time * 1e6).round() as i64).ok()?;
    let date = zone.to_datetime(stamp);
    (date == DateTime::from(date.date())).then(|| date.date())
}

/// Months since the year 0 of a first (or last) day of a month.
fn month_of(time: f64, zone: &TimeZone, month_end: bool) -> Option<i64> {
    let day = day_of(time, zone)?;
    let is_there = if month_end { day == day.last_of_month() } else { day.day() == 1 };
    is_there.then(|| 12 * i64::from(day.year()) + i64::from(day.month()) - 1)
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}
