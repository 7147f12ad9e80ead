//! The encoder of irregular series: time attention at the shape of PhysioNet, and the recurrent unit behind it.

mod problems;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use problems::encoder::{Ragged, Recurrent};
use stroock_kernels::attention::{AttentionSolver, ValueGradient};
use stroock_kernels::gru::GruSolver;
use stroock_kernels::simd::Level;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn attention(criterion: &mut Criterion) {
    let ragged = Ragged::new(50);
    let problem = ragged.problem();
    let mut group = criterion.benchmark_group("attention/PhysioNet");
    group.throughput(Throughput::Elements(ragged.entries() as u64));
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        let solver = AttentionSolver { level };
        group.bench_function(format!("{level:?}/forward"), |bencher| {
            bencher.iter(|| black_box(solver.forward(&problem).expect("a well-formed problem")));
        });
        for values in [ValueGradient::Skipped, ValueGradient::Computed] {
            group.bench_function(format!("{level:?}/forward+backward/values {values:?}"), |bencher| {
                bencher.iter(|| {
                    let attended = solver.forward(&problem).expect("a well-formed problem");
                    let gradients = solver.backward(&problem, &attended.tape, &ragged.of_output, values);
                    black_box(gradients.expect("a well-formed problem"))
                });
            });
        }
    }
}

fn gru(criterion: &mut Criterion) {
    let steps = 128;
    for (series, width, hidden) in [(50, 64, 64), (50, 82, 64), (64, 64, 32), (64, 64, 128)] {
        let name = format!("gru/{series} series, {steps} steps, {width} inputs, {hidden} units");
        recurrence(criterion, name, &Recurrent::new(series, steps, width, hidden));
    }
    let name = format!("gru/50 series, up to {steps} steps, 82 inputs, 64 units, all states");
    recurrence(criterion, name, &Recurrent::ragged(50, steps, 82, 64));
}

fn recurrence(criterion: &mut Criterion, name: String, recurrent: &Recurrent) {
    let problem = recurrent.problem();
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(recurrent.rows() as u64));
    let solver = GruSolver::default();
    group.bench_function("forward", |bencher| {
        bencher.iter(|| black_box(solver.forward(&problem).expect("a well-formed problem")));
    });
    group.bench_function("forward+backward", |bencher| {
        bencher.iter(|| {
            let recurrence = solver.forward(&problem).expect("a well-formed problem");
            let gradients = solver.backward(&problem, &recurrence.tape, &recurrent.of_states);
            black_box(gradients.expect("a well-formed problem"))
        });
    });
}

criterion_group!(benches, attention, gru);
criterion_main!(benches);
