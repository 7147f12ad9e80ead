//! From series to a batch: input, targets, grid and requests.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stroock_kernels::noise::NoiseKey;

use super::choice::Seen;
use super::input::InputPoints;
use super::time::{join, nearest, through};
use super::{EncoderInput, GridKind, InputChoice, TargetChoice, Targets, TargetsError, TimeAxis};
use crate::latent::{PathGrid, PathRequests};
use crate::series::{Labels, Observation, Series, SeriesSource};

/// Points that a grid may have.
const LONGEST_GRID: usize = 1 << 20;

/// How series become batches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batcher {
    /// Time that the encoder sees.
    pub input_axis: TimeAxis,
    /// Time that paths are simulated in.
    pub grid_axis: TimeAxis,
    /// Grid of the paths.
    pub grid: GridKind,
    /// What the encoder sees.
    pub input: InputChoice,
    /// What the likelihood is scored on.
    #[serde(default)]
    pub targets: TargetChoice,
}

/// A batch of `B` series.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Numbers of the series in the data set, `[B]`.
    pub numbers: Vec<u32>,
    /// What the encoder sees.
    pub input: EncoderInput,
    /// What the likelihood is scored on.
    pub targets: Arc<Targets>,
    /// Which points of the targets the encoder has seen, `[Q]`.
    pub seen: Vec<bool>,
    /// Times of the paths.
    pub grid: PathGrid,
    /// Grid indices of the points of the targets.
    pub requests: PathRequests,
    /// Labels of the series, `[B]`, restricted to the points of the targets.
    pub labels: Vec<Labels>,
}

impl Batch {
    /// The model times of its points as the grid has them, `[Q]`.
    pub fn point_times(&self) -> Vec<f32> {
        self.request_times().into_iter().map(|time| time as f32).collect()
    }

    /// [`Self::point_times`] in double precision.
    pub fn request_times(&self) -> Vec<f64> {
        let PathRequests { offsets, indices } = &self.requests;
        let of_series = |b: usize| {
            let times = self.grid.of_series(b);
            indices[offsets[b]..offsets[b + 1]].iter().map(|&index| times[index])
        };
        (0..self.numbers.len()).flat_map(of_series).collect()
    }
}

impl Batcher {
    /// Whether its axes and its grid can be walked along.
    pub fn is_valid(&self) -> bool {
        let axes = [self.input_axis, self.grid_axis].into_iter().all(|axis| {
            axis.start.is_finite() && axis.end.is_finite() && axis.end > axis.start && axis.horizon > 0.0
        });
        let grid = match self.grid {
            GridKind::Regular { points } => (2..=LONGEST_GRID).contains(&points),
            GridKind::Observations { largest_step } => {
                largest_step.is_finite() && largest_step * LONGEST_GRID as f64 >= self.grid_axis.horizon
            }
        };
        axes && grid && self.grid_axis.horizon.is_finite()
    }

