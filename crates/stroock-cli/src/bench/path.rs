//! The latent path alone, forward and backward, in single precision.

use std::hint::black_box;
use std::time::Instant;

use rand_core::Rng;
use serde::Serialize;
use stroock_kernels::noise::{NoiseKey, Purpose};
use stroock_kernels::path::{
    Chebyshev, Drift, Grid, Memory, Noise, PathProblem, PathSolver, Prior, Requests, Space,
};
use stroock_kernels::start::{Draws, uniform};

use super::record::Record;
use super::timing::Passes;
use crate::arguments::PathArguments;
use crate::failure::Failure;
use crate::output::{print, print_json};

const TERMS: usize = 6;
const INTERVAL: (f32, f32) = (0.0, 2.0);
const SIGMA: f32 = 0.1;
const WARM_UP: usize = 3;

/// What a record says beside its tensors.
#[derive(Serialize)]
struct Settings {
    terms: usize,
    interval: (f32, f32),
    sigma: f32,
}

#[derive(Serialize)]
struct Report {
    name: String,
    steps: usize,
    series: usize,
    dim: usize,
    reversible: bool,
    #[serde(flatten)]
    passes: Passes,
}

pub fn run(arguments: &PathArguments) -> Result<(), Failure> {
    let &PathArguments { steps, series, dim, reversible, repeat, json, .. } = arguments;
    let key = NoiseKey::new(1, 0);
    let numbers: Vec<u32> = (0..series as u32).collect();
    let start: Vec<f32> = uniform(dim, Draws { key, series: &numbers, samples: 1, first_sample: 0 })?;
    let times: Vec<f32> = (0..=steps).map(|j| j as f32 / steps.max(1) as f32).collect();
    let mut stream = key.stream(Purpose::Caller, 0, 0);
    let mut number = || (f64::from(stream.next_u32()) / 2f64.powi(31) - 1.0) as f32;
    let m = Space::Sphere.algebra_dim(dim);
    let coefficients: Vec<f32> = (0..series * m * TERMS).map(|_| number()).collect();
    let problem = PathProblem {
        space: Space::Sphere,
        dim,
        samples: 1,
        grid: Grid::Shared(&times),
        drift: Drift::Chebyshev(Chebyshev { terms: TERMS, interval: INTERVAL, coefficients: &coefficients }),
        prior: Prior::Driftless,
        sigma: SIGMA,
        start: &start,
        noise: Noise::Counter { key, series: &numbers, first_sample: 0 },
        requests: Requests::All,
    };
    let memory = if reversible { Memory::Reversible } else { Memory::Stored };
    let solver = PathSolver { memory, ..PathSolver::default() };
    let of_states: Vec<f32> = (0..series * (steps + 1) * dim).map(|_| number()).collect();
    let of_kl = vec![1.0; series];
    if let Some(file) = &arguments.record {
        let path = solver.forward(&problem)?;
        let gradients = solver.backward(&problem, &path.tape, &of_states, &of_kl)?;
        let mut record = Record::new("path");
        record.set("path", &Settings { terms: TERMS, interval: INTERVAL, sigma: SIGMA })?;
        record.push("grid.times", &[steps + 1], times.clone())?;
        record.push("start", &[1, series, dim], start.clone())?;
        record.push("drift", &[series, m, TERMS], coefficients.clone())?;
        record.push_noise(key, &numbers, 1, steps, m)?;
        record.push("of_states", &[1, series, steps + 1, dim], of_states)?;
        record.push("result.states", &[1, series, steps + 1, dim], path.states)?;
        record.push("result.kl", &[1, series], path.kl)?;
        record.push("gradient.start", &[1, series, dim], gradients.start)?;
        record.push("gradient.drift", &[series, m, TERMS], gradients.drift)?;
        record.push("gradient.sigma", &[1], vec![gradients.sigma.iter().sum::<f32>()])?;
        return record.save(file);
    }

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
    let report = Report {
        name: format!("path/{steps}-steps"),
        steps,
        series,
        dim,
        reversible,
        passes: Passes::of(&forwards, &backwards),
    };
    if json {
        return print_json(&report);
    }
    print(&format!("{series} series on S^{}, {steps} steps, {}", dim.saturating_sub(1), report.passes))
}
