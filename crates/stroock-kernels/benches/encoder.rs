//! The encoder of irregular series: time attention at the shape of PhysioNet, and the recurrent unit behind it.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use stroock_kernels::attention::{AttentionProblem, AttentionSolver, Entries, ValueGradient};
use stroock_kernels::gru::{GruProblem, GruSolver, Weights};
use stroock_kernels::noise::philox;
use stroock_kernels::simd::Level;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A number in (0, 1) that depends on `seed` and `i` alone.
fn uniform(seed: u32, i: usize) -> f32 {
    (philox([i as u32, seed, 0, 0], [0, 0])[0] as f32 + 0.5) * 2f32.powi(-32)
}

fn uniforms(seed: u32, count: usize, scale: f32) -> Vec<f32> {
    (0..count).map(|i| scale * (2.0 * uniform(seed, i) - 1.0)).collect()
}

/// Series of 41 channels with 72 points, of which 15 % of the entries are observed.
struct Ragged {
    queries: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
    offsets: Vec<usize>,
    points: Vec<u32>,
    times: Vec<u32>,
    point_offsets: Vec<usize>,
}

const SERIES: usize = 50;
const REFERENCES: usize = 128;
const EMBEDDING: usize = 128;
const CHANNELS: usize = 41;
const POINTS: usize = 72;
const DISTINCT_TIMES: usize = 481;

impl Ragged {
    fn new() -> Self {
        let (mut offsets, mut points) = (vec![0], Vec::new());
        for run in 0..SERIES * CHANNELS {
            let first = run / CHANNELS * POINTS;
            let own = first..first + POINTS;
            points.extend(own.filter(|p| uniform(1, run * POINTS + p) < 0.147).map(|p| p as u32));
            offsets.push(points.len());
        }
        Self {
            queries: uniforms(2, REFERENCES * EMBEDDING, 1.0),
            keys: uniforms(3, DISTINCT_TIMES * EMBEDDING, 1.0),
            values: uniforms(4, SERIES * POINTS * CHANNELS, 1.0),
            offsets,
            points,
            times: (0..SERIES * POINTS).map(|p| (uniform(5, p) * DISTINCT_TIMES as f32) as u32).collect(),
            point_offsets: (0..=SERIES).map(|b| b * POINTS).collect(),
        }
    }

    fn problem(&self) -> AttentionProblem<'_, f32> {
        AttentionProblem {
            width: EMBEDDING,
            channels: CHANNELS,
            queries: &self.queries,
            keys: &self.keys,
            values: &self.values,
            entries: Entries {
                offsets: &self.offsets,
                points: &self.points,
                times: &self.times,
                point_offsets: &self.point_offsets,
            },
        }
    }
}

fn attention(criterion: &mut Criterion) {
    let ragged = Ragged::new();
    let problem = ragged.problem();
    let of_output = uniforms(6, SERIES * REFERENCES * CHANNELS, 1.0);
    let mut group = criterion.benchmark_group("attention/PhysioNet");
    group.throughput(Throughput::Elements(ragged.points.len() as u64));
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        let solver = AttentionSolver { level };
        group.bench_function(format!("{level:?}/forward"), |bencher| {
            bencher.iter(|| black_box(solver.forward(&problem).expect("a well-formed problem")));
        });
        for values in [ValueGradient::Skipped, ValueGradient::Computed] {
            group.bench_function(format!("{level:?}/forward+backward/values {values:?}"), |bencher| {
                bencher.iter(|| {
                    let attended = solver.forward(&problem).expect("a well-formed problem");
                    let gradients = solver.backward(&problem, &attended.tape, &of_output, values);
                    black_box(gradients.expect("a well-formed problem"))
                });
            });
        }
    }
}

fn gru(criterion: &mut Criterion) {
    let steps = 128;
    for (series, width, hidden) in [(50, 64, 64), (50, 82, 64), (64, 64, 32), (64, 64, 128)] {
        let inputs = uniforms(1, series * steps * width, 1.0);
        let scale = (hidden as f32).sqrt().recip();
        let [w_ih, w_hh] = [(2, width), (3, hidden)].map(|(seed, n)| uniforms(seed, 3 * hidden * n, scale));
        let [b_ih, b_hh] = [4, 5].map(|seed| uniforms(seed, 3 * hidden, scale));
        let weights = Weights { w_ih: &w_ih, w_hh: &w_hh, b_ih: &b_ih, b_hh: &b_hh };
        let problem = GruProblem { steps, width, hidden, inputs: &inputs, weights };
        let of_last = uniforms(6, series * hidden, 1.0);
        let name = format!("gru/{series} series, {steps} steps, {width} inputs, {hidden} units");
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements((series * steps) as u64));
        let solver = GruSolver::default();
        group.bench_function("forward", |bencher| {
            bencher.iter(|| black_box(solver.forward(&problem).expect("a well-formed problem")));
        });
        group.bench_function("forward+backward", |bencher| {
            bencher.iter(|| {
                let recurrence = solver.forward(&problem).expect("a well-formed problem");
                let gradients = solver.backward(&problem, &recurrence.tape, &of_last);
                black_box(gradients.expect("a well-formed problem"))
            });
        });
    }
}

criterion_group!(benches, attention, gru);
criterion_main!(benches);
