//! The path: forward, and forward with backward. Throughput is in series-steps per second.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::{Drift, Grid, Memory, Noise, PathProblem, PathSolver, Prior, Requests, Space};
use stroock_kernels::simd::Level;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A batch of the paper's shape: six Chebyshev terms, states wanted at every time.
struct Batch {
    dim: usize,
    series: Vec<u32>,
    samples: usize,
    times: Vec<f32>,
    coefficients: Vec<f32>,
    /// Coefficients of the prior; empty where it has no drift.
    prior: Vec<f32>,
    start: Vec<f32>,
}

const TERMS: usize = 6;

impl Batch {
    fn new(dim: usize, series: usize, samples: usize, steps: usize) -> Self {
        let m = Space::Sphere.algebra_dim(dim);
        let mut start = vec![0.0; samples * series * dim];
        start.chunks_mut(dim).enumerate().for_each(|(row, z)| z[row % dim] = 1.0);
        Self {
            dim,
            series: (0..series as u32).collect(),
            samples,
            times: (0..=steps).map(|j| j as f32 / steps as f32).collect(),
            coefficients: (0..series * m * TERMS).map(|i| (i * 7919 % 1000) as f32 / 1000.0 - 0.5).collect(),
            prior: Vec::new(),
            start,
        }
    }

    fn with_prior(self) -> Self {
        Self { prior: self.coefficients.iter().map(|c| 0.5 * c).collect(), ..self }
    }

    fn problem(&self) -> PathProblem<'_, f32> {
        PathProblem {
            space: Space::Sphere,
            dim: self.dim,
            samples: self.samples,
            grid: Grid::Shared(&self.times),
            drift: Drift::Chebyshev { terms: TERMS, interval: (0.0, 2.0), coefficients: &self.coefficients },
            prior: match self.prior.is_empty() {
                true => Prior::Driftless,
                false => Prior::Chebyshev { terms: TERMS, interval: (0.0, 2.0), coefficients: &self.prior },
            },
            sigma: 0.1,
            start: &self.start,
            noise: Noise::Counter { key: NoiseKey::new(1, 0), series: &self.series, first_sample: 0 },
            requests: Requests::All,
        }
    }

    fn series_steps(&self) -> u64 {
        (self.series.len() * self.samples * (self.times.len() - 1)) as u64
    }

    fn forward(&self, solver: PathSolver) {
        black_box(solver.forward(&self.problem()).expect("a well-formed problem"));
    }

    fn forward_backward(&self, solver: PathSolver, of_states: &[f32], of_kl: &[f32]) {
        let path = solver.forward(&self.problem()).expect("a well-formed problem");
        let gradients = solver.backward(&self.problem(), &path.tape, of_states, of_kl);
        black_box(gradients.expect("a well-formed problem"));
    }

    fn cotangents(&self) -> (Vec<f32>, Vec<f32>) {
        let rows = self.series.len() * self.samples;
        (vec![1.0; rows * self.times.len() * self.dim], vec![1.0; rows])
    }
}

fn path(criterion: &mut Criterion) {
    let solver = PathSolver::default();
    for dim in [3, 16, 64] {
        for backward in [false, true] {
            let name = if backward { "forward+backward" } else { "forward" };
            let mut group = criterion.benchmark_group(format!("path/n={dim}/{name}"));
            group.sample_size(10);
            for steps in [16, 480, 2880] {
                let batch = Batch::new(dim, 50, 1, steps);
                group.throughput(Throughput::Elements(batch.series_steps()));
                let (of_states, of_kl) = batch.cotangents();
                group.bench_function(BenchmarkId::from_parameter(steps), |bencher| {
                    bencher.iter(|| match backward {
                        false => batch.forward(solver),
                        true => batch.forward_backward(solver, &of_states, &of_kl),
                    });
                });
            }
        }
    }
}

/// The cost of regenerating states, of doing without vector instructions, and of a prior with a drift.
fn variants(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("path/n=16/forward+backward/480 steps");
    group.sample_size(10);
    let batch = Batch::new(16, 50, 1, 480);
    group.throughput(Throughput::Elements(batch.series_steps()));
    let (of_states, of_kl) = batch.cotangents();
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        for memory in [Memory::Stored, Memory::Reversible] {
            group.bench_function(format!("{level:?}/{memory:?}"), |bencher| {
                bencher.iter(|| batch.forward_backward(PathSolver { level, memory }, &of_states, &of_kl));
            });
        }
    }
    let batch = batch.with_prior();
    group.bench_function("a prior with a drift", |bencher| {
        bencher.iter(|| batch.forward_backward(PathSolver::default(), &of_states, &of_kl));
    });
}

/// Growth in series and in samples: the time per series-step should stay flat.
fn growth(criterion: &mut Criterion) {
    let solver = PathSolver::default();
    let mut group = criterion.benchmark_group("path/n=16/growth/480 steps");
    group.sample_size(10);
    for (series, samples) in [(16, 1), (64, 1), (256, 1), (16, 4), (16, 16)] {
        let batch = Batch::new(16, series, samples, 480);
        group.throughput(Throughput::Elements(batch.series_steps()));
        let (of_states, of_kl) = batch.cotangents();
        group.bench_function(format!("{series} series/{samples} samples"), |bencher| {
            bencher.iter(|| batch.forward_backward(solver, &of_states, &of_kl));
        });
    }
}

criterion_group!(benches, path, variants, growth);
criterion_main!(benches);
