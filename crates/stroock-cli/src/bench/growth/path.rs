//! Paths of any shape.

use std::hint::black_box;

use rand_core::Rng;
use stroock_kernels::noise::{NoiseKey, Purpose};
use stroock_kernels::path::{
    Chebyshev, Drift, Grid, Memory, Noise, PathProblem, PathSolver, Prior, Requests, Space,
};
use stroock_kernels::start::{Draws, uniform};

use crate::failure::Failure;

const TERMS: usize = 6;

/// The extents of a batch of paths.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub steps: usize,
    pub series: usize,
    pub samples: usize,
    pub dim: usize,
}

/// Paths over [0, 1] whose last states are asked for: only the times are as many as the steps.
pub struct Paths {
    shape: Shape,
    numbers: Vec<u32>,
    times: Vec<f32>,
    coefficients: Vec<f32>,
    start: Vec<f32>,
    offsets: Vec<usize>,
    indices: Vec<usize>,
    of_states: Vec<f32>,
    of_kl: Vec<f32>,
}

impl Paths {
    pub fn new(shape: Shape) -> Result<Self, Failure> {
        let Shape { steps, series, samples, dim } = shape;
        let key = NoiseKey::new(1, 0);
        let numbers: Vec<u32> = (0..series as u32).collect();
        let start = uniform(dim, Draws { key, series: &numbers, samples, first_sample: 0 })?;
        let mut stream = key.stream(Purpose::Caller, 0, 0);
        // A random matrix turns by the root of its extent: without the factor, larger ones would take more terms of
        // the exponential.
        let scale = 4.0 / (dim as f64).sqrt();
        let mut number = || (scale * (f64::from(stream.next_u32()) / 2f64.powi(31) - 1.0)) as f32;
        let coefficients = Space::Sphere.algebra_dim(dim) * TERMS;
        Ok(Self {
            shape,
            times: (0..=steps).map(|j| j as f32 / steps.max(1) as f32).collect(),
            coefficients: (0..series * coefficients).map(|_| number()).collect(),
            start,
            offsets: (0..=series).collect(),
            indices: vec![steps; series],
            of_states: vec![1.0; samples * series * dim],
            of_kl: vec![1.0; samples * series],
            numbers,
        })
    }

    /// Megabytes of the times.
    pub fn times_mb(&self) -> f64 {
        (self.times.len() * size_of::<f32>()) as f64 / 1e6
    }

    /// Forward and backward.
    pub fn pass(&self, memory: Memory) -> Result<(), Failure> {
        let interval = (0.0, 2.0);
        let problem = PathProblem {
            space: Space::Sphere,
            dim: self.shape.dim,
            samples: self.shape.samples,
            grid: Grid::Shared(&self.times),
            drift: Drift::Chebyshev(Chebyshev { terms: TERMS, interval, coefficients: &self.coefficients }),
            prior: Prior::Driftless,
            sigma: 0.1,
            start: &self.start,
            noise: Noise::Counter { key: NoiseKey::new(1, 0), series: &self.numbers, first_sample: 0 },
            requests: Requests::At { offsets: &self.offsets, indices: &self.indices },
        };
        let solver = PathSolver { memory, ..PathSolver::default() };
        let path = solver.forward(&problem)?;
        black_box(solver.backward(&problem, &path.tape, &self.of_states, &self.of_kl)?);
        Ok(())
    }
}
