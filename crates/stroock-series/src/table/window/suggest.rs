//! Which windows and which alignment suit a table.

use serde::Serialize;

use super::super::describe::{Amount, Spread};
use super::super::{Align, StoredTable, Table, TimeScale};
use super::Sampling;
use crate::{Selection, SeriesError, SeriesSource};

/// So few series are too few to learn from, whatever their lengths.
const FEW: usize = 8;
/// So few series are too few where most are longer than [`LONG`].
const FEW_LONG: usize = 40;
const LONG: f64 = 400.0;
/// With fewer times than this there is nothing to cut.
const ENOUGH_TIMES: usize = 200;
/// Median gaps in a window.
const GAPS: f64 = 48.0;

const MINUTE: f64 = 60.0;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;

/// A sampling that suits a table, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// What is suggested.
    pub sampling: Sampling,
    /// A sentence for each decision.
    pub reasons: Vec<String>,
}

impl Sampling {
    /// The sampling that suits a table, with a sentence for each decision.
    ///
    /// Few long series are cut into windows of about 48 median gaps: a model learns from many series, not
    /// from one. Times count from the start of a series where they are dates, and where most of a common axis
    /// would be empty for most series.
    pub fn suggest(table: &Table) -> Suggestion {
        Facts::of(table).suggest(&table.time)
    }

    /// The same for a table in a file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn suggest_stored(table: &StoredTable) -> Result<Suggestion, SeriesError> {
        Ok(Facts::of_stored(table)?.suggest(&table.time))
    }
}

/// Gaps that are kept to find their median.
const KEPT: usize = 1 << 22;

/// What the suggestion depends on: counts, and medians over the series.
#[derive(Clone, Copy, Debug)]
pub(in crate::table) struct Facts {
    pub(in crate::table) series: usize,
    pub(in crate::table) times: usize,
    pub(in crate::table) length: f64,
    pub(in crate::table) gap: Option<f64>,
    pub(in crate::table) span: f64,
    pub(in crate::table) range: f64,
}

impl Facts {
    fn of(table: &Table) -> Self {
        let series = table.data.series();
        let bounds: Vec<(f64, f64)> = series
            .iter()
            .zip(&table.origins)
            .filter_map(|(series, origin)| {
                Some((origin + series.times.first()?, origin + series.times.last()?))
            })
            .collect();
        let range = bounds.iter().copied().reduce(|one, next| (one.0.min(next.0), one.1.max(next.1)));
        let gaps = series.iter().flat_map(|series| series.times.windows(2).map(|pair| pair[1] - pair[0]));
        Facts {
            series: series.len(),
            times: series.iter().map(|series| series.times.len()).sum(),
            length: median(series.iter().map(|series| series.times.len() as f64)).unwrap_or(0.0),
            gap: median(gaps),
            span: median(bounds.iter().map(|(first, last)| last - first)).unwrap_or(0.0),
            range: range.map_or(0.0, |(first, last)| last - first),
        }
    }

    fn of_stored(table: &StoredTable) -> Result<Self, SeriesError> {
        let (mut lengths, mut spans, mut range) = (Vec::new(), Vec::new(), None::<(f64, f64)>);
        table.data.for_each(&mut |number, series| {
            lengths.push(series.times.len() as f64);
            if let (Some(first), Some(last)) = (series.times.first(), series.times.last()) {
                let (first, last) = (table.origins[number] + first, table.origins[number] + last);
                spans.push(last - first);
                let (start, end) = range.unwrap_or((first, last));
                range = Some((start.min(first), end.max(last)));
            }
            Ok(())
        })?;
        let mut gaps = Selection::new(&[0.5], KEPT);
        while gaps.wants_more() {
            table.data.for_each(&mut |_, series| {
                series.times.windows(2).for_each(|pair| gaps.add(pair[1] - pair[0]));
                Ok(())
            })?;
            gaps.end_pass();
        }
        Ok(Facts {
            series: table.data.len(),
            times: lengths.iter().map(|length| *length as usize).sum(),
            length: median(lengths.into_iter()).unwrap_or(0.0),
            gap: gaps.quantiles().map(|quantiles| quantiles[0]),
            span: median(spans.into_iter()).unwrap_or(0.0),
            range: range.map_or(0.0, |(first, last)| last - first),
        })
    }

