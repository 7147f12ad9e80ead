//! What a path is computed from.

use stroock_geometry::Real;

use crate::noise::NoiseKey;

/// The homogeneous space and its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The sphere `S^{n-1}` under `SO(n)`; `m = n (n-1) / 2` coefficients, strictly lower triangle row by row.
    Sphere,
    /// `R^n` without the origin under `GL(n)`; `m = n^2` coefficients, row by row.
    GeneralLinear,
}

impl Space {
    /// Dimension `m` of the Lie algebra for ambient dimension `n`.
    pub fn algebra_dim(self, n: usize) -> usize {
        match self {
            Space::Sphere => n * n.saturating_sub(1) / 2,
            Space::GeneralLinear => n * n,
        }
    }

    pub(super) fn least_dim(self) -> usize {
        match self {
            Space::Sphere => 2,
            Space::GeneralLinear => 1,
        }
    }
}

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

/// The drift `K(t)` in coefficients over the basis of the Lie algebra.
#[derive(Clone, Copy, Debug)]
pub enum Drift<'a, T> {
    /// `K(t) = sum_d K_d T_d((t - a) / (b - a))`, with the Chebyshev polynomials `T_0 .. T_{terms - 1}` on the
    /// interval `(a, b)` (the paper's equation for the time evolution of the drift).
    Chebyshev {
        /// Number of polynomials.
        terms: usize,
        /// `(a, b)`.
        interval: (T, T),
        /// `[B, m, terms]`, the degree varying fastest.
        coefficients: &'a [T],
    },
    /// The drift at the start of every step: `[B, T, m]`, or series after series on grids of their own.
    Steps(&'a [T]),
}

/// The drift `P(t)` of the prior: the law with the same diffusion that a path's divergence is taken from. It
/// does not move the path.
#[derive(Clone, Copy, Debug)]
pub enum Prior<'a, T> {
    /// `P = 0`: the Brownian motion of the space.
    Driftless,
    /// `P(t) = sum_d P_d T_d((t - a) / (b - a))`, with a number of polynomials and an interval of its own.
    Chebyshev {
        /// Number of polynomials.
        terms: usize,
        /// `(a, b)`.
        interval: (T, T),
        /// `[B, m, terms]`, the degree varying fastest.
        coefficients: &'a [T],
    },
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
    /// Given numbers: `[S, B, T, m]`, or `[S]` times series after series on grids of their own.
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

impl<'a, T: Real> PathProblem<'a, T> {
    /// The times of one series.
    pub(super) fn times(&self, series: usize) -> &'a [T] {
        match self.grid {
            Grid::Shared(times) => times,
            Grid::PerSeries { offsets, times } => &times[offsets[series]..offsets[series + 1]],
        }
    }
}
