//! What a path is computed from.

use stroock_geometry::Real;

use super::{Drift, Space};
use crate::noise::NoiseKey;

/// The times of the grid: `T + 1` times are `T` steps.
#[derive(Clone, Copy, Debug)]
pub enum Grid<'a, T> {
    /// One list of increasing times for every series.
    Shared(&'a [T]),
    /// A list for every series: series `b` has `times[offsets[b]..offsets[b + 1]]`.
    PerSeries {
        /// `[B + 1]`, from 0 to the number of all times.
        offsets: &'a [usize],
        /// All times, series after series.
        times: &'a [T],
    },
}

/// The prior: the process with the same diffusion that a path's divergence is taken from. Its drift does not move the
/// path, but for paths that are [steered](super::Scheme::Steered), whose drift is added to it.
#[derive(Clone, Copy, Debug)]
pub enum Prior<'a, T> {
    /// The Brownian motion of the space.
    Driftless,
    /// With a drift `P(t, z)` of any kind.
    Drift(Drift<'a, T>),
}

/// The standard normals that drive the path.
#[derive(Clone, Copy, Debug)]
pub enum Noise<'a, T> {
    /// Regenerated where needed: a function of the key, the series, the sample, the step and the coefficient.
    Counter {
        /// Seed and epoch.
        key: NoiseKey,
        /// `[B]`: the number of each series in the data set.
        series: &'a [u32],
        /// The number of the first sample, for draws that continue earlier ones.
        first_sample: u32,
    },
    /// Given numbers: `[S, B, T, m]`, or `[S]` times series after series on grids of their own. The last axis is as
    /// long as the scheme asks for: `n` with [`Scheme::TangentNoise`](super::Scheme::TangentNoise).
    Given(&'a [T]),
}

/// Where states are asked for.
#[derive(Clone, Copy, Debug)]
pub enum Requests<'a> {
    /// At every time of the grid.
    All,
    /// Series `b` at the grid indices `indices[offsets[b]..offsets[b + 1]]`, which must not decrease.
    At {
        /// `[B + 1]`, from 0 to the number of all requests.
        offsets: &'a [usize],
        /// All indices, series after series.
        indices: &'a [usize],
    },
}

/// A batch of `B` series with `S` paths each.
#[derive(Clone, Copy, Debug)]
pub struct PathProblem<'a, T> {
    /// Homogeneous space.
    pub space: Space,
    /// Ambient dimension `n`.
    pub dim: usize,
    /// Paths `S` per series.
    pub samples: usize,
    /// Times.
    pub grid: Grid<'a, T>,
    /// Drift.
    pub drift: Drift<'a, T>,
    /// Drift of the prior.
    pub prior: Prior<'a, T>,
    /// Scale of the diffusion, positive.
    pub sigma: T,
    /// Start points `[S, B, n]`, on the space.
    pub start: &'a [T],
    /// Noise.
    pub noise: Noise<'a, T>,
    /// Where states are asked for.
    pub requests: Requests<'a>,
}

impl<'a, T> Prior<'a, T> {
    /// The drift, where it has one.
    pub(super) fn drift(&self) -> Option<&Drift<'a, T>> {
        match self {
            Prior::Driftless => None,
            Prior::Drift(drift) => Some(drift),
        }
    }
}

impl<'a, T: Real> Grid<'a, T> {
    /// The times of one series.
    pub(crate) fn of_series(&self, series: usize) -> &'a [T] {
        match self {
            Grid::Shared(times) => times,
            Grid::PerSeries { offsets, times } => &times[offsets[series]..offsets[series + 1]],
        }
    }
}
