//! Batches that ask for states at times of the caller's choice.

use std::sync::Arc;

use super::assemble::present_points;
use super::choice::Seen;
use super::time::{join, nearest, through};
use super::{Batch, Batcher, EncoderInput, GridKind, Targets, TargetsError};
use crate::latent::{PathGrid, PathRequests};
use crate::series::{Labels, SeriesSource};

impl Batcher {
    /// A batch whose points are the given increasing `times` of each series, in the units of the user. The encoder
    /// sees everything of a series that is not withheld, and there are no targets.
    ///
    /// Times after the end of the axis are reached by steps of the usual length.
    ///
    /// ```
    /// use stroock::batch::{Batcher, TargetChoice, GridKind, InputChoice, TimeAxis};
    /// use stroock::series::{Dataset, Observation, Series};
    ///
    /// let series = Series { times: vec![0.0, 3.0], values: vec![1.0, 2.0], ..Series::default() };
    /// let data = Dataset::new(Observation::Vector { channels: 1 }, vec![series])?;
    /// let axis = TimeAxis { start: 0.0, end: 4.0, horizon: 1.0 };
    /// let batcher = Batcher {
    ///     input_axis: axis,
    ///     grid_axis: axis,
    ///     grid: GridKind::Regular { points: 5 },
    ///     input: InputChoice::All,
    ///     targets: TargetChoice::All,
    /// };
    /// let batch = batcher.ask(&data, &[0], &[vec![2.0, 6.0]])?;
    /// assert_eq!(batch.requests.indices, [2, 6]);
    /// assert_eq!(batch.input.points(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When there is not one list of times for each series, or a series cannot be read.
    pub fn ask(
        &self,
        data: &dyn SeriesSource,
        numbers: &[usize],
        times: &[Vec<f64>],
    ) -> Result<Batch, TargetsError> {
        if times.len() != numbers.len() {
            let (expected, actual) = (numbers.len(), times.len());
            return Err(TargetsError::Length { argument: "times", expected, actual });
        }
        let observation = data.observation();
        let channels = observation.len();
        let inputs: Vec<_> = numbers
            .iter()
            .map(|&number| {
                let series = data.get(number)?;
                let present = present_points(&series, channels);
                let everything = Seen::whole(vec![true; present.len()]);
                Ok(self.input_points(&series, observation, &present, &everything).0)
            })
            .collect::<Result<_, TargetsError>>()?;
        let model_times: Vec<Vec<f64>> = times
            .iter()
            .map(|times| times.iter().map(|&time| self.grid_axis.to_model(time)).collect())
            .collect();
        let mut offsets = vec![0];
        for times in times {
            offsets.push(offsets[offsets.len() - 1] + times.len());
        }
        let (grid, indices) = self.grid_through(&model_times);
        let entries = indices.len() * channels;
        Ok(Batch {
            numbers: numbers.iter().map(|&number| number as u32).collect(),
            input: EncoderInput::new(observation, &inputs),
            targets: Arc::new(Targets::new(
                channels,
                offsets.clone(),
                vec![0.0; entries],
                Some(&vec![false; entries]),
            )?),
            seen: vec![false; indices.len()],
            grid,
            requests: PathRequests { offsets, indices },
            labels: vec![Labels::None; numbers.len()],
        })
    }

    /// A grid that reaches the given model times, and the index of each of them.
    fn grid_through(&self, times: &[Vec<f64>]) -> (PathGrid, Vec<usize>) {
        match self.grid {
            GridKind::Regular { points } => {
                let last = points.max(2) - 1;
                let (horizon, step) = (self.grid_axis.horizon, self.grid_axis.horizon / last as f64);
                let furthest = times.iter().flatten().copied().fold(horizon, f64::max);
                let steps = ((furthest / step).round() as usize).max(last);
                let grid = (0..=steps).map(|j| horizon * j as f64 / last as f64).collect();
                let whole = horizon * steps as f64 / last as f64;
                let indices = times.iter().flatten().map(|&time| nearest(time, whole, steps + 1)).collect();
                (PathGrid::Shared(grid), indices)
            }
            GridKind::Observations { largest_step } => {
                let through = times.iter().map(|times| through(times, largest_step));
                let (grids, indices): (Vec<_>, Vec<_>) = through.unzip();
                (join(grids), indices.concat())
            }
        }
    }
}
