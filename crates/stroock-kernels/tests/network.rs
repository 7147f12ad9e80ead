//! Networks of layers in one piece against their layers one by one, finite differences, and themselves.

mod layers;

use layers::{bits, doubles, layers, numbers};
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use stroock_kernels::convolution::{Convolution, ConvolutionError, Images, MaxPool, Wanted};
use stroock_kernels::network::{Gradients, Layer, Network, NetworkReal, Then};
use stroock_kernels::normalisation::FrameNorm;
use stroock_kernels::simd::Level;
use stroock_testing::finite_difference::{assert_close, gradient};

/// A network with everything that its two passes read.
#[derive(Clone, Debug)]
struct Case<T> {
    network: Network,
    frames: usize,
    size: [usize; 2],
    input: Vec<T>,
    parameters: Vec<T>,
    of_output: Vec<T>,
}

impl Case<f64> {
    fn new(layers: Vec<Layer>, frames: usize, size: [usize; 2], seed: u64) -> Self {
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

    fn singles(&self) -> Case<f32> {
        let singles = |values: &[f64]| values.iter().map(|&x| x as f32).collect();
        Case {
            network: self.network.clone(),
            frames: self.frames,
            size: self.size,
            input: singles(&self.input),
            parameters: singles(&self.parameters),
            of_output: singles(&self.of_output),
        }
    }
}

impl<T: NetworkReal> Case<T> {
    fn images(&self) -> Images<'_, T> {
        Images { values: &self.input, frames: self.frames, size: self.size }
    }

    /// The output and the gradients of the input and of the parameters.
    fn run(&self) -> [Vec<T>; 3] {
        let made = self.network.forward(self.images(), &self.parameters).unwrap();
        let Gradients { input, parameters } = self
            .network
            .backward(self.images(), &self.parameters, &made.tape, &self.of_output, Wanted::All)
            .unwrap();
        [made.values, input, parameters]
    }

    fn part(&self, frames: std::ops::Range<usize>) -> Self {
        let cut = |values: &[T]| {
            let extent = values.len() / self.frames;
            values[frames.start * extent..frames.end * extent].to_vec()
        };
        let (input, of_output) = (cut(&self.input), cut(&self.of_output));
        Self { frames: frames.len(), input, of_output, ..self.clone() }
    }
}

/// The output and the gradients by the kernels of the single layers.
fn layer_by_layer(case: &Case<f64>) -> [Vec<f64>; 3] {
    let (mut values, mut size, mut rest) = (case.input.clone(), case.size, &case.parameters[..]);
    // For every layer: its input, its size, its parameters, and what is between the convolution and the end.
    let mut trail = Vec::new();
    let frames = case.frames;
    for layer in &case.network.layers {
        let Convolution { channels, kernel, .. } = layer.convolution;
        let (weight, bias, mut scale, mut offset);
        (weight, rest) = rest.split_at(channels[0] * channels[1] * kernel[0] * kernel[1]);
        (bias, rest) = rest.split_at(channels[1]);
        (scale, offset) = (&[][..], &[][..]);
        if let Then::FrameNormRelu { .. } = layer.then {
            (scale, rest) = rest.split_at(channels[1]);
            (offset, rest) = rest.split_at(channels[1]);
        }
        let images = Images { values: &values, frames, size };
        let full = layer.convolution.forward(images, weight, bias).unwrap();
        let full_size = layer.convolution.output_size(size).unwrap();
        let images = Images { values: &full, frames, size: full_size };
        let (after, indices, after_size) = match layer.then {
            Then::Nothing => (full.clone(), Vec::new(), full_size),
            Then::Pool(pool) => {
                let pooled = pool.forward(Images { frames: frames * channels[1], ..images }).unwrap();
                (pooled.values, pooled.indices, pool.output_size(full_size).unwrap())
            }
            Then::FrameNormRelu { epsilon } => {
                let norm = FrameNorm::new(channels[1]).relu().epsilon(epsilon);
                (norm.forward(images, scale, offset).unwrap().values, Vec::new(), full_size)
            }
        };
        trail.push((values, size, [weight, bias, scale, offset], full, indices, full_size));
        (values, size) = (after, after_size);
    }
    let output = values;
    let mut of_values = case.of_output.clone();
    let mut parameters = Vec::new();
    for (layer, (values, size, [weight, _, scale, offset], full, indices, full_size)) in
        case.network.layers.iter().zip(&trail).rev()
    {
        let channels = layer.convolution.channels[1];
        let images = Images { values: full, frames, size: *full_size };
        let mut of_norm = Vec::new();
        match layer.then {
            Then::Nothing => {}
            Then::Pool(pool) => {
                of_values = pool.backward(frames * channels, *full_size, indices, &of_values).unwrap();
            }
            Then::FrameNormRelu { epsilon } => {
                let norm = FrameNorm::new(channels).relu().epsilon(epsilon);
                let tape = norm.forward(images, scale, offset).unwrap().tape;
                let gradients = norm.backward(images, scale, offset, &tape, &of_values).unwrap();
                of_values = gradients.input;
                of_norm = [gradients.scale, gradients.offset].concat();
            }
        }
        let images = Images { values, frames, size: *size };
        let gradients = layer.convolution.backward(images, weight, full, &of_values, Wanted::All).unwrap();
        of_values = gradients.input;
        parameters.splice(0..0, [gradients.weight, gradients.bias, of_norm].concat());
    }
    [output, of_values, parameters]
}

