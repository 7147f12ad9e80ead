//! Steps from one time to the next: lengths of time, or days and months of the calendar.

use jiff::civil::{Date, DateTime, Time};
use jiff::{Span, Timestamp};
use serde::{Deserialize, Serialize};

use super::time::zone_named;
use super::{TimeScale, date};

const DAY: f64 = 86_400.0;
/// A day that is an hour longer or shorter is a day.
const SLACK: f64 = 0.05;

/// The usual step between the times of series.
///
/// ```
/// use stroock_series::table::{Step, TimeScale};
/// let dates = TimeScale::date("UTC");
/// let months = ["2024-01-31", "2024-02-29", "2024-03-31"].map(|text| dates.parse(text).unwrap());
/// let step = Step::usual([&months[..]], &dates).unwrap();
/// assert_eq!(step, Step::Months { count: 1, last_day: true });
/// assert_eq!(dates.write(step.after(&dates, months[2], 1)), "2024-04-30T00:00:00Z");
/// assert_eq!(step.place(&dates, months[2]) - step.place(&dates, months[0]), 2.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// The same length of time, in the unit of the times.
    Length(f64),
    /// So many days of the calendar, at the same time of day.
    Days(u32),
    /// So many months of the calendar, on the same day.
    Months {
        /// How many.
        count: u32,
        /// Whether it is the last day of every month.
        last_day: bool,
    },
}

impl Step {
    /// The usual step between neighbouring times of series; `None` where no series has two times.
    pub fn usual<'a>(series: impl IntoIterator<Item = &'a [f64]>, scale: &TimeScale) -> Option<Self> {
        let mut gaps = Vec::new();
        let (mut months, mut first) = (Months::default(), true);
        for times in series {
            gaps.extend(times.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0));
            if first || months.possible {
                months.add(times, scale, first);
                first = false;
            }
        }
        gaps.sort_by(f64::total_cmp);
        let length = *gaps.get(gaps.len() / 2).filter(|gap| gap.is_finite())?;
        if let TimeScale::Date { .. } = scale {
            if let Some(step) = months.step() {
                return Some(step);
            }
            let days = length / DAY;
            if days > 1.0 - SLACK && (days - days.round()).abs() < SLACK && days < 10_000.0 {
                return Some(Step::Days(days.round() as u32));
            }
        }
        Some(Step::Length(length))
    }

    /// The time `count` steps after another one.
    pub fn after(&self, scale: &TimeScale, time: f64, count: usize) -> f64 {
        let by_length = time + self.length() * count as f64;
        let span = match *self {
            Step::Length(_) => return by_length,
            Step::Days(days) => Span::new().try_days(i64::from(days).saturating_mul(count as i64)),
            Step::Months { count: months, .. } => {
                Span::new().try_months(i64::from(months).saturating_mul(count as i64))
            }
        };
        let last_day = matches!(self, Step::Months { last_day: true, .. });
        let moved = || {
            let civil = civil(scale, time)?;
            let mut date = civil.date().checked_add(span.ok()?).ok()?;
            if last_day {
                date = date.last_of_month();
            }
            instant(scale, DateTime::from_parts(date, civil.time()))
        };
        // Beyond the calendar there are only lengths.
        moved().unwrap_or(by_length)
    }

    /// A time in steps: times that follow each other step by step lie 1 apart.
    pub fn place(&self, scale: &TimeScale, time: f64) -> f64 {
        let place = || {
            let at = civil(scale, time)?;
            let seconds = seconds(at.time());
            match *self {
                Step::Length(_) => None,
                Step::Days(days) => Some((days_of(at.date())? + seconds / DAY) / f64::from(days.max(1))),
                Step::Months { count, last_day } => {
                    // The last day of a month is just before the first day of the next one.
                    let date = if last_day { at.date().tomorrow().ok()? } else { at.date() };
                    let month = 12.0 * f64::from(date.year()) + f64::from(date.month()) - 1.0;
                    let day = f64::from(date.day()) - 1.0 + seconds / DAY;
                    Some((month + day / 31.0) / f64::from(count.max(1)))
                }
            }
        };
        place().unwrap_or_else(|| time / self.length())
    }

    /// Its length in the unit of the times; of months, the mean.
    pub fn length(&self) -> f64 {
        match *self {
            Step::Length(length) => length,
            Step::Days(days) => DAY * f64::from(days),
            Step::Months { count, .. } => DAY * 365.2425 / 12.0 * f64::from(count),
        }
    }

    /// Periods of the calendar in steps (an hour, a day, a week, a year) that are two steps or longer.
    pub fn calendar_periods(&self, scale: &TimeScale) -> Vec<f64> {
        let periods = match (scale, *self) {
            (TimeScale::Number, _) => Vec::new(),
            (_, Step::Length(length)) => {
                [3600.0, DAY, 7.0 * DAY, 365.25 * DAY].map(|period| period / length).to_vec()
            }
            (_, Step::Days(days)) => [7.0, 365.25].map(|period| period / f64::from(days)).to_vec(),
            (_, Step::Months { count, .. }) => vec![12.0 / f64::from(count)],
        };
        periods.into_iter().filter(|period| *period >= 2.0).collect()
    }

    /// The step for a reader: `1 month`, `6 h`.
    pub fn write(&self, scale: &TimeScale) -> String {
        match *self {
            Step::Months { count: 1, .. } => "1 month".into(),
            Step::Months { count: 12, .. } => "1 year".into(),
            Step::Months { count, .. } => format!("{count} months"),
            Step::Days(days) => scale.write_length(DAY * f64::from(days)),
            Step::Length(length) => scale.write_length(length),
        }
    }
}

