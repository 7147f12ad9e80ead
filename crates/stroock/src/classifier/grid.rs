//! Series on regular grids: what convolutions run over.

use serde::{Deserialize, Serialize};

use crate::series::{Series, quantile};

/// Points of a grid: fewer leave no room for the nine taps of a kernel, more cost time without telling more.
const POINTS: (usize, usize) = (16, 2048);
/// A series may have so many times the usual number of points on the common clock.
const LONGEST: usize = 4;
/// Spans that differ by less than this share of their median are one length.
const SAME: f64 = 0.05;
/// Share of cells without an observation from which on it is worth looking at what was observed when.
const GAPPY: f64 = 0.1;

/// How time runs along a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// From the first to the last time of a series in as many steps for all: a slow gesture is as long as a fast one.
    Own,
    /// In steps of one length for all: a long series has more of them.
    Common,
}

/// Regular grids that suit the series of a training set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridPlan {
    /// Points of a usual series.
    pub points: usize,
    /// Step of the common clock.
    pub step: f64,
    /// Whether spans differ, so that the two clocks do.
    pub ragged: bool,
    /// Whether so many cells have no observation that what is observed when is worth looking at.
    pub gappy: bool,
}

/// A series on a grid: channels one after another, `[C, L]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Gridded {
    /// Points `L`.
    pub points: usize,
    /// Values on the lines between neighbouring observations, `[C, L]`; 0 where a channel is never observed.
    pub values: Vec<f32>,
    /// 1 in cells with an observation, 0 in the others, `[C, L]`.
    pub observed: Vec<f32>,
}

impl GridPlan {
    /// Grids for series like these, in steps as long as those between neighbouring times usually are.
    pub fn of(series: &[&Series], channels: usize, statics: &[bool]) -> Self {
        let steps = series.iter().flat_map(|series| series.times.windows(2).map(|pair| pair[1] - pair[0]));
        let step = median(steps).filter(|step| *step > 0.0).unwrap_or(1.0);
        let spans: Vec<f64> = series.iter().filter_map(|series| span(series)).collect();
        let usual = median(spans.iter().copied()).unwrap_or(0.0);
        let points = ((usual / step).round() as usize).saturating_add(1).clamp(POINTS.0, POINTS.1);
        let (shortest, longest) =
            spans.iter().fold((f64::INFINITY, 0.0), |(low, high), &span| (span.min(low), span.max(high)));
        let mut plan = GridPlan {
            points,
            step: if usual > 0.0 { usual / (points - 1) as f64 } else { step },
            ragged: longest - shortest > SAME * usual,
            gappy: false,
        };
        let (mut cells, mut empty) = (0.0, 0.0);
        for series in series {
            let gridded = plan.grid(series, channels, statics, Clock::Own);
            // A cell of a grid that is finer than the series has not been missed.
            let finer = gridded.points as f64 / series.times.len().max(1) as f64;
            let seen = gridded.observed.iter().filter(|seen| **seen > 0.0).count() as f64 * finer.max(1.0);
            cells += gridded.observed.len() as f64;
            empty += (gridded.observed.len() as f64 - seen).max(0.0);
        }
        plan.gappy = empty > GAPPY * cells;
        plan
    }

    /// Whether sizes are such that memory can be taken for them.
    pub fn is_valid(&self) -> bool {
        (POINTS.0..=POINTS.1).contains(&self.points) && self.step > 0.0 && self.step.is_finite()
    }

    /// A series on a grid of its own. Static channels are left out, values that must not be seen too.
    pub fn grid(&self, series: &Series, channels: usize, statics: &[bool], clock: Clock) -> Gridded {
        let span = span(series).unwrap_or(0.0);
        let points = match clock {
            Clock::Own => self.points,
            Clock::Common => {
                let steps = (span / self.step).round();
                (steps as usize).saturating_add(1).clamp(POINTS.0, LONGEST * self.points)
            }
        };
        let first = series.times.first().copied().unwrap_or(0.0);
        let step = if span > 0.0 { span / (points - 1) as f64 } else { 1.0 };
        let moving: Vec<usize> = (0..channels).filter(|&channel| !is_static(statics, channel)).collect();
        let mut gridded = Gridded {
            points,
            values: Vec::with_capacity(moving.len() * points),
            observed: vec![0.0; moving.len() * points],
        };
        let mut seen: Vec<(f64, f32)> = Vec::new();
        for (row, &channel) in moving.iter().enumerate() {
            seen.clear();
            for (i, time) in series.times.iter().enumerate() {
                if series.is_visible(channels, i, channel) {
                    let place = (time - first) / step;
                    seen.push((place, series.values[i * channels + channel]));
                    gridded.observed[row * points + (place.round() as usize).min(points - 1)] = 1.0;
                }
            }
            interpolate(&seen, points, &mut gridded.values);
        }
        gridded
    }
}

/// Whether a channel has one value for the whole series.
pub(super) fn is_static(statics: &[bool], channel: usize) -> bool {
    statics.get(channel).copied().unwrap_or(false)
}

/// Time between the first and the last time of a series.
pub(super) fn span(series: &Series) -> Option<f64> {
    Some(series.times.last()? - series.times.first()?)
}

/// Values at `0, 1, .., points - 1` on the lines between the seen ones, and constant beyond them.
fn interpolate(seen: &[(f64, f32)], points: usize, values: &mut Vec<f32>) {
    let mut next = 0;
    for point in 0..points {
        let place = point as f64;
        while next < seen.len() && seen[next].0 < place {
            next += 1;
        }
        values.push(match (next.checked_sub(1).map(|i| seen[i]), seen.get(next)) {
            (Some((t0, x0)), Some(&(t1, x1))) => x0 + (x1 - x0) * ((place - t0) / (t1 - t0)) as f32,
            (Some((_, x)), None) | (None, Some(&(_, x))) => x,
            (None, None) => 0.0,
        });
    }
}

fn median(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    quantile(&numbers, 0.5)
}
