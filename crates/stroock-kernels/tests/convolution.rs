//! Convolutions against plain loops, finite differences, their own adjoints and themselves.

mod layers;

use layers::{Case, bits, doubles, layers, small};
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use stroock_kernels::convolution::{Activation, Convolution, Direction, Images, Wanted};
use stroock_kernels::simd::Level;
use stroock_testing::finite_difference::{assert_close, gradient};

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
