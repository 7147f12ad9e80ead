//! The convolutions of the rotating digits and of the pendulum, with the normalisations between them: forward,
//! and forward with backward.

mod problems;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use problems::layers::{self, Layer, POOL, numbers};
use stroock_kernels::convolution::Images;
use stroock_kernels::normalisation::FrameNorm;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn run(criterion: &mut Criterion, name: &str, frames: &[usize], layers: &[Layer]) {
    for &frames in frames {
        let mut group = criterion.benchmark_group(format!("convolution/{name}/{frames} frames"));
        group.sample_size(10).throughput(Throughput::Elements(frames as u64));
        let [channels, ..] = layers[0].convolution.channels;
        let mut values = vec![numbers(frames * channels * layers[0].size[0] * layers[0].size[1])];
        let mut outputs = Vec::new();
        for layer in layers {
            let output = layer.forward(frames, &values[values.len() - 1]);
            values.push(output.values.clone());
            outputs.push(output);
        }
        let forward = || {
            for (layer, values) in layers.iter().zip(&values) {
                black_box(layer.forward(frames, values));
            }
        };
        let backward = || {
            let saved = layers.iter().zip(&values).zip(&outputs);
            for ((layer, values), output) in saved.rev() {
                // The output stands in for its own gradient.
                black_box(layer.backward(frames, values, output, &output.values));
            }
        };
        group.bench_function("forward", |bencher| bencher.iter(forward));
        group.bench_function("forward+backward", |bencher| bencher.iter(|| (forward(), backward())));
        for ((layer, values), output) in layers.iter().zip(&values).zip(&outputs) {
            group.bench_function(BenchmarkId::new(layer.name(), "forward"), |bencher| {
                bencher.iter(|| black_box(layer.forward(frames, values)));
            });
            group.bench_function(BenchmarkId::new(layer.name(), "backward"), |bencher| {
                bencher.iter(|| black_box(layer.backward(frames, values, output, &output.values)));
            });
        }
    }
}

fn rotating_digits(criterion: &mut Criterion) {
    run(criterion, "rotating digits encoder", &[32, 50], &layers::digits_encoder());
    run(criterion, "rotating digits decoder", &[352, 800], &layers::digits_decoder());
}

fn pendulum(criterion: &mut Criterion) {
    run(criterion, "pendulum encoder", &[3200], &layers::pendulum_encoder());
    run(criterion, "pendulum decoder", &[3200], &layers::pendulum_decoder());
}

/// Pooling alone, beside the fused one of the pendulum's encoder.
fn pooling(criterion: &mut Criterion) {
    let (planes, size) = (3200 * 12, [24, 24]);
    let values = numbers(planes * size[0] * size[1]);
    let images = Images { values: &values, frames: planes, size };
    let pooled = POOL.forward(images).expect("well-formed planes");
    let mut group = criterion.benchmark_group("convolution/pooling 2x2/3200 frames of 12x24x24");
    group.sample_size(10);
    group.bench_function("forward", |bencher| bencher.iter(|| black_box(POOL.forward(images))));
    group.bench_function("backward", |bencher| {
        bencher.iter(|| black_box(POOL.backward(planes, size, &pooled.indices, &pooled.values)));
    });
}

/// The normalisations of the pendulum's decoder. Throughput is in bytes of the images: the limit is how fast
/// memory can be read and written.
fn normalisation(criterion: &mut Criterion) {
    for (channels, side) in [(16, 9), (12, 17)] {
        let frames = 3200;
        let values = numbers(frames * channels * side * side);
        let images = Images { values: &values, frames, size: [side, side] };
        let norm = FrameNorm::new(channels).relu();
        let (scale, offset) = (vec![1.0; channels], vec![0.0; channels]);
        let forward = || norm.forward(images, &scale, &offset).expect("well-formed frames");
        let mut group =
            criterion.benchmark_group(format!("normalisation/{frames} frames of {channels}x{side}x{side}"));
        group.sample_size(20).throughput(Throughput::Bytes(4 * values.len() as u64));
        group.bench_function("forward", |bencher| bencher.iter(forward));
        group.bench_function("forward+backward", |bencher| {
            bencher.iter(|| {
                let normalised = forward();
                // The output stands in for its own gradient.
                norm.backward(images, &scale, &offset, &normalised.tape, &normalised.values)
            });
        });
    }
}

criterion_group!(benches, rotating_digits, pendulum, pooling, normalisation);
criterion_main!(benches);
