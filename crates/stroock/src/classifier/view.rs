//! Several looks at one series: with its level and scale and without, its changes, and what was observed when.

use serde::{Deserialize, Serialize};

use super::grid::{Clock, GridPlan, Gridded};

/// What convolutions see of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViewKind {
    /// Values as they are.
    Values,
    /// Values of every channel with mean 0 and standard deviation 1 within the series.
    Standardised,
    /// Differences of neighbouring values.
    Differences,
    /// Differences of neighbouring standardised values.
    StandardisedDifferences,
    /// Which cells have an observation.
    Observed,
}

/// A look at series, on a grid with a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// What is seen.
    pub kind: ViewKind,
    /// How time runs.
    pub clock: Clock,
}

/// Below this standard deviation, in units of that of the training data, a channel is constant within a series.
const CONSTANT: f32 = 1e-6;

impl View {
    /// The looks that are worth taking on such grids.
    pub(super) fn all(plan: &GridPlan, standardised: bool) -> Vec<View> {
        let mut views = Vec::new();
        let clocks: &[Clock] = if plan.ragged { &[Clock::Own, Clock::Common] } else { &[Clock::Own] };
        for &clock in clocks {
            views.push(View { kind: ViewKind::Values, clock });
            views.push(View { kind: ViewKind::Differences, clock });
            if !standardised {
                views.push(View { kind: ViewKind::Standardised, clock });
                views.push(View { kind: ViewKind::StandardisedDifferences, clock });
            }
        }
        if plan.gappy {
            views.push(View { kind: ViewKind::Observed, clock: Clock::Own });
        }
        views
    }

    /// What is seen of a series on the grid of this view's clock, `[C, L]`.
    pub(super) fn of(&self, gridded: &Gridded) -> Vec<f32> {
        match self.kind {
            ViewKind::Values => gridded.values.clone(),
            ViewKind::Observed => gridded.observed.clone(),
            ViewKind::Standardised => standardised(gridded),
            ViewKind::Differences => differences(&gridded.values, gridded.points),
            ViewKind::StandardisedDifferences => differences(&standardised(gridded), gridded.points),
        }
    }
}

/// Mean and standard deviation of numbers.
pub(super) fn moments(numbers: &[f32]) -> (f32, f32) {
    let count = numbers.len().max(1) as f64;
    let mean = numbers.iter().map(|&x| f64::from(x)).sum::<f64>() / count;
    let variance = numbers.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / count;
    (mean as f32, variance.sqrt() as f32)
}

fn standardised(gridded: &Gridded) -> Vec<f32> {
    let channels = gridded.values.chunks(gridded.points);
    let standardise = |channel: &[f32]| {
        let (mean, sd) = moments(channel);
        let factor = if sd > CONSTANT { 1.0 / sd } else { 0.0 };
        channel.iter().map(|x| (x - mean) * factor).collect::<Vec<f32>>()
    };
    channels.flat_map(standardise).collect()
}

/// As many as there are values, the last one twice: kernels keep their place.
fn differences(values: &[f32], points: usize) -> Vec<f32> {
    let difference = |channel: &[f32]| {
        let mut differences: Vec<f32> = channel.windows(2).map(|pair| pair[1] - pair[0]).collect();
        differences.extend(differences.last().copied().or(Some(0.0)).filter(|_| !channel.is_empty()));
        differences
    };
    values.chunks(points.max(1)).flat_map(difference).collect()
}
