//! Convolutions against plain loops, finite differences, their own adjoints and themselves.

use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use stroock_kernels::convolution::{
    Activation, Convolution, ConvolutionError, ConvolutionReal, Direction, Gradients, Images, MaxPool,
    Pooled, Wanted,
};
use stroock_kernels::simd::Level;
use stroock_testing::finite_difference::{assert_close, gradient};

/// A layer with everything that its two passes read.
#[derive(Clone, Debug)]
struct Case<T> {
    layer: Convolution,
    frames: usize,
    size: [usize; 2],
    input: Vec<T>,
    weight: Vec<T>,
    bias: Vec<T>,
    of_output: Vec<T>,
}

/// Numbers in (-1, 1) that look random.
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn doubles<T: Copy + Into<f64>>(values: &[T]) -> Vec<f64> {
    values.iter().map(|&x| x.into()).collect()
}

impl Case<f64> {
    fn new(layer: Convolution, frames: usize, size: [usize; 2], seed: u64) -> Self {
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

    fn singles(&self) -> Case<f32> {
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
    fn images(&self) -> Images<'_, T> {
        Images { values: &self.input, frames: self.frames, size: self.size }
    }

    fn forward(&self) -> Vec<T> {
        self.layer.forward(self.images(), &self.weight, &self.bias).unwrap()
    }

    fn backward(&self, output: &[T], wanted: Wanted) -> Gradients<T> {
        self.layer.backward(self.images(), &self.weight, output, &self.of_output, wanted).unwrap()
    }

    /// The output and the three gradients.
    fn run(&self) -> [Vec<T>; 4] {
        let output = self.forward();
        let Gradients { input, weight, bias } = self.backward(&output, Wanted::All);
        [output, input, weight, bias]
    }

    fn with(&self, change: impl FnOnce(&mut Convolution)) -> Self {
        let mut case = self.clone();
        change(&mut case.layer);
        case
    }

    /// The frames of a range.
    fn part(&self, frames: std::ops::Range<usize>) -> Self {
        let cut = |values: &[T]| {
            let extent = values.len() / self.frames;
            values[frames.start * extent..frames.end * extent].to_vec()
        };
        let (input, of_output) = (cut(&self.input), cut(&self.of_output));
        Self { frames: frames.len(), input, of_output, ..self.clone() }
    }
}

/// Calls `visit(input place, weight place, output place)` for every product of the definition.
fn for_each_product(case: &Case<f64>, mut visit: impl FnMut(usize, usize, usize)) {
    let Convolution { channels: [from, to], kernel, stride, padding, direction, .. } = case.layer;
    let size = case.size;
    let out = case.layer.output_size(size).unwrap();
    let (coarse, fine) = match direction {
        Direction::Plain => (out, size),
        Direction::Transposed { .. } => (size, out),
    };
    let place = |frame: usize, channels: usize, channel: usize, size: [usize; 2], y: usize, x: usize| {
        ((frame * channels + channel) * size[0] + y) * size[1] + x
    };
    for n in 0..case.frames {
        for (c, d) in (0..from).flat_map(|c| (0..to).map(move |d| (c, d))) {
            for (oy, ox) in (0..coarse[0]).flat_map(|y| (0..coarse[1]).map(move |x| (y, x))) {
                for (ky, kx) in (0..kernel[0]).flat_map(|y| (0..kernel[1]).map(move |x| (y, x))) {
                    let iy = (oy * stride[0] + ky).wrapping_sub(padding[0]);
                    let ix = (ox * stride[1] + kx).wrapping_sub(padding[1]);
                    if iy >= fine[0] || ix >= fine[1] {
                        continue;
                    }
                    match direction {
                        Direction::Plain => visit(
                            place(n, from, c, size, iy, ix),
                            place(d, from, c, kernel, ky, kx),
                            place(n, to, d, out, oy, ox),
                        ),
                        Direction::Transposed { .. } => visit(
                            place(n, from, c, size, oy, ox),
                            place(c, to, d, kernel, ky, kx),
                            place(n, to, d, out, iy, ix),
                        ),
                    }
                }
            }
        }
    }
}

/// The output and the three gradients by the definition.
fn by_definition(case: &Case<f64>) -> [Vec<f64>; 4] {
    let out = case.layer.output_size(case.size).unwrap();
    let plane = out[0] * out[1];
    let channel = |place: usize| place / plane % case.bias.len();
    let mut output: Vec<f64> = (0..case.of_output.len()).map(|place| case.bias[channel(place)]).collect();
    for_each_product(case, |x, w, y| output[y] += case.weight[w] * case.input[x]);
    let mut through = case.of_output.clone();
    if case.layer.activation == Activation::Relu {
        for (through, output) in through.iter_mut().zip(&mut output) {
            if *output <= 0.0 {
                (*through, *output) = (0.0, 0.0);
            }
        }
    }
    let [mut of_input, mut of_weight, mut of_bias] =
        [&case.input, &case.weight, &case.bias].map(|values| vec![0.0; values.len()]);
    for_each_product(case, |x, w, y| {
        of_input[x] += case.weight[w] * through[y];
        of_weight[w] += case.input[x] * through[y];
    });
    through.iter().enumerate().for_each(|(place, g)| of_bias[channel(place)] += g);
    [output, of_input, of_weight, of_bias]
}

const NAMES: [&str; 4] =
    ["output", "gradient of the input", "gradient of the weight", "gradient of the bias"];

fn assert_all_close(actual: &[Vec<f64>; 4], expected: &[Vec<f64>; 4], tolerance: f64) {
    for ((name, actual), expected) in NAMES.iter().zip(actual).zip(expected) {
        assert_close(name, actual, expected, tolerance);
    }
}

/// Layers whose output has at least one pixel.
fn layers(channels: usize) -> impl Strategy<Value = (Convolution, [usize; 2])> {
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

/// The layers of the experiments, and some of many channels.
fn notable() -> Vec<(Convolution, [usize; 2])> {
    let plain = |from, to, kernel| Convolution::plain([from, to], [kernel; 2]).relu();
    let transposed = |from, to, kernel| Convolution::transposed([from, to], [kernel; 2]).relu();
    vec![
        (plain(1, 8, 5).stride(2).padding(2), [28, 28]),
        (plain(32, 64, 5).stride(2).padding(2), [4, 4]),
        (plain(1, 12, 5).padding(2), [24, 24]),
        (plain(12, 12, 3).stride(2).padding(1), [12, 12]),
        (plain(33, 35, 3).padding(1), [6, 5]),
        (transposed(8, 128, 3).stride(2), [3, 3]),
        (transposed(128, 64, 5).stride(2).padding(2).output_padding(1), [7, 7]),
        (transposed(64, 32, 5).stride(2).padding(2).output_padding(1), [14, 14]),
        (transposed(32, 1, 5).padding(2), [28, 28]),
        (plain(32, 1, 5).padding(2), [28, 28]),
        (transposed(16, 16, 5).stride(4).padding(2), [3, 3]),
        (transposed(16, 12, 3).stride(2).padding(1), [9, 9]),
        (transposed(12, 1, 2).stride(2).padding(5), [17, 17]),
    ]
}

#[test]
fn sizes_of_the_experiments() {
    let size = |layers: &[Convolution], size: usize| {
        layers.iter().fold([size; 2], |size, layer| layer.output_size(size).unwrap())
    };
    let encoder = [Convolution::plain([1, 1], [5, 5]).stride(2).padding(2); 4];
    assert_eq!(size(&encoder, 28), [2, 2]);
    let up = Convolution::transposed([1, 1], [5, 5]);
    let decoder = [
        Convolution::transposed([1, 1], [3, 3]).stride(2),
        up.stride(2).padding(2).output_padding(1),
        up.stride(2).padding(2).output_padding(1),
        up.padding(2),
    ];
    assert_eq!(size(&decoder, 3), [28, 28]);
    let pendulum = [
        up.stride(4).padding(2),
        Convolution::transposed([1, 1], [3, 3]).stride(2).padding(1),
        Convolution::transposed([1, 1], [2, 2]).stride(2).padding(5),
    ];
    assert_eq!(size(&pendulum, 3), [24, 24]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn both_passes_follow_the_definition((layer, size) in layers(9), frames in 1usize..20, seed in 0u64..1000) {
        let case = Case::new(layer, frames, size, seed);
        assert_all_close(&case.run(), &by_definition(&case), 1e-12);
    }

    #[test]
    fn the_transposed_convolution_is_the_adjoint((layer, size) in layers(9), frames in 1usize..10, seed in 0u64..1000) {
        prop_assume!(layer.direction == Direction::Plain);
        let plain = Convolution { activation: Activation::Identity, ..layer };
        let out = plain.output_size(size).unwrap();
        // The output padding that leads back to the same size.
        let output_padding = [0, 1].map(|a| (size[a] + 2 * layer.padding[a] - layer.kernel[a]) % layer.stride[a]);
        let transposed = Convolution {
            channels: [layer.channels[1], layer.channels[0]],
            direction: Direction::Transposed { output_padding },
            ..plain
        };
        prop_assert_eq!(transposed.output_size(out), Ok(size));
        let case = Case::new(plain, frames, size, seed);
        let y = &case.of_output;
        let zeros = [0.0; 9];
        let forward = plain.forward(case.images(), &case.weight, &zeros[..layer.channels[1]]).unwrap();
        let images = Images { values: y, frames, size: out };
        let back = transposed.forward(images, &case.weight, &zeros[..layer.channels[0]]).unwrap();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        assert_close("inner product", &[dot(&forward, y)], &[dot(&case.input, &back)], 1e-11);
    }

    #[test]
    fn precisions_and_instruction_sets_agree((layer, size) in layers(20), frames in 1usize..40, seed in 0u64..1000) {
        let case = Case::new(Convolution { activation: Activation::Identity, ..layer }, frames, size, seed);
        let exact = case.run();
        // A level that the processor lacks runs as the portable one.
        for level in Level::ALL {
            assert_all_close(&case.with(|layer| layer.level = level).run(), &exact, 1e-12);
            let single = case.singles().with(|layer| layer.level = level).run();
            assert_all_close(&single.map(|values| doubles(&values)), &exact, 2e-4);
        }
    }

    #[test]
    fn the_fused_relu_is_a_separate_one((layer, size) in layers(9), frames in 1usize..20, seed in 0u64..1000) {
        let fused = Case::new(layer.relu(), frames, size, seed).singles();
        let mut separate = fused.with(|layer| layer.activation = Activation::Identity);
        let mut output = separate.forward();
        for (output, through) in output.iter_mut().zip(&mut separate.of_output) {
            if *output <= 0.0 {
                (*output, *through) = (0.0, 0.0);
            }
        }
        let [fused_output, of_input, of_weight, of_bias] = fused.run();
        prop_assert_eq!(fused_output, output);
        let gradients = separate.backward(&[], Wanted::All);
        prop_assert_eq!((of_input, of_weight, of_bias), (gradients.input, gradients.weight, gradients.bias));
    }
}

#[test]
fn notable_layers_follow_the_definition() {
    for (layer, size) in notable() {
        let case = Case::new(layer, 3, size, 7);
        assert_all_close(&case.run(), &by_definition(&case), 1e-11);
    }
}

#[test]
fn single_precision_is_close_on_notable_layers() {
    for (layer, size) in notable() {
        // Numbers that single precision has too, so that no sign before the activation differs by rounding
        // of the arguments.
        let mut case = Case::new(Convolution { activation: Activation::Identity, ..layer }, 3, size, 7);
        for values in [&mut case.input, &mut case.weight, &mut case.bias, &mut case.of_output] {
            values.iter_mut().for_each(|x| *x = f64::from(*x as f32));
        }
        let exact = case.run();
        let single = case.singles().run().map(|values| doubles(&values));
        for ((name, single), exact) in NAMES.iter().zip(&single).zip(&exact) {
            let scale = (exact.iter().map(|x| x * x).sum::<f64>() / exact.len() as f64).sqrt();
            let worst = single.iter().zip(exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-5 * scale, "{name} of {layer:?}: {worst:e} beside {scale:e}");
        }
    }
}

#[test]
fn gradients_are_finite_differences() {
    let layers = [
        (Convolution::plain([2, 3], [3, 2]).stride(2).padding(1), [5, 4]),
        (Convolution::plain([3, 2], [3, 3]).padding(1), [4, 4]),
        (Convolution::transposed([3, 2], [3, 3]).stride(2).padding(1).output_padding(1), [3, 2]),
        (Convolution::transposed([2, 3], [5, 5]).stride(2).padding(2).output_padding(1), [3, 3]),
        (Convolution::transposed([2, 2], [2, 2]).stride(3), [2, 3]),
    ];
    for ((layer, size), relu) in layers.into_iter().flat_map(|layer| [(layer, false), (layer, true)]) {
        let case = Case::new(if relu { layer.relu() } else { layer }, 3, size, 11);
        let loss = |case: &Case<f64>| -> f64 {
            case.forward().iter().zip(&case.of_output).map(|(y, g)| (y * g).sin()).sum()
        };
        // Differences are exact up to the curvature of the sine if no sign changes within three steps.
        let h = 1e-4;
        let identity = case.with(|layer| layer.activation = Activation::Identity);
        assert!(identity.forward().iter().all(|y| y.abs() > 3.0 * h), "too near a kink: {layer:?}");

        let output = case.forward();
        let mut pulled = case.clone();
        for (g, y) in pulled.of_output.iter_mut().zip(&output) {
            *g *= (y * *g).cos();
        }
        let gradients = pulled.backward(&output, Wanted::All);
        let of_input = gradient(&case.input, h, |x| loss(&Case { input: x.to_vec(), ..case.clone() }));
        let of_weight = gradient(&case.weight, h, |w| loss(&Case { weight: w.to_vec(), ..case.clone() }));
        let of_bias = gradient(&case.bias, h, |b| loss(&Case { bias: b.to_vec(), ..case.clone() }));
        assert_close("gradient of the input", &gradients.input, &of_input, 1e-8);
        assert_close("gradient of the weight", &gradients.weight, &of_weight, 1e-8);
        assert_close("gradient of the bias", &gradients.bias, &of_bias, 1e-8);
    }
}

#[test]
fn parameters_alone_are_the_same() {
    for (layer, size) in notable() {
        let case = Case::new(layer, 2, size, 3).singles();
        let output = case.forward();
        let (all, parameters) =
            (case.backward(&output, Wanted::All), case.backward(&output, Wanted::Parameters));
        assert_eq!((all.weight, all.bias), (parameters.weight, parameters.bias));
        assert!(parameters.input.is_empty());
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// Layers for the tests of determinism: the sizes of the experiments are not needed.
fn small() -> Vec<(Convolution, [usize; 2])> {
    vec![
        (Convolution::plain([3, 7], [5, 5]).stride(2).padding(2).relu(), [9, 8]),
        (Convolution::transposed([5, 1], [5, 5]).padding(2), [5, 5]),
        (Convolution::transposed([40, 33], [5, 5]).stride(2).padding(2).output_padding(1).relu(), [5, 4]),
        (Convolution::plain([32, 32], [3, 3]).padding(1).relu(), [5, 4]),
    ]
}

#[test]
fn threads_do_not_change_a_bit() {
    for (layer, size) in small() {
        let case = Case::new(layer, 101, size, 5).singles();
        let with_threads = |threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| case.run().map(|values| bits(&values)))
        };
        let one = with_threads(1);
        for threads in [2, 3] {
            assert!(one == with_threads(threads), "{threads} threads, {layer:?}");
        }
    }
}

#[test]
fn a_split_of_the_batch_does_not_change_a_bit_of_a_frame() {
    for (layer, size) in small() {
        let case = Case::new(layer, 37, size, 5).singles();
        let [output, of_input, ..] = case.run();
        for cuts in [vec![0, 1, 37], vec![0, 5, 21, 36, 37], (0..=37).collect()] {
            let (mut outputs, mut of_inputs) = (Vec::new(), Vec::new());
            for cut in cuts.windows(2) {
                let [output, of_input, ..] = case.part(cut[0]..cut[1]).run();
                outputs.extend(output);
                of_inputs.extend(of_input);
            }
            assert!(bits(&output) == bits(&outputs), "output, {cuts:?}, {layer:?}");
            assert!(bits(&of_input) == bits(&of_inputs), "gradient of the input, {cuts:?}, {layer:?}");
        }
    }
}

#[test]
fn no_frames_are_fine() {
    for (layer, size) in small() {
        let case = Case::new(layer, 0, size, 5).singles();
        let [output, of_input, of_weight, of_bias] = case.run();
        assert!(output.is_empty() && of_input.is_empty());
        assert!(of_weight.len() == case.weight.len() && of_weight.iter().chain(&of_bias).all(|&g| g == 0.0));
    }
}

#[test]
fn what_has_diverged_is_seen() {
    for (layer, size) in small() {
        for value in [f32::NAN, f32::INFINITY] {
            let mut case = Case::new(layer, 2, size, 5).singles();
            case.input[0] = value;
            let output = case.forward();
            let (first, second) = output.split_at(output.len() / 2);
            assert!(first.iter().any(|y| !y.is_finite()), "{layer:?}");
            assert!(second.iter().all(|y| y.is_finite()), "{layer:?}");
        }
    }
}

fn error(change: impl FnOnce(&mut Case<f32>)) -> ConvolutionError {
    let layer = Convolution::plain([2, 3], [3, 3]).padding(1).relu();
    failure(layer, change)
}

fn transposed_error(change: impl FnOnce(&mut Case<f32>)) -> ConvolutionError {
    let layer = Convolution::transposed([2, 3], [3, 3]).stride(2).padding(1).output_padding(1).relu();
    failure(layer, change)
}

/// What the forward pass has to say, or else the backward pass.
fn failure(layer: Convolution, change: impl FnOnce(&mut Case<f32>)) -> ConvolutionError {
    let mut case = Case::new(layer, 2, [4, 5], 1).singles();
    change(&mut case);
    let forward = case.layer.forward(case.images(), &case.weight, &case.bias);
    let output = match forward {
        Ok(output) => output,
        Err(error) => return error,
    };
    case.layer
        .backward(case.images(), &case.weight, &output, &case.of_output, Wanted::All)
        .map(|_| ())
        .unwrap_err()
}

#[test]
fn arguments_are_named() {
    let output_padding = |padding| Direction::Transposed { output_padding: padding };
    let cases = [
        (error(|c| _ = c.input.pop()), "input"),
        (error(|c| c.input.clear()), "input"),
        (error(|c| c.frames = 3), "input"),
        (error(|c| c.frames = usize::MAX), "input"),
        (error(|c| _ = c.weight.pop()), "weight"),
        (error(|c| c.bias.push(0.0)), "bias"),
        (error(|c| _ = c.of_output.pop()), "of_output"),
        (error(|c| c.layer.channels[0] = 0), "channels"),
        (error(|c| c.layer.channels[1] = 0), "channels"),
        (error(|c| c.layer.channels[1] = usize::MAX), "weight"),
        (error(|c| c.layer.kernel[0] = 0), "kernel"),
        (error(|c| c.layer.kernel = [7, 3]), "kernel"),
        (error(|c| c.layer.kernel = [3, 8]), "kernel"),
        (error(|c| c.layer.kernel = [3, usize::MAX]), "kernel"),
        (error(|c| c.layer.stride[1] = 0), "stride"),
        (error(|c| c.layer.padding[0] = usize::MAX), "padding"),
        (error(|c| c.layer.padding = [1 << 40; 2]), "size"),
        (error(|c| c.size = [0, 5]), "size"),
        (error(|c| c.size = [usize::MAX, 5]), "padding"),
        (transposed_error(|c| c.layer.direction = output_padding([2, 1])), "output_padding"),
        (transposed_error(|c| c.layer.direction = output_padding([0, 7])), "output_padding"),
        (transposed_error(|c| c.layer.padding = [1, 6]), "padding"),
        (transposed_error(|c| c.layer.stride = [usize::MAX; 2]), "stride"),
        (transposed_error(|c| c.layer.stride = [1 << 30; 2]), "size"),
        (transposed_error(|c| c.layer.kernel[0] = usize::MAX), "kernel"),
        (transposed_error(|c| _ = c.weight.pop()), "weight"),
    ];
    for (error, argument) in cases {
        let message = error.to_string();
        assert!(message.starts_with(&format!("`{argument}`")), "`{message}` does not name `{argument}`");
    }
}

#[test]
fn images_beyond_measure_are_refused() {
    let (weight, bias) = (vec![0.0f32; 300 * 300], [0.0]);
    let values = vec![0.0; 300 * 300];
    let images = Images { values: &values, frames: 1, size: [300, 300] };
    let wide = Convolution::plain([1, 1], [300, 300]).padding(150);
    let error = wide.forward(images, &weight, &bias).unwrap_err();
    assert_eq!(error, ConvolutionError::TooLarge { argument: "kernel" });
}

#[test]
fn the_saved_output_is_needed_for_the_activation_only() {
    let case = Case::new(Convolution::plain([2, 3], [3, 3]).relu(), 2, [4, 5], 1);
    let backward = |case: &Case<f64>, output: &[f64]| {
        case.layer.backward(case.images(), &case.weight, output, &case.of_output, Wanted::All).map(|_| ())
    };
    assert!(backward(&case, &[]).unwrap_err().to_string().starts_with("`output`"));
    assert_eq!(backward(&case.with(|layer| layer.activation = Activation::Identity), &[]), Ok(()));
}

mod pooling {
    use super::*;

    fn by_definition(values: &[f64], size: [usize; 2], window: [usize; 2]) -> (Vec<f64>, Vec<u32>) {
        let (mut maxima, mut indices) = (Vec::new(), Vec::new());
        for plane in values.chunks_exact(size[0] * size[1]) {
            for (oy, ox) in
                (0..size[0] / window[0]).flat_map(|y| (0..size[1] / window[1]).map(move |x| (y, x)))
            {
                let places = (0..window[0] * window[1])
                    .map(|k| (oy * window[0] + k / window[1]) * size[1] + ox * window[1] + k % window[1]);
                let best = places.reduce(|best, k| if plane[k] > plane[best] { k } else { best }).unwrap();
                maxima.push(plane[best]);
                indices.push(best as u32);
            }
        }
        (maxima, indices)
    }

    proptest! {
        #[test]
        fn both_passes_follow_the_definition(
            window in (1usize..4, 1usize..4),
            more in (0usize..20, 0usize..20),
            planes in 1usize..5,
            seed in 0u64..1000,
        ) {
            let pool = MaxPool { window: [window.0, window.1] };
            let size = [window.0 + more.0, window.1 + more.1];
            // Few different values: many ties.
            let values: Vec<f64> =
                numbers(seed, planes * size[0] * size[1]).iter().map(|x| (x * 3.0).round()).collect();
            let pooled = pool.forward(Images { values: &values, frames: planes, size }).unwrap();
            let (maxima, indices) = by_definition(&values, size, pool.window);
            prop_assert_eq!((&pooled.values, &pooled.indices), (&maxima, &indices));

            let of_output = numbers(seed + 1, maxima.len());
            let of_planes = pool.backward(planes, size, &pooled.indices, &of_output).unwrap();
            let mut expected = vec![0.0; values.len()];
            for (place, (&index, &g)) in indices.iter().zip(&of_output).enumerate() {
                expected[place / (maxima.len() / planes) * size[0] * size[1] + index as usize] += g;
            }
            prop_assert_eq!(of_planes, expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn the_fused_pooling_is_a_separate_one(
            (layer, size) in layers(18),
            window in (1usize..4, 1usize..4),
            frames in 1usize..20,
            seed in 0u64..1000,
        ) {
            let pool = MaxPool { window: [window.0, window.1] };
            let mut case = Case::new(layer, frames, size, seed);
            let out = layer.output_size(size).unwrap();
            prop_assume!(pool.output_size(out).is_ok());
            let fused = layer.forward_pooled(case.images(), &case.weight, &case.bias, pool).unwrap();

            let output = case.forward();
            let planes = frames * layer.channels[1];
            let pooled = pool.forward(Images { values: &output, frames: planes, size: out }).unwrap();
            prop_assert_eq!((&fused.values, &fused.indices), (&pooled.values, &pooled.indices));

            let of_pooled = numbers(seed + 4, pooled.values.len());
            let gradients = layer
                .backward_pooled(case.images(), &case.weight, pool, &fused, &of_pooled, Wanted::All)
                .unwrap();
            case.of_output = pool.backward(planes, out, &pooled.indices, &of_pooled).unwrap();
            let separate = case.backward(&output, Wanted::All);
            prop_assert_eq!((&gradients.input, &gradients.weight), (&separate.input, &separate.weight));
            assert_close("gradient of the bias", &gradients.bias, &separate.bias, 1e-13);
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let layer = Convolution::plain([1, 12], [5, 5]).padding(2).relu();
        let case = Case::new(layer, 101, [12, 12], 5).singles();
        let pool = MaxPool { window: [2, 2] };
        let with_threads = |threads| {
            let threads = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            threads.install(|| {
                let pooled = layer.forward_pooled(case.images(), &case.weight, &case.bias, pool).unwrap();
                let of_pooled: Vec<f32> = pooled.values.iter().map(|y| y.sin()).collect();
                let gradients = layer
                    .backward_pooled(case.images(), &case.weight, pool, &pooled, &of_pooled, Wanted::All)
                    .unwrap();
                let Gradients { input, weight, bias } = gradients;
                (pooled.indices, [pooled.values, input, weight, bias].map(|values| bits(&values)))
            })
        };
        let one = with_threads(1);
        assert!(one == with_threads(2) && one == with_threads(3));
    }

    #[test]
    fn the_first_of_equal_numbers_counts() {
        let pool = MaxPool { window: [2, 2] };
        for (values, index) in [
            ([0.0f32; 4], 0),
            ([0.0, 1.0, 1.0, 1.0], 1),
            ([-1.0, -2.0, 0.0, 0.0], 2),
            ([-0.0, 0.0, -0.0, 0.0], 0),
        ] {
            let pooled = pool.forward(Images { values: &values, frames: 1, size: [2, 2] }).unwrap();
            assert_eq!(pooled.indices, [index]);
        }
    }

    #[test]
    fn what_has_diverged_is_seen() {
        for place in 0..4 {
            let mut values = [1.0f32, 2.0, 3.0, 4.0];
            values[place] = f32::NAN;
            let pooled = MaxPool { window: [2, 2] }
                .forward(Images { values: &values, frames: 1, size: [2, 2] })
                .unwrap();
            assert!(pooled.values[0].is_nan() && pooled.indices == [place as u32]);
        }
    }

    #[test]
    fn odd_rows_and_columns_are_dropped() {
        let pool = MaxPool { window: [2, 2] };
        assert_eq!(pool.output_size([5, 3]), Ok([2, 1]));
        let mut values = vec![0.0f64; 15];
        values[2] = 9.0;
        values[13] = 9.0;
        let pooled = pool.forward(Images { values: &values, frames: 1, size: [5, 3] }).unwrap();
        assert_eq!(pooled.values, [0.0, 0.0]);
        let of_planes = pool.backward(1, [5, 3], &pooled.indices, &[1.0, 2.0]).unwrap();
        assert_eq!((of_planes[0], of_planes[6], of_planes.iter().sum::<f64>()), (1.0, 2.0, 3.0));
    }

    #[test]
    fn arguments_are_named() {
        let values = [0.0f32; 12];
        let forward = |window, frames, size| {
            MaxPool { window }.forward(Images { values: &values, frames, size }).map(|_| ()).unwrap_err()
        };
        let backward = |size, indices: &[u32], of_output: &[f32]| {
            MaxPool { window: [2, 2] }.backward(1, size, indices, of_output).map(|_| ()).unwrap_err()
        };
        let cases = [
            (forward([0, 2], 1, [3, 4]), "window"),
            (forward([4, 2], 1, [3, 4]), "window"),
            (forward([2, 2], 1, [0, 4]), "size"),
            (forward([2, 2], 1, [usize::MAX, 4]), "size"),
            (forward([2, 2], 2, [3, 4]), "planes"),
            (forward([2, 2], usize::MAX, [3, 4]), "planes"),
            (backward([3, 4], &[0], &[0.0, 0.0]), "indices"),
            (backward([3, 4], &[0, 12], &[0.0, 0.0]), "indices"),
            (backward([3, 4], &[0, 2], &[0.0]), "of_output"),
        ];
        for (error, argument) in cases {
            let message = error.to_string();
            assert!(message.starts_with(&format!("`{argument}`")), "`{message}` does not name `{argument}`");
        }
    }

    #[test]
    fn arguments_of_the_fused_pooling_are_named() {
        let case = Case::new(Convolution::plain([2, 3], [3, 3]).relu(), 2, [6, 7], 1);
        let pool = MaxPool { window: [2, 2] };
        let pooled = case.layer.forward_pooled(case.images(), &case.weight, &case.bias, pool).unwrap();
        let backward = |pool, change: fn(&mut Pooled<f64>), of_pooled: &[f64]| {
            let mut pooled = pooled.clone();
            change(&mut pooled);
            case.layer
                .backward_pooled(case.images(), &case.weight, pool, &pooled, of_pooled, Wanted::All)
                .map(|_| ())
                .unwrap_err()
        };
        let of_pooled = vec![1.0; pooled.values.len()];
        let window = |window| MaxPool { window };
        let forward = case.layer.forward_pooled(case.images(), &case.weight, &case.bias, window([5, 1]));
        let cases = [
            (forward.map(|_| ()).unwrap_err(), "window"),
            (backward(window([1, 6]), |_| (), &of_pooled), "window"),
            (backward(window([1, 1]), |_| (), &of_pooled), "of_pooled"),
            (backward(pool, |_| (), &of_pooled[1..]), "of_pooled"),
            (backward(pool, |pooled| _ = pooled.values.pop(), &of_pooled), "pooled.values"),
            (backward(pool, |pooled| _ = pooled.indices.pop(), &of_pooled), "pooled.indices"),
            (backward(pool, |pooled| pooled.indices[3] = 20, &of_pooled), "indices"),
        ];
        for (error, argument) in cases {
            let message = error.to_string();
            assert!(message.starts_with(&format!("`{argument}`")), "`{message}` does not name `{argument}`");
        }
    }
}
