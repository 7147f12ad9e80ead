//! The networks of the rotating digits and of the pendulum, in one piece and layer by layer: forward, and forward with
//! backward.

mod problems;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use problems::layers::{self, Problem};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn run(criterion: &mut Criterion, name: &str, frames: &[usize], problem: fn(usize) -> Problem) {
    for &frames in frames {
        let mut group = criterion.benchmark_group(format!("network/{name}/{frames} frames"));
        group.sample_size(10).throughput(Throughput::Elements(frames as u64));
        let whole = problem(frames);
        let layers = whole.layers();
        for (name, problem) in std::iter::once(("all layers".to_owned(), whole)).chain(layers) {
            group.bench_function(BenchmarkId::new(&name, "forward"), |bencher| {
                bencher.iter(|| black_box(problem.forward()));
            });
            group.bench_function(BenchmarkId::new(&name, "forward+backward"), |bencher| {
                bencher.iter(|| black_box(problem.backward(&problem.forward())));
            });
        }
    }
}

fn rotating_digits(criterion: &mut Criterion) {
    run(criterion, "rotating digits encoder", &[32, 50], layers::digits_encoder);
    run(criterion, "rotating digits decoder", &[352, 800], layers::digits_decoder);
}

fn pendulum(criterion: &mut Criterion) {
    run(criterion, "pendulum encoder", &[3200], layers::pendulum_encoder);
    run(criterion, "pendulum decoder", &[3200], layers::pendulum_decoder);
}

criterion_group!(benches, rotating_digits, pendulum);
criterion_main!(benches);
