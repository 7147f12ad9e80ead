//! Steps of whole months, which have no fixed length.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use super::in_zone;
use crate::table::TimeScale;
use crate::table::time::zone_named;

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
    /// The time so many steps after another one of the same calendar; `None` beyond the years that there are.
    pub(in crate::table) fn after(self, time: f64, steps: i32, zone: &TimeZone) -> Option<f64> {
        let day = day_of(time, zone)?;
        let months = i64::from(steps).checked_mul(i64::from(self.months))?;
        let day = day.first_of_month().checked_add(Span::new().try_months(months).ok()?).ok()?;
        let day = if self.month_end { day.last_of_month() } else { day };
        in_zone(DateTime::from(day), zone)
    }
}

/// Finds the step that all distances between times of the same series are multiples of.
pub(in crate::table) struct CalendarSearch {
    /// For the first and for the last days of months; `None` where a time is no midnight of one.
    kinds: [Option<Kind>; 2],
    zone: TimeZone,
    /// Times of the longest series.
    most: usize,
}

struct Kind {
    step: i64,
    month_end: bool,
}

impl CalendarSearch {
    /// A search before the first series; numbers keep to no calendar.
    pub(in crate::table) fn new(scale: &TimeScale) -> Self {
        let zone = match scale {
            TimeScale::Number => None,
            TimeScale::Date { zone, .. } => zone_named(zone),
        };
        let kind = |month_end| zone.as_ref().map(|_| Kind { step: 0, month_end });
        Self { kinds: [kind(false), kind(true)], zone: zone.unwrap_or(TimeZone::UTC), most: 0 }
    }

    /// Takes the times of a series.
    pub(in crate::table) fn add(&mut self, times: &[f64]) {
        self.most = self.most.max(times.len());
        for found in &mut self.kinds {
            let Some(kind) = found else { continue };
            let mut last = None;
            for &time in times {
                let Some(month) = month_of(time, &self.zone, kind.month_end) else {
                    *found = None;
                    break;
                };
                kind.step = last.map_or(kind.step, |last| gcd(kind.step, month - last));
                last = Some(month);
            }
        }
    }

    /// The step; that of first days before that of last days.
    pub(in crate::table) fn finish(self) -> Option<CalendarStep> {
        let step = |kind: Kind| {
            let months = u32::try_from(kind.step).ok().filter(|step| *step > 0 && self.most >= FEWEST)?;
            Some(CalendarStep { months, month_end: kind.month_end })
        };
        self.kinds.into_iter().flatten().find_map(step)
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
