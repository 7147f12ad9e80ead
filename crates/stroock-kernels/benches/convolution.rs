//! The convolutions of the rotating digits and of the pendulum, with the normalisations between them: forward,
//! and forward with backward.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use stroock_kernels::convolution::{Convolution, Gradients, Images, MaxPool, Pooled, Wanted};
use stroock_kernels::normalisation::FrameNorm;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const POOL: MaxPool = MaxPool { window: [2, 2] };

/// A convolution, with its pooling fused if it has one.
struct Layer {
    convolution: Convolution,
    pooled: bool,
    size: [usize; 2],
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Layer {
    fn forward(&self, frames: usize, values: &[f32]) -> Pooled<f32> {
        let images = Images { values, frames, size: self.size };
        let (convolution, weight, bias) = (&self.convolution, &self.weight, &self.bias);
        let result = match self.pooled {
            true => convolution.forward_pooled(images, weight, bias, POOL),
            false => {
                convolution.forward(images, weight, bias).map(|values| Pooled { values, indices: Vec::new() })
            }
        };
        result.expect("a well-formed layer")
    }

    fn backward(
        &self,
        frames: usize,
        values: &[f32],
        output: &Pooled<f32>,
        of_output: &[f32],
    ) -> Gradients<f32> {
        let images = Images { values, frames, size: self.size };
        let (convolution, weight) = (&self.convolution, &self.weight);
        // Images of one channel are data: nobody asks for their gradient.
        let wanted = if convolution.channels[0] == 1 { Wanted::Parameters } else { Wanted::All };
        let result = match self.pooled {
            true => convolution.backward_pooled(images, weight, POOL, output.maxima(), of_output, wanted),
            false => convolution.backward(images, weight, &output.values, of_output, wanted),
        };
        result.expect("a well-formed layer")
    }

    fn name(&self) -> String {
        format!("{} to {} channels", self.convolution.channels[0], self.convolution.channels[1])
    }
}

/// Numbers of both signs, without a pattern that a processor could learn.
fn numbers(count: usize) -> Vec<f32> {
    (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 8_388_608.0 - 1.0).collect()
}

/// Layers one after the other, for square images of `size` pixels on a side.
fn stack(size: usize, layers: &[(Convolution, bool)]) -> Vec<Layer> {
    let mut size = [size; 2];
    let chained = layers.iter().map(|&(convolution, pooled)| {
        let [from, to] = convolution.channels;
        let taps = convolution.kernel[0] * convolution.kernel[1];
        let scale = (from * taps) as f32;
        let weight = numbers(from * to * taps).iter().map(|w| w / scale.sqrt()).collect();
        let layer = Layer { convolution, pooled, size, weight, bias: numbers(to) };
        size = convolution.output_size(size).expect("a well-formed layer");
        if pooled {
            size = POOL.output_size(size).expect("a well-formed layer");
        }
        layer
    });
    chained.collect()
}

fn plain(from: usize, to: usize, kernel: usize) -> Convolution {
    Convolution::plain([from, to], [kernel; 2]).relu()
}

fn transposed(from: usize, to: usize, kernel: usize) -> Convolution {
    Convolution::transposed([from, to], [kernel; 2]).relu()
}

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
    let encoder = [(1, 8), (8, 16), (16, 32), (32, 64)]
        .map(|(from, to)| (plain(from, to, 5).stride(2).padding(2), false));
    run(criterion, "rotating digits encoder", &[32, 50], &stack(28, &encoder));
    let decoder = [
        (transposed(8, 128, 3).stride(2), false),
        (transposed(128, 64, 5).stride(2).padding(2).output_padding(1), false),
        (transposed(64, 32, 5).stride(2).padding(2).output_padding(1), false),
        (transposed(32, 1, 5).padding(2), false),
    ];
    run(criterion, "rotating digits decoder", &[352, 800], &stack(3, &decoder));
}

fn pendulum(criterion: &mut Criterion) {
    let encoder = [(plain(1, 12, 5).padding(2), true), (plain(12, 12, 3).stride(2).padding(1), true)];
    run(criterion, "pendulum encoder", &[3200], &stack(24, &encoder));
    let decoder = [
        (transposed(16, 16, 5).stride(4).padding(2), false),
        (transposed(16, 12, 3).stride(2).padding(1), false),
        (transposed(12, 1, 2).stride(2).padding(5), false),
    ];
    run(criterion, "pendulum decoder", &[3200], &stack(3, &decoder));
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
