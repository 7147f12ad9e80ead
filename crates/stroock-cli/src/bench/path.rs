//! The latent path alone, forward and backward, in single precision.

use std::hint::black_box;
use std::time::Instant;

use rand_core::Rng;
use serde::Serialize;
use stroock_kernels::noise::{NoiseKey, Purpose};
use stroock_kernels::path::{Drift, Grid, Memory, Noise, PathProblem, PathSolver, Prior, Requests, Space};
use stroock_kernels::start::{Draws, uniform};

use super::timing::Timing;
use crate::arguments::PathArguments;
use crate::failure::Failure;
use crate::output::{print, print_json};

const TERMS: usize = 6;
const WARM_UP: usize = 3;

#[derive(Serialize)]
struct Report {
    name: String,
    steps: usize,
    series: usize,
    dim: usize,
    reversible: bool,
    threads: usize,
    repeat: usize,
    #[serde(flatten)]
    both: Timing,
    forward_ms: f64,
    backward_ms: f64,
}

pub fn run(arguments: &PathArguments) -> Result<(), Failure> {
    let &PathArguments { steps, series, dim, reversible, repeat, json } = arguments;
    let key = NoiseKey::new(1, 0);
    let numbers: Vec<u32> = (0..series as u32).collect();
    let start: Vec<f32> = uniform(dim, Draws { key, series: &numbers, samples: 1, first_sample: 0 })?;
    let times: Vec<f32> = (0..=steps).map(|j| j as f32 / steps.max(1) as f32).collect();
    let mut stream = key.stream(Purpose::Other, 0, 0);
    let mut number = || (f64::from(stream.next_u32()) / 2f64.powi(31) - 1.0) as f32;
    let m = Space::Sphere.algebra_dim(dim);
    let coefficients: Vec<f32> = (0..series * m * TERMS).map(|_| number()).collect();
    let problem = PathProblem {
        space: Space::Sphere,
        dim,
        samples: 1,
        grid: Grid::Shared(&times),
        drift: Drift::Chebyshev { terms: TERMS, interval: (0.0, 2.0), coefficients: &coefficients },
        prior: Prior::Driftless,
        sigma: 0.1,
        start: &start,
        noise: Noise::Counter { key, series: &numbers, first_sample: 0 },
        requests: Requests::All,
    };
    let memory = if reversible { Memory::Reversible } else { Memory::Stored };
    let solver = PathSolver { memory, ..PathSolver::default() };
    let of_states: Vec<f32> = (0..series * (steps + 1) * dim).map(|_| number()).collect();
    let of_kl = vec![1.0; series];

    let (mut forwards, mut backwards) = (Vec::new(), Vec::new());
    for i in 0..WARM_UP + repeat.max(1) {
        let began = Instant::now();
        let path = solver.forward(&problem)?;
        let forward = began.elapsed().as_secs_f64();
        let began = Instant::now();
        black_box(solver.backward(&problem, &path.tape, &of_states, &of_kl)?);
        if i >= WARM_UP {
            forwards.push(forward);
            backwards.push(began.elapsed().as_secs_f64());
        }
    }
    let both: Vec<f64> = forwards.iter().zip(&backwards).map(|(a, b)| a + b).collect();
    let report = Report {
        name: format!("path/{steps}-steps"),
        steps,
        series,
        dim,
        reversible,
        threads: rayon::current_num_threads(),
        repeat: both.len(),
        both: Timing::of(&both),
        forward_ms: Timing::of(&forwards).median_ms,
        backward_ms: Timing::of(&backwards).median_ms,
    };
    if json {
        return print_json(&report);
    }
    print(&format!(
        "{series} series on S^{}, {steps} steps, {} threads: {:.2} ms forward and backward (median of {}; 80 % between \
         {:.2} and {:.2})\n  forward {:.2} + backward {:.2} ms",
        dim.saturating_sub(1),
        report.threads,
        report.both.median_ms,
        report.repeat,
        report.both.low_ms,
        report.both.high_ms,
        report.forward_ms,
        report.backward_ms,
    ))
}