const NAMES: [&str; 3] = ["output", "gradient of the input", "gradient of the parameters"];

fn assert_all_close(actual: &[Vec<f64>; 3], expected: &[Vec<f64>; 3], tolerance: f64) {
    for ((name, actual), expected) in NAMES.iter().zip(actual).zip(expected) {
        let scale = expected.iter().fold(1f64, |scale, x| scale.max(x.abs()));
        let [actual, expected] = [actual, expected].map(|x| x.iter().map(|x| x / scale).collect::<Vec<_>>());
        assert_close(name, &actual, &expected, tolerance);
    }
}

const POOL: Then = Then::Pool(MaxPool { window: [2, 2] });
const NORM: Then = Then::FrameNormRelu { epsilon: 1e-5 };

fn layer(convolution: Convolution, then: Then) -> Layer {
    Layer { convolution, then }
}

/// Networks like those of the experiments, with fewer channels.
fn networks() -> Vec<(Vec<Layer>, [usize; 2])> {
    let up = |channels, kernel| Convolution::transposed(channels, [kernel; 2]);
    vec![
        (
            vec![
                layer(Convolution::plain([1, 12], [5, 5]).padding(2).relu(), POOL),
                layer(Convolution::plain([12, 7], [3, 3]).stride(2).padding(1).relu(), POOL),
            ],
            [12, 13],
        ),
        (
            vec![
                layer(up([16, 16], 5).stride(4).padding(2), NORM),
                layer(up([16, 12], 3).stride(2).padding(1), NORM),
                layer(up([12, 1], 2).stride(2).padding(5), Then::Nothing),
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
        (vec![layer(Convolution::plain([2, 3], [3, 3]).padding(1).relu(), NORM)], [4, 5]),
        (vec![layer(Convolution::plain([3, 2], [3, 3]).relu(), Then::Nothing)], [4, 5]),
    ]
}

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_available())
}

