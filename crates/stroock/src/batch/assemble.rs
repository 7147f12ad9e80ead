//! From series to a batch: input, evidence, grid and requests.

use std::sync::Arc;

use rand_core::Rng;
use serde::{Deserialize, Serialize};
use stroock_kernels::noise::{NoiseKey, Purpose};

use super::input::InputPoints;
use super::time::{join, nearest, through};
use super::{EncoderInput, Evidence, EvidenceError, GridKind, TimeAxis};
use crate::latent::{PathGrid, PathRequests};
use crate::series::{Dataset, Series, Target};

/// Which points of a series the encoder sees; the evidence is always all of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputChoice {
    /// All points.
    All,
    /// The first points.
    First {
        /// How many.
        count: usize,
    },
    /// Every point with a probability, drawn anew in every epoch.
    Random {
        /// The probability.
        probability: f64,
        /// How many of the first points are always seen.
        always: usize,
    },
}

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
}

/// A batch of `B` series.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Numbers of the series in the data set, `[B]`.
    pub numbers: Vec<u32>,
    /// What the encoder sees.
    pub input: EncoderInput,
    /// What the likelihood is scored on.
    pub evidence: Arc<Evidence>,
    /// Which points of the evidence the encoder has seen, `[Q]`.
    pub seen: Vec<bool>,
    /// Times of the paths.
    pub grid: PathGrid,
    /// Grid indices of the points of the evidence.
    pub requests: PathRequests,
    /// Targets of the series, `[B]`, restricted to the points of the evidence.
    pub targets: Vec<Target>,
}

impl Batcher {
    /// The batch of the series with the given `numbers`; `key` decides what the encoder sees of each.
    ///
    /// ```
    /// use stroock::batch::{Batcher, GridKind, InputChoice, TimeAxis};
    /// use stroock::series::{Dataset, Observation, Series, Target};
    /// use stroock_kernels::noise::NoiseKey;
    ///
    /// let series = |id: &str, times: Vec<f64>| Series {
    ///     id: id.into(),
    ///     values: vec![1.0; times.len()],
    ///     times,
    ///     observed: None,
    ///     target: Target::None,
    /// };
    /// let observation = Observation::Vector { channels: 1 };
    /// let data = Dataset::new(observation, vec![series("a", vec![0., 3.]), series("b", vec![1., 2., 4.])])?;
    /// let axis = TimeAxis { start: 0.0, end: 4.0, horizon: 1.0 };
    /// let batcher =
    ///     Batcher { input_axis: axis, grid_axis: axis, grid: GridKind::Regular { points: 5 }, input: InputChoice::All };
    /// let batch = batcher.assemble(&data, &[1, 0], NoiseKey::new(1, 0))?;
    /// assert_eq!(batch.requests.indices, [1, 2, 4, 0, 3]);
    /// assert_eq!(batch.evidence.counts(), [3, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the series do not make evidence, for instance because the data set was built around its checks.
    pub fn assemble(&self, data: &Dataset, numbers: &[usize], key: NoiseKey) -> Result<Batch, EvidenceError> {
        let channels = data.observation().len();
        let mut points = Vec::with_capacity(numbers.len());
        let mut targets = Vec::with_capacity(numbers.len());
        let (mut offsets, mut values, mut mask, mut all_seen) = (vec![0], Vec::new(), Vec::new(), Vec::new());
        let (mut indices, mut grids) = (Vec::new(), Vec::new());
        for &number in numbers {
            let series = &data.series()[number];
            let present = present_points(series, channels);
            let seen = self.seen(present.len(), number, key);
            let mut input = InputPoints::default();
            for (&index, &seen) in present.iter().zip(&seen) {
                let row = index * channels..(index + 1) * channels;
                let observed =
                    row.clone().map(|place| series.observed.as_ref().is_none_or(|mask| mask[place]));
                let from = mask.len();
                mask.extend(observed);
                values.extend_from_slice(&series.values[row.clone()]);
                if seen {
                    input.times.push(self.input_axis.to_model(series.times[index]));
                    input.values.extend_from_slice(&series.values[row]);
                    input.observed.extend_from_slice(&mask[from..]);
                }
            }
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
            targets.push(restrict(&series.target, &present));
        }
        let mask = if mask.iter().all(|&observed| observed) { None } else { Some(mask) };
        Ok(Batch {
            numbers: numbers.iter().map(|&number| number as u32).collect(),
            input: EncoderInput::new(channels, &points),
            evidence: Arc::new(Evidence::new(channels, offsets.clone(), values, mask.as_deref())?),
            seen: all_seen,
            grid: self.grid.shared(self.grid_axis).map_or_else(|| join(grids), PathGrid::Shared),
            requests: PathRequests { offsets, indices },
            targets,
        })
    }

    /// Which of the `count` points of a series the encoder sees.
    fn seen(&self, count: usize, number: usize, key: NoiseKey) -> Vec<bool> {
        match self.input {
            InputChoice::All => vec![true; count],
            InputChoice::First { count: first } => (0..count).map(|i| i < first).collect(),
            InputChoice::Random { probability, always } => {
                let mut stream = key.stream(Purpose::Other, number as u32, 0);
                let mut draw = || (stream.next_u32() as f64 + 0.5) / 2f64.powi(32) < probability;
                (0..count)
                    .map(|i| {
                        let drawn = draw();
                        i < always || drawn
                    })
                    .collect()
            }
        }
    }
}

/// The times of a series at which anything is observed.
fn present_points(series: &Series, channels: usize) -> Vec<usize> {
    let any = |index: &usize| (0..channels).any(|channel| series.is_observed(channels, *index, channel));
    (0..series.times.len()).filter(any).collect()
}

/// The part of a target that belongs to some of the times.
fn restrict(target: &Target, times: &[usize]) -> Target {
    match target {
        Target::None => Target::None,
        Target::Class(class) => Target::Class(*class),
        Target::ClassPerTime(classes) => Target::ClassPerTime(times.iter().map(|&t| classes[t]).collect()),
        Target::RealPerTime { width, values } => Target::RealPerTime {
            width: *width,
            values: times.iter().flat_map(|&t| &values[t * width..(t + 1) * width]).copied().collect(),
        },
    }
}
