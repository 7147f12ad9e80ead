//! Networks with everything that they read, which the tests of networks share.
#![allow(dead_code, reason = "each test file uses its part")]

use std::ops::Range;

use proptest::prelude::*;
use stroock_kernels::network::{
    Activation, Convolution, Direction, Gradients, Images, Layer, MaxPool, Network, NetworkReal, Then, Wanted,
};
use stroock_kernels::simd::Level;
use stroock_testing::finite_difference::assert_close;

/// A network with everything that its two passes read.
#[derive(Clone, Debug)]
pub struct Case<T> {
    pub network: Network,
    pub frames: usize,
    pub size: [usize; 2],
    pub input: Vec<T>,
    pub parameters: Vec<T>,
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

impl Case<f64> {
    pub fn new(layers: Vec<Layer>, frames: usize, size: [usize; 2], seed: u64) -> Self {
        let network = Network::new(layers);
        let channels = |i: usize, side: usize| network.layers[i].convolution.channels[side];
        let out = network.output_size(size).unwrap();
        let last = channels(network.layers.len() - 1, 1);
        Self {
            frames,
            size,
            input: numbers(seed, frames * channels(0, 0) * size[0] * size[1]),
            parameters: numbers(seed + 1, network.parameters()),
            of_output: numbers(seed + 2, frames * last * out[0] * out[1]),
            network,
        }
    }

    /// A convolution alone.
    pub fn single(convolution: Convolution, frames: usize, size: [usize; 2], seed: u64) -> Self {
        Self::new(vec![layer(convolution, Then::Nothing)], frames, size, seed)
    }

    /// The convolution that changes nothing, of images of so many channels, and what follows it.
    pub fn behind_nothing(channels: usize, then: Then, frames: usize, size: [usize; 2], seed: u64) -> Self {
        let convolution = Convolution::plain([channels, channels], [1, 1]);
        let mut case = Self::new(vec![layer(convolution, then)], frames, size, seed);
        let (weight, bias) = (channels * channels, channels);
        for (place, number) in case.parameters[..weight + bias].iter_mut().enumerate() {
            *number = f64::from(u8::from(place < weight && place % (channels + 1) == 0));
        }
        case
    }
}

impl<T: NetworkReal> Case<T> {
    pub fn cast<U: NetworkReal>(&self) -> Case<U> {
        let cast = |values: &[T]| values.iter().map(|x| U::of(x.as_f64())).collect();
        Case {
            network: self.network.clone(),
            frames: self.frames,
            size: self.size,
            input: cast(&self.input),
            parameters: cast(&self.parameters),
            of_output: cast(&self.of_output),
        }
    }

    pub fn images(&self) -> Images<'_, T> {
        Images { values: &self.input, frames: self.frames, size: self.size }
    }

    pub fn forward(&self) -> Vec<T> {
        self.network.evaluate(self.images(), &self.parameters).unwrap()
    }

    /// The output and the gradients of the input and of the parameters.
    pub fn run(&self) -> [Vec<T>; 3] {
        let made = self.network.forward(self.images(), &self.parameters).unwrap();
        let gradients =
            self.network.backward(self.images(), &self.parameters, &made.tape, &self.of_output, Wanted::All);
        let Gradients { input, parameters } = gradients.unwrap();
        [made.values, input, parameters]
    }

    pub fn at(&self, level: Level) -> Self {
        Self { network: Network { level, ..self.network.clone() }, ..self.clone() }
    }

    /// The frames of a range.
    pub fn part(&self, frames: Range<usize>) -> Self {
        let cut = |values: &[T]| {
            let extent = values.len() / self.frames;
            values[frames.start * extent..frames.end * extent].to_vec()
        };
        let (input, of_output) = (cut(&self.input), cut(&self.of_output));
        Self { frames: frames.len(), input, of_output, ..self.clone() }
    }
}

pub const NAMES: [&str; 3] = ["output", "gradient of the input", "gradient of the parameters"];