#[test]
fn a_network_is_its_layers_one_after_the_other() {
    for (number, (layers, size)) in networks().into_iter().enumerate() {
        // Whole groups, groups of a single vector, and idle lanes.
        for frames in [1, 7, 16, 17, 33, 70] {
            let case = Case::new(layers.clone(), frames, size, number as u64);
            let expected = layer_by_layer(&case);
            for level in levels() {
                let mut case = case.clone();
                case.network.level = level;
                assert_all_close(&case.run(), &expected, 1e-12);
                assert_all_close(&case.singles().run().map(|x| doubles(&x)), &expected, 3e-4);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_two_layers((first, size) in layers(9), outputs in 1usize..20, kind in 0..3, frames in 1usize..40, seed in any::<u32>()) {
        let between = first.output_size(size).unwrap();
        let then = match kind {
            0 => Then::Nothing,
            1 if between[0] >= 2 && between[1] >= 2 => POOL,
            _ => NORM,
        };
        let second = Convolution::plain([first.channels[1], outputs], [3, 3]).padding(1);
        let layers = vec![layer(first, then), layer(second, Then::Nothing)];
        let case = Case::new(layers, frames, size, u64::from(seed));
        // A frame whose numbers are all cut to 0 has no standard deviation: tiny differences are blown up there.
        let expected = layer_by_layer(&case);
        if expected.iter().flatten().all(|x| x.abs() < 1e4) {
            assert_all_close(&case.run(), &expected, 1e-9);
        }
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    for (number, (layers, size)) in networks().into_iter().enumerate() {
        // Enough to tell the layers apart, and few enough to be quick.
        let case = Case::new(layers, 2, size, 40 + number as u64);
        let loss = |input: &[f64], parameters: &[f64]| {
            let images = Images { values: input, frames: case.frames, size };
            let output = case.network.evaluate(images, parameters).unwrap();
            output.iter().zip(&case.of_output).map(|(y, g)| y * g).sum::<f64>()
        };
        let [_, of_input, of_parameters] = case.run();
        // Kinks of the activation and the maxima are next to nowhere within so short a step.
        let h = 1e-6;
        let by_input = gradient(&case.input, h, |x| loss(x, &case.parameters));
        let every = case.parameters.len().div_ceil(150);
        let chosen: Vec<usize> = (0..case.parameters.len()).step_by(every).collect();
        let point: Vec<f64> = chosen.iter().map(|&i| case.parameters[i]).collect();
        let by_differences = gradient(&point, h, |x| {
            let mut parameters = case.parameters.clone();
            chosen.iter().zip(x).for_each(|(&i, x)| parameters[i] = *x);
            loss(&case.input, &parameters)
        });
        let actual: Vec<f64> = chosen.iter().map(|&i| of_parameters[i]).collect();
        assert_all_close(&[Vec::new(), of_input, actual], &[Vec::new(), by_input, by_differences], 1e-6);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    for (number, (layers, size)) in networks().into_iter().enumerate() {
        let case = Case::new(layers, 150, size, 70 + number as u64).singles();
        let run = |threads: usize| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| case.run()).map(|values| bits(&values))
        };
        let expected = run(1);
        assert!([2, 3, 8].into_iter().all(|threads| run(threads) == expected), "network {number}");
    }
}

#[test]
fn a_frame_does_not_depend_on_its_neighbours() {
    for (number, (layers, size)) in networks().into_iter().enumerate() {
        let case = Case::new(layers, 75, size, 90 + number as u64).singles();
        let [output, of_input, _] = case.run();
        for length in [1, 9, 16, 31, 40] {
            let mut joined = [Vec::new(), Vec::new()];
            for first in (0..case.frames).step_by(length) {
                let [output, of_input, _] = case.part(first..(first + length).min(case.frames)).run();
                joined[0].extend(bits(&output));
                joined[1].extend(bits(&of_input));
            }
            assert!(
                joined == [bits(&output), bits(&of_input)],
                "network {number}, {length} frames at a time"
            );
        }
        let evaluated = case.network.evaluate(case.images(), &case.parameters).unwrap();
        assert_eq!(bits(&evaluated), bits(&output), "without a tape");
    }
}

#[test]
fn what_has_diverged_stays_visible() {
    for (layers, size) in networks() {
        let mut case = Case::new(layers, 3, size, 5).singles();
        let extent = case.input.len() / 3;
        case.input[extent..2 * extent].fill(f32::NAN);
        let [output, of_input, of_parameters] = case.run();
        let frames: Vec<bool> =
            output.chunks(output.len() / 3).map(|frame| frame.iter().any(|x| x.is_nan())).collect();
        assert_eq!(frames, [false, true, false]);
        assert!(of_parameters.iter().any(|x| x.is_nan()));
        assert!(of_input[..extent].iter().all(|x| x.is_finite()));
    }
}

#[test]
fn malformed_arguments_are_named() {
    let (layers, size) = networks().swap_remove(1);
    let case = Case::new(layers, 2, size, 1);
    let words = |error: ConvolutionError| error.to_string();
    let none = Network::new(Vec::new());
    assert_eq!(
        words(none.forward(case.images(), &[]).unwrap_err()),
        "`layers` is empty; at least one is needed"
    );
    let short = &case.parameters[1..];
    assert!(words(case.network.forward(case.images(), short).unwrap_err()).starts_with("`parameters` has"));
    let images = Images { values: &case.input[1..], ..case.images() };
    assert!(words(case.network.forward(images, &case.parameters).unwrap_err()).starts_with("`input` has"));
    let mut broken = case.network.clone();
    broken.layers[1].convolution.channels[0] = 5;
    assert!(
        words(broken.forward(case.images(), &case.parameters).unwrap_err()).starts_with("`channels` has")
    );

    let made = case.network.forward(case.images(), &case.parameters).unwrap();
    let one = case.part(0..1);
    let pull = |case: &Case<f64>, of_output: &[f64]| {
        case.network
            .backward(case.images(), &case.parameters, &made.tape, of_output, Wanted::All)
            .unwrap_err()
    };
    assert!(words(pull(&case, &case.of_output[1..])).starts_with("`of_output` has"));
    assert!(words(pull(&one, &one.of_output)).starts_with("`tape` has"));
}
