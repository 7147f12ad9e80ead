//! From a series to a row of numbers: pooled convolutions of several views, and plain numbers.

use std::ops::Range;

use rand_core::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use stroock_kernels::noise::{NoiseKey, Purpose, Stage};

use super::convolution::{Convolution, POOLED, SHAPE, features};
use super::grid::{Clock, GridPlan, Gridded};
use super::summary;
use super::view::{View, moments};
use crate::series::Series;

/// Means and standard deviations within series that differ by less than this are those of standardised series.
const STANDARDISED: f32 = 0.02;

/// What a row of features is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeaturePlan {
    /// Channels of the series.
    pub channels: usize,
    /// Which of them have one value for a whole series.
    pub statics: Vec<bool>,
    /// Grids that series are put on.
    pub grid: GridPlan,
    /// Views that are convolved.
    pub views: Vec<View>,
}

/// The map from series to rows of features.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureMap {
    pub(super) plan: FeaturePlan,
    /// Convolutions of every view.
    pub(super) convolutions: Vec<Vec<Convolution>>,
}

impl FeaturePlan {
    /// Channels that change with time.
    pub(super) fn moving(&self) -> usize {
        (0..self.channels).filter(|&channel| !super::grid::is_static(&self.statics, channel)).count()
    }
}

impl FeatureMap {
    /// Draws convolutions for series like these, with about `comparisons` of them in all.
    pub fn draw(
        series: &[&Series],
        channels: usize,
        statics: &[bool],
        comparisons: usize,
        seed: u64,
    ) -> Self {
        let grid = GridPlan::of(series, channels, statics);
        let gridded: Vec<Gridded> =
            series.par_iter().map(|series| grid.grid(series, channels, statics, Clock::Own)).collect();
        let is_standardised = gridded.iter().flat_map(|g| g.values.chunks(g.points)).all(|channel| {
            let (mean, sd) = moments(channel);
            mean.abs() < STANDARDISED && (sd - 1.0).abs() < STANDARDISED
        });
        let views = View::all(&grid, is_standardised);
        let plan = FeaturePlan { channels, statics: statics.to_vec(), grid, views };
        let each = comparisons / plan.views.len().max(1);
        let key = NoiseKey::of(seed, Stage::Weights);
        let moving = plan.moving();
        let draw = |(number, view): (usize, &View)| {
            let mut stream = key.stream(Purpose::Weights, number as u32, 1);
            Convolution::draw(moving, grid.points, each, &mut stream, |stream| {
                let chosen = (stream.next_u64() % series.len().max(1) as u64) as usize;
                let gridded = grid.grid(series[chosen], channels, statics, view.clock);
                (view.of(&gridded), gridded.points)
            })
        };
        let convolutions = match series.is_empty() {
            true => vec![Vec::new(); plan.views.len()],
            false => plan.views.par_iter().enumerate().map(draw).collect(),
        };
        Self { plan, convolutions }
    }

    /// Where in a row are, for every view, the features that say what there is, and those that say where; at the end the
    /// plain numbers.
    pub fn groups(&self) -> Vec<Range<usize>> {
        let mut end = 0;
        let mut group = |length: usize| {
            end += length;
            end - length..end
        };
        let comparisons = |view: &Vec<Convolution>| -> usize { view.iter().map(|c| c.biases.len()).sum() };
        let mut groups = Vec::new();
        for view in &self.convolutions {
            groups.push(group(SHAPE * comparisons(view)));
            groups.push(group((POOLED - SHAPE) * comparisons(view)));
        }
        groups.push(group(summary::length(self.plan.channels, &self.plan.statics)));
        groups
    }

    /// Numbers of a row.
    pub fn len(&self) -> usize {
        self.groups().last().map_or(0, |group| group.end)
    }

    /// Whether rows are empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row of a series; it depends on this series alone.
    pub fn row(&self, series: &Series) -> Vec<f32> {
        let FeaturePlan { channels, statics, grid, views } = &self.plan;
        let mut row = Vec::with_capacity(self.len());
        let mut gridded: Option<(Clock, Gridded)> = None;
        for (view, convolutions) in views.iter().zip(&self.convolutions) {
            let now = match gridded.take() {
                Some((clock, gridded)) if clock == view.clock => gridded,
                _ => grid.grid(series, *channels, statics, view.clock),
            };
            features(convolutions, &view.of(&now), now.points, &mut row);
            gridded = Some((view.clock, now));
        }
        summary::summary(series, *channels, statics, &mut row);
        row
    }
}
