//! Layers with everything that they read, which the tests of convolutions share.
#![allow(dead_code, reason = "each test file uses its part")]

use proptest::prelude::*;
use stroock_kernels::convolution::{
    Activation, Convolution, ConvolutionReal, Direction, Gradients, Images, Wanted,
};

/// A layer with everything that its two passes read.
#[derive(Clone, Debug)]
pub struct Case<T> {
    pub layer: Convolution,
    pub frames: usize,
    pub size: [usize; 2],
    pub input: Vec<T>,
    pub weight: Vec<T>,
    pub bias: Vec<T>,
    pub of_output: Vec<T>,
}

/// Numbers in (-1, 1) that look random.
pub fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

pub fn doubles<T: Copy + Into<f64>>(values: &[T]) -> Vec<f64> {
    values.iter().map(|&x| x.into()).collect()
}

impl Case<f64> {
    pub fn new(layer: Convolution, frames: usize, size: [usize; 2], seed: u64) -> Self {
        let [from, to] = layer.channels;
        let out = layer.output_size(size).unwrap();
        Self {
            layer,
            frames,
            size,
            input: numbers(seed, frames * from * size[0] * size[1]),
            weight: numbers(seed + 1, from * to * layer.kernel[0] * layer.kernel[1]),
            bias: numbers(seed + 2, to),
            of_output: numbers(seed + 3, frames * to * out[0] * out[1]),
        }
    }

    pub fn singles(&self) -> Case<f32> {
        let singles = |values: &[f64]| values.iter().map(|&x| x as f32).collect();
        Case {
            layer: self.layer,
            frames: self.frames,
            size: self.size,
            input: singles(&self.input),
            weight: singles(&self.weight),
            bias: singles(&self.bias),
            of_output: singles(&self.of_output),
        }
    }
}

impl<T: ConvolutionReal> Case<T> {
    pub fn images(&self) -> Images<'_, T> {
        Images { values: &self.input, frames: self.frames, size: self.size }
    }

    pub fn forward(&self) -> Vec<T> {
        self.layer.forward(self.images(), &self.weight, &self.bias).unwrap()
    }

    pub fn backward(&self, output: &[T], wanted: Wanted) -> Gradients<T> {
        self.layer.backward(self.images(), &self.weight, output, &self.of_output, wanted).unwrap()
    }

    /// The output and the three gradients.
    pub fn run(&self) -> [Vec<T>; 4] {
        let output = self.forward();
        let Gradients { input, weight, bias } = self.backward(&output, Wanted::All);
        [output, input, weight, bias]
    }

    pub fn with(&self, change: impl FnOnce(&mut Convolution)) -> Self {
        let mut case = self.clone();
        change(&mut case.layer);
        case
    }

    /// The frames of a range.
    pub fn part(&self, frames: std::ops::Range<usize>) -> Self {
        let cut = |values: &[T]| {
            let extent = values.len() / self.frames;
            values[frames.start * extent..frames.end * extent].to_vec()
        };
        let (input, of_output) = (cut(&self.input), cut(&self.of_output));
        Self { frames: frames.len(), input, of_output, ..self.clone() }
    }
}

/// Layers whose output has at least one pixel.
pub fn layers(channels: usize) -> impl Strategy<Value = (Convolution, [usize; 2])> {
    let pair = |range: std::ops::RangeInclusive<usize>| (range.clone(), range).prop_map(|(y, x)| [y, x]);
    let shape = (pair(1..=5), pair(1..=4), pair(0..=3), pair(1..=9));
    let kind = (any::<bool>(), any::<bool>(), pair(0..=3));
    (pair(1..=channels), shape, kind)
        .prop_map(|(channels, (kernel, stride, padding, size), (transposed, relu, output_padding))| {
            let output_padding = [output_padding[0] % stride[0], output_padding[1] % stride[1]];
            let direction = match transposed {
                true => Direction::Transposed { output_padding },
                false => Direction::Plain,
            };
            let activation = if relu { Activation::Relu } else { Activation::Identity };
            let plain = Convolution::plain(channels, kernel);
            (Convolution { stride, padding, direction, activation, ..plain }, size)
        })
        .prop_filter("an empty output", |(layer, size)| layer.output_size(*size).is_ok())
}

/// Layers for the tests of determinism: the sizes of the experiments are not needed.
pub fn small() -> Vec<(Convolution, [usize; 2])> {
    vec![
        (Convolution::plain([3, 7], [5, 5]).stride(2).padding(2).relu(), [9, 8]),
        (Convolution::transposed([5, 1], [5, 5]).padding(2), [5, 5]),
        (Convolution::transposed([40, 33], [5, 5]).stride(2).padding(2).output_padding(1).relu(), [5, 4]),
        (Convolution::plain([32, 32], [3, 3]).padding(1).relu(), [5, 4]),
    ]
}

pub fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}