    /// The batch of the series with the given `numbers`; `key` decides what the encoder sees of each.
    ///
    /// ```
    /// use stroock::batch::{Batcher, TargetChoice, GridKind, InputChoice, TimeAxis};
    /// use stroock::series::{Dataset, Observation, Series};
    /// use stroock_kernels::noise::NoiseKey;
    ///
    /// let series = |id: &str, times: Vec<f64>| Series {
    ///     id: id.into(),
    ///     values: vec![1.0; times.len()],
    ///     times,
    ///     ..Series::default()
    /// };
    /// let observation = Observation::Vector { channels: 1 };
    /// let data = Dataset::new(observation, vec![series("a", vec![0., 3.]), series("b", vec![1., 2., 4.])])?;
    /// let axis = TimeAxis { start: 0.0, end: 4.0, horizon: 1.0 };
    /// let batcher = Batcher {
    ///     input_axis: axis,
    ///     grid_axis: axis,
    ///     grid: GridKind::Regular { points: 5 },
    ///     input: InputChoice::All,
    ///     targets: TargetChoice::All,
    /// };
    /// let batch = batcher.assemble(&data, &[1, 0], NoiseKey::new(1, 0))?;
    /// assert_eq!(batch.requests.indices, [1, 2, 4, 0, 3]);
    /// assert_eq!(batch.targets.counts(), [3, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a series cannot be read, or the series do not make targets, for instance because the data set was built around
    /// its checks.
    pub fn assemble(
        &self,
        data: &dyn SeriesSource,
        numbers: &[usize],
        key: NoiseKey,
    ) -> Result<Batch, TargetsError> {
        let all = numbers.iter().map(|&number| data.get(number)).collect::<Result<Vec<_>, _>>()?;
        let observation = data.observation();
        let channels = observation.len();
        let mut points = Vec::with_capacity(numbers.len());
        let mut labels = Vec::with_capacity(numbers.len());
        let (mut offsets, mut values, mut all_seen) = (vec![0], Vec::new(), Vec::new());
        let (mut indices, mut grids) = (Vec::new(), Vec::new());
        let gappy = all.iter().any(|series| series.observed.is_some());
        let mut mask = gappy.then(Vec::new);
        for (&number, series) in numbers.iter().zip(&all) {
            let series: &Series = series;
            let present = self.targets.targets(present_points(series, channels), number, key);
            for &index in &present {
                let row = index * channels..(index + 1) * channels;
                values.extend_from_slice(&series.values[row.clone()]);
                if let Some(mask) = &mut mask {
                    match &series.observed {
                        Some(observed) => mask.extend_from_slice(&observed[row]),
                        None => mask.extend(row.map(|_| true)),
                    }
                }
            }
            let chosen = self.input.seen(present.len(), channels, number, key);
            let (input, seen) = self.input_points(series, observation, &present, &chosen);
            let times: Vec<f64> =
                present.iter().map(|&index| self.grid_axis.to_model(series.times[index])).collect();
            match self.grid {
                GridKind::Regular { points } => {
                    indices.extend(times.iter().map(|&t| nearest(t, self.grid_axis.horizon, points)));
                }
                GridKind::Observations { largest_step } => {
                    let (grid, of_series) = through(&times, largest_step);
                    grids.push(grid);
                    indices.extend(of_series);
                }
            }
            offsets.push(indices.len());
            all_seen.extend(seen);
            points.push(input);
            labels.push(restrict(&series.labels, &present));
        }
        Ok(Batch {
            numbers: numbers.iter().map(|&number| number as u32).collect(),
            input: EncoderInput::new(observation, &points),
            targets: Arc::new(Targets::new(channels, offsets.clone(), values, mask.as_deref())?),
            seen: all_seen,
            grid: self.grid.shared(self.grid_axis).map_or_else(|| join(grids), PathGrid::Shared),
            requests: PathRequests { offsets, indices },
            labels,
        })
    }

    /// The `chosen` points of a series without what is withheld, and which points are left.
    pub(super) fn input_points(
        &self,
        series: &Series,
        observation: Observation,
        points: &[usize],
        chosen: &Seen,
    ) -> (InputPoints, Vec<bool>) {
        let channels = observation.len();
        let mut input = InputPoints::default();
        let mut seen = Vec::with_capacity(points.len());
        for (row, &index) in points.iter().enumerate() {
            let visible = |channel| {
                let chosen = chosen.values.as_ref().is_none_or(|values| values[row * channels + channel]);
                chosen && series.is_visible(channels, index, channel)
            };
            let any = chosen.points[row]
                && match observation {
                    Observation::Vector { .. } => (0..channels).any(visible),
                    Observation::Image { .. } => series.is_visible(channels, index, 0),
                };
            seen.push(any);
            if any {
                input.times.push(self.input_axis.to_model(series.times[index]));
                input.values.extend_from_slice(&series.values[index * channels..(index + 1) * channels]);
                if let Observation::Vector { .. } = observation {
                    input.seen.extend((0..channels).map(visible));
                }
            }
        }
        (input, seen)
    }
}

/// The times of a series at which anything is observed.
pub(super) fn present_points(series: &Series, channels: usize) -> Vec<usize> {
    if series.observed.is_none() {
        return (0..series.times.len()).collect();
    }
    let any = |index: &usize| (0..channels).any(|channel| series.is_observed(channels, *index, channel));
    (0..series.times.len()).filter(any).collect()
}

/// The part of labels that belongs to some of the times.
fn restrict(labels: &Labels, times: &[usize]) -> Labels {
    match labels {
        Labels::None => Labels::None,
        Labels::Class(class) => Labels::Class(*class),
        Labels::ClassPerTime(classes) => Labels::ClassPerTime(times.iter().map(|&t| classes[t]).collect()),
        Labels::RealPerTime { width, values } => Labels::RealPerTime {
            width: *width,
            values: times.iter().flat_map(|&t| &values[t * width..(t + 1) * width]).copied().collect(),
        },
    }
}
