//! From the time of the user to that of the model.

use serde::{Deserialize, Serialize};

use crate::latent::PathGrid;

/// An affine map from the user's time interval `[start, end]` to `[0, horizon]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeAxis {
    /// User time of 0.
    pub start: f64,
    /// User time of `horizon`.
    pub end: f64,
    /// Model time of `end`.
    pub horizon: f64,
}

impl TimeAxis {
    /// Model time of a user time.
    ///
    /// ```
    /// let axis = stroock::batch::TimeAxis { start: 0.0, end: 48.0, horizon: 1.0 };
    /// assert_eq!(axis.to_model(12.0), 0.25);
    /// assert_eq!(axis.to_user(0.25), 12.0);
    /// ```
    pub fn to_model(&self, time: f64) -> f64 {
        (time - self.start) / (self.end - self.start) * self.horizon
    }

    /// User time of a model time.
    pub fn to_user(&self, time: f64) -> f64 {
        self.start + time / self.horizon * (self.end - self.start)
    }
}

/// The grid that paths are simulated on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum GridKind {
    /// One regular grid over the whole axis; observations belong to the nearest point of it.
    Regular {
        /// Number of points, both ends included.
        #[serde(default = "points")]
        points: usize,
    },
    /// For every series the times of its own observations, with points between where they are far apart.
    Observations {
        /// Largest step in model time.
        #[serde(default = "largest_step")]
        largest_step: f64,
    },
}

fn points() -> usize {
    101
}

fn largest_step() -> f64 {
    1.0 / 64.0
}

impl GridKind {
    /// The regular grid, if it is one.
    pub(super) fn shared(&self, axis: TimeAxis) -> Option<Vec<f64>> {
        let GridKind::Regular { points } = *self else { return None };
        let last = points.max(2) - 1;
        Some((0..=last).map(|j| axis.horizon * j as f64 / last as f64).collect())
    }
}

impl super::Batcher {
    /// The index of a time of the user on the grid, where all series share a regular one.
    pub fn grid_index(&self, time: f64) -> Option<usize> {
        let GridKind::Regular { points } = self.grid else { return None };
        Some(nearest(self.grid_axis.to_model(time), self.grid_axis.horizon, points))
    }
}

/// Index of the point of a regular grid of `points` that is nearest to the model time `t`.
pub(super) fn nearest(t: f64, horizon: f64, points: usize) -> usize {
    let last = points.max(2) - 1;
    ((t / horizon * last as f64).round().max(0.0) as usize).min(last)
}

/// The grid of one series from 0 through its increasing model `times`, and the index of each of them.
pub(super) fn through(times: &[f64], largest_step: f64) -> (Vec<f64>, Vec<usize>) {
    let mut grid = vec![0.0];
    let mut indices = Vec::with_capacity(times.len());
    // Times that rounding alone tells apart are one point.
    let smallest_step = 1e-4 * largest_step;
    for &time in times {
        let last = grid[grid.len() - 1];
        let gap = time - last;
        if gap > smallest_step {
            let parts = (gap / largest_step).ceil().max(1.0);
            grid.extend((1..parts as usize).map(|i| last + gap * i as f64 / parts));
            grid.push(time);
        }
        indices.push(grid.len() - 1);
    }
    (grid, indices)
}

/// Grids of all series of a batch in one list.
pub(super) fn join(grids: Vec<Vec<f64>>) -> PathGrid {
    let mut offsets = vec![0];
    let mut times = Vec::new();
    for grid in grids {
        times.extend(grid);
        offsets.push(times.len());
    }
    PathGrid::PerSeries { offsets, times }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_through_observations_keeps_its_steps_small() {
        let (grid, indices) = through(&[0.0, 0.05, 0.5], 0.1);
        assert_eq!(indices, [0, 1, grid.len() - 1]);
        assert!(grid.windows(2).all(|pair| pair[1] > pair[0] && pair[1] - pair[0] <= 0.1 + 1e-12));
        assert_eq!(grid[grid.len() - 1], 0.5);
    }

    #[test]
    fn times_that_rounding_alone_tells_apart_are_one_point() {
        let (grid, indices) = through(&[0.3, 0.3f64.next_up(), 0.3 + 1e-8, 0.4], 0.1);
        assert_eq!(indices[0], indices[1]);
        assert_eq!(indices[1], indices[2]);
        assert!(grid.windows(2).all(|pair| (pair[1] as f32) > pair[0] as f32));
    }

    #[test]
    fn observations_belong_to_the_nearest_point() {
        assert_eq!(nearest(0.99, 0.99, 100), 99);
        assert_eq!(nearest(0.0149, 0.99, 100), 1);
        assert_eq!(nearest(5.0, 0.99, 100), 99);
    }
}
