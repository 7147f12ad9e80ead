//! The path: forward, and forward with backward. Throughput is in series-steps per second.

mod problems;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use problems::path::Batch;
use stroock_kernels::path::{Memory, PathSolver, Scheme};
use stroock_kernels::simd::Level;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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

/// Steered paths, to be read beside the open loops of the same dimension.
fn steered(criterion: &mut Criterion) {
    let solver = PathSolver { scheme: Scheme::Steered, ..PathSolver::default() };
    for backward in [false, true] {
        let name = if backward { "forward+backward" } else { "forward" };
        let mut group = criterion.benchmark_group(format!("path/n=16/steered/{name}"));
        group.sample_size(10);
        for steps in [16, 480] {
            let batch = Batch::steered(16, 50, 1, steps);
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
                bencher.iter(|| {
                    batch.forward_backward(
                        PathSolver { level, memory, ..PathSolver::default() },
                        &of_states,
                        &of_kl,
                    )
                });
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

criterion_group!(benches, path, steered, variants, growth);
criterion_main!(benches);
