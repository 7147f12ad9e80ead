//! Batches of paths.

use std::hint::black_box;

use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::{
    Chebyshev, Drift, Grid, Noise, PathProblem, PathSolver, PiecewiseLinear, Prior, Requests, Space,
};

/// A batch of the paper's shape, six Chebyshev terms, or of steered paths with knots; states wanted at every time.
pub struct Batch {
    dim: usize,
    series: Vec<u32>,
    samples: usize,
    times: Vec<f32>,
    /// Knots of a steered path; empty where the drift is a sum of Chebyshev polynomials.
    knots: Vec<f32>,
    coefficients: Vec<f32>,
    /// Coefficients of the prior; empty where it has no drift.
    prior: Vec<f32>,
    start: Vec<f32>,
}

const TERMS: usize = 6;
/// Knots of a steered path: about as many as a series has observations.
const KNOTS: usize = 25;

fn scattered(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i * 7919 % 1000) as f32 / 1000.0 - 0.5).collect()
}

impl Batch {
    pub fn new(dim: usize, series: usize, samples: usize, steps: usize) -> Self {
        let m = Space::Sphere.algebra_dim(dim);
        let mut start = vec![0.0; samples * series * dim];
        start.chunks_mut(dim).enumerate().for_each(|(row, z)| z[row % dim] = 1.0);
        Self {
            dim,
            series: (0..series as u32).collect(),
            samples,
            times: (0..=steps).map(|j| j as f32 / steps as f32).collect(),
            knots: Vec::new(),
            coefficients: scattered(series * m * TERMS),
            prior: Vec::new(),
            start,
        }
    }

    /// For [`Scheme::Steered`](stroock_kernels::path::Scheme): a pull to a target that moves from knot to knot, of a norm
    /// of about 20.
    pub fn steered(dim: usize, series: usize, samples: usize, steps: usize) -> Self {
        Self {
            knots: (0..KNOTS).map(|k| k as f32 / (KNOTS - 1) as f32).collect(),
            coefficients: scattered(series * KNOTS * dim).iter().map(|x| 17.0 * x).collect(),
            ..Self::new(dim, series, samples, steps)
        }
    }

    pub fn with_prior(self) -> Self {
        Self { prior: self.coefficients.iter().map(|c| 0.5 * c).collect(), ..self }
    }

    pub fn problem(&self) -> PathProblem<'_, f32> {
        PathProblem {
            space: Space::Sphere,
            dim: self.dim,
            samples: self.samples,
            grid: Grid::Shared(&self.times),
            drift: match self.knots.is_empty() {
                true => chebyshev(&self.coefficients),
                false => {
                    let (knots, coefficients) = (Grid::Shared(&self.knots[..]), &self.coefficients[..]);
                    PiecewiseLinear { knots, coefficients }.into()
                }
            },
            prior: match self.prior.is_empty() {
                true => Prior::Driftless,
                false => Prior::Drift(chebyshev(&self.prior)),
            },
            sigma: 0.1,
            start: &self.start,
            noise: Noise::Counter { key: NoiseKey::new(1, 0), series: &self.series, first_sample: 0 },
            requests: Requests::All,
        }
    }

    pub fn series_steps(&self) -> u64 {
        (self.series.len() * self.samples * (self.times.len() - 1)) as u64
    }

    pub fn forward(&self, solver: PathSolver) {
        black_box(solver.forward(&self.problem()).expect("a well-formed problem"));
    }

    pub fn forward_backward(&self, solver: PathSolver, of_states: &[f32], of_kl: &[f32]) {
        let path = solver.forward(&self.problem()).expect("a well-formed problem");
        let gradients = solver.backward(&self.problem(), &path.tape, of_states, of_kl);
        black_box(gradients.expect("a well-formed problem"));
    }

    pub fn cotangents(&self) -> (Vec<f32>, Vec<f32>) {
        let rows = self.series.len() * self.samples;
        (vec![1.0; rows * self.times.len() * self.dim], vec![1.0; rows])
    }
}

fn chebyshev(coefficients: &[f32]) -> Drift<'_, f32> {
    Chebyshev { terms: TERMS, interval: (0.0, 2.0), coefficients }.into()
}