/// Compares what [`Case::run`] gives, relative to the largest number of each.
pub fn assert_all_close<T: NetworkReal>(actual: &[Vec<T>; 3], expected: &[Vec<f64>; 3], tolerance: f64) {
    for ((name, actual), expected) in NAMES.iter().zip(actual).zip(expected) {
        let scale = expected.iter().fold(1f64, |scale, x| scale.max(x.abs()));
        let actual: Vec<f64> = actual.iter().map(|x| x.as_f64() / scale).collect();
        let expected: Vec<f64> = expected.iter().map(|x| x / scale).collect();
        assert_close(name, &actual, &expected, tolerance);
    }
}

pub fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

pub const POOL: Then = Then::Pool(MaxPool { window: [2, 2] });
pub const NORM: Then = Then::GroupNormRelu { epsilon: 1e-5 };

pub fn layer(convolution: Convolution, then: Then) -> Layer {
    Layer { convolution, then }
}

/// Convolutions whose output has at least one pixel.
pub fn convolutions(channels: usize) -> impl Strategy<Value = (Convolution, [usize; 2])> {
    let pair = |range: std::ops::RangeInclusive<usize>| (range.clone(), range).prop_map(|(y, x)| [y, x]);
    let shape = (pair(1..=5), pair(1..=4), pair(0..=3), pair(1..=9));
    let activations = [Activation::Identity, Activation::Relu, Activation::Sigmoid];
    let kind = (any::<bool>(), prop::sample::select(activations.to_vec()), pair(0..=3));
    (pair(1..=channels), shape, kind)
        .prop_map(|(channels, (kernel, stride, padding, size), (transposed, activation, output_padding))| {
            let output_padding = [output_padding[0] % stride[0], output_padding[1] % stride[1]];
            let direction = match transposed {
                true => Direction::Transposed { output_padding },
                false => Direction::Plain,
            };
            let plain = Convolution::plain(channels, kernel);
            (Convolution { stride, padding, direction, activation, ..plain }, size)
        })
        .prop_filter("an empty output", |(convolution, size)| convolution.output_size(*size).is_ok())
}

/// Networks like those of the experiments, with fewer channels, and every kind of layer alone.
pub fn networks() -> Vec<(Vec<Layer>, [usize; 2])> {
    let plain = |channels, kernel| Convolution::plain(channels, [kernel; 2]);
    let up = |channels, kernel| Convolution::transposed(channels, [kernel; 2]);
    vec![
        (
            vec![
                layer(plain([1, 12], 5).padding(2).relu(), POOL),
                layer(plain([12, 7], 3).stride(2).padding(1).relu(), POOL),
            ],
            [12, 13],
        ),
        (
            vec![
                layer(up([16, 16], 5).stride(4).padding(2), NORM),
                layer(up([16, 12], 3).stride(2).padding(1), NORM),
                layer(up([12, 1], 2).stride(2).padding(5).sigmoid(), Then::Nothing),
            ],
            [3, 3],
        ),
        (
            vec![
                layer(up([8, 40], 3).stride(2).relu(), Then::Nothing),
                layer(up([40, 33], 5).stride(2).padding(2).output_padding(1).relu(), Then::Nothing),
                layer(up([33, 1], 5).padding(2), Then::Nothing),
            ],
            [3, 3],
        ),
        (vec![layer(plain([2, 3], 3).padding(1).relu(), NORM)], [4, 5]),
        (vec![layer(plain([3, 2], 3).relu(), Then::Nothing)], [4, 5]),
        (vec![layer(plain([3, 7], 5).stride(2).padding(2), Then::Nothing)], [9, 8]),
        (vec![layer(up([5, 1], 5).padding(2), Then::Nothing)], [5, 5]),
        (vec![layer(up([2, 2], 2).stride(3).relu(), Then::Nothing)], [2, 3]),
        (vec![layer(plain([2, 3], 3).padding(1).sigmoid(), POOL)], [5, 6]),
        (vec![layer(up([3, 2], 3).stride(2).padding(1).sigmoid(), NORM)], [3, 2]),
    ]
}
