//! Random numbers: the increments of paths, and start points. Throughput is in numbers per second.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use stroock_kernels::noise::{NoiseKey, increments};
use stroock_kernels::simd::Level;
use stroock_kernels::start::{Draws, PowerSphericalStart, StartDistribution, uniform};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn noise(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("noise/increments of one row, 480 x 120");
    group.throughput(Throughput::Elements(480 * 120));
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        group.bench_function(format!("{level:?}"), |bencher| {
            bencher.iter(|| black_box(increments::<f32>(level, NoiseKey::new(1, 0), 0, 0, 480, 120)));
        });
    }
}

fn start_points(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("start points, 64 series, 10 samples");
    group.throughput(Throughput::Elements(640));
    let series: Vec<u32> = (0..64).collect();
    let draws = Draws { key: NoiseKey::new(1, 0), series: &series, samples: 10, first_sample: 0 };
    for dim in [3, 16] {
        let mu: Vec<f32> =
            (0..64).flat_map(|b| (0..dim).map(move |i| f32::from(u8::from(i == b % dim)))).collect();
        let kappa: Vec<f32> = (0..64).map(|b| 1.2f32.powi(b)).collect();
        let start = PowerSphericalStart { dim, mu: &mu, kappa: &kappa };
        group.bench_function(format!("n={dim}/uniform"), |bencher| {
            bencher.iter(|| black_box(uniform::<f32>(dim, draws)));
        });
        group.bench_function(format!("n={dim}/power spherical"), |bencher| {
            bencher.iter(|| black_box(start.sample(draws)));
        });
        let (of_points, of_kl) = (vec![1.0; 640 * dim], vec![1.0; 64]);
        group.bench_function(format!("n={dim}/power spherical, pulled back"), |bencher| {
            bencher.iter(|| black_box(start.pull_back(draws, &of_points, &of_kl)));
        });
    }
}

criterion_group!(benches, noise, start_points);
criterion_main!(benches);