    /// The sampling that suits such a table.
    pub(in crate::table) fn suggest(&self, scale: &TimeScale) -> Suggestion {
        let mut reasons = Vec::new();
        let window = self.window(scale, &mut reasons);
        let align = self.align(scale, window, &mut reasons);
        Suggestion { sampling: Sampling { window, align }, reasons }
    }

    fn window(&self, scale: &TimeScale, reasons: &mut Vec<String>) -> Option<f64> {
        let amount = Amount::of(scale);
        let counted = format!("{} series", self.series);
        let is_few = self.series < FEW || (self.series < FEW_LONG && self.length > LONG);
        if !is_few {
            reasons.push(format!("No windows: {counted} are enough to learn from as they are."));
            return None;
        }
        if self.times < ENOUGH_TIMES {
            reasons.push(format!(
                "No windows: {} times in all are too few to be cut (from {ENOUGH_TIMES} on they would be).",
                self.times
            ));
            return None;
        }
        let gap = self.gap?;
        let window = round_up(GAPS * gap, scale);
        if !window.is_finite() || window >= self.span {
            reasons.push(format!(
                "No windows: one of {GAPS} gaps ({}) would be as long as the series.",
                amount.span(GAPS * gap)
            ));
            return None;
        }
        reasons.push(format!(
            "Windows of {}: {counted} with {} times are few, if long, and a model learns from many; \
             a window has about {GAPS} of the gaps between times (median {}).",
            amount.span(window),
            self.times,
            amount.span(gap)
        ));
        Some(window)
    }

    fn align(&self, scale: &TimeScale, window: Option<f64>, reasons: &mut Vec<String>) -> Align {
        let amount = Amount::of(scale);
        let (align, reason) = if window.is_some() {
            (
                Align::Start,
                "Times count from the beginning of their window, so that windows are alike.".into(),
            )
        } else if matches!(scale, TimeScale::Date { .. }) {
            (Align::Start, "Times count from the start of their series, because they are dates.".into())
        } else if self.span < 0.5 * self.range {
            let (span, range) = (amount.span(self.span), amount.span(self.range));
            let reason = format!(
                "Times count from the start of their series: it spans {span} (median) of the {range} that all \
                 series span together."
            );
            (Align::Start, reason)
        } else {
            (Align::None, "Times count from zero as they are: the series lie side by side.".into())
        };
        reasons.push(reason);
        align
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    Spread::of(values.collect()).map(|spread| spread.median)
}

/// The next length that a person would have chosen: whole days for dates from half a day on, parts of a day
/// that begin at midnight below, and 1, 2 or 5 times a power of ten for numbers.
fn round_up(length: f64, scale: &TimeScale) -> f64 {
    // The tolerance keeps 48 gaps of 0.1 s, a little more than 4.8 s, out of the next class.
    let reaches = |nice: &f64| *nice >= length * (1.0 - 1e-9);
    if matches!(scale, TimeScale::Date { .. }) && length > 0.5 {
        if length > 0.5 * DAY {
            return (length / DAY * (1.0 - 1e-9)).ceil() * DAY;
        }
        let seconds = [1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0];
        let hours = [1.0, 2.0, 3.0, 4.0, 6.0, 12.0];
        let nice = seconds.iter().copied();
        let nice = nice.chain(seconds.iter().map(|count| count * MINUTE));
        if let Some(nice) = nice.chain(hours.iter().map(|count| count * HOUR)).find(reaches) {
            return nice;
        }
    }
    // Read from text, because a power of ten that is computed may miss the double that is written.
    let power = length.log10().floor();
    let nice = [1, 2, 5, 10].iter().filter_map(|digit| format!("{digit}e{power}").parse().ok());
    nice.into_iter().find(reaches).unwrap_or(length)
}