/// Whether all times lie whole months apart.
#[derive(Default)]
struct Months {
    possible: bool,
    same_day: bool,
    last_day: bool,
    /// Greatest common divisor of all differences.
    count: i64,
}

impl Months {
    fn add(&mut self, times: &[f64], scale: &TimeScale, first: bool) {
        if first {
            *self = Self { possible: true, same_day: true, last_day: true, count: 0 };
        }
        let mut before: Option<DateTime> = None;
        for &time in times {
            let Some(at) = civil(scale, time) else {
                self.possible = false;
                return;
            };
            self.last_day &= at.date() == at.date().last_of_month();
            if let Some(before) = before {
                let month = |at: DateTime| 12 * i64::from(at.year()) + i64::from(at.month());
                let difference = month(at) - month(before);
                self.same_day &= at.day() == before.day();
                self.possible &= difference > 0 && at.time() == before.time();
                self.count = gcd(self.count, difference);
            }
            before = Some(at);
            self.possible &= self.same_day || self.last_day;
            if !self.possible {
                return;
            }
        }
    }

    fn step(&self) -> Option<Step> {
        let count = u32::try_from(self.count).ok().filter(|count| (1..=1200).contains(count))?;
        self.possible.then_some(Step::Months { count, last_day: self.last_day && !self.same_day })
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The date and the time of day that the clocks of the table show.
fn civil(scale: &TimeScale, time: f64) -> Option<DateTime> {
    let TimeScale::Date { zone, .. } = scale else { return None };
    let microseconds = (time * 1e6).round();
    if microseconds.is_nan() || microseconds.abs() > 9e18 {
        return None;
    }
    let timestamp = Timestamp::from_microsecond(microseconds as i64).ok()?;
    Some(zone_named(zone)?.to_datetime(timestamp))
}

fn instant(scale: &TimeScale, at: DateTime) -> Option<f64> {
    let TimeScale::Date { zone, .. } = scale else { return None };
    date::in_zone(at, &zone_named(zone)?)
}

fn seconds(time: Time) -> f64 {
    let whole = 3600.0 * f64::from(time.hour()) + 60.0 * f64::from(time.minute()) + f64::from(time.second());
    whole + f64::from(time.subsec_nanosecond()) / 1e9
}

/// Days since the beginning of 1970.
fn days_of(date: Date) -> Option<f64> {
    let since = Date::new(1970, 1, 1).ok()?.until(date).ok()?;
    Some(f64::from(since.get_days()))
}
