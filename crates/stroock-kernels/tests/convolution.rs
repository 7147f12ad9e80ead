//! Convolutions, as networks of one layer, against the reference implementation and their own adjoints.

mod layers;
mod reference;

use layers::{Case, NAMES, assert_all_close, convolutions};
use proptest::prelude::*;
use reference::by_definition;
use stroock_kernels::network::{Activation, Convolution, Direction};
use stroock_kernels::simd::Level;
use stroock_testing::finite_difference::assert_close;

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

fn with(activation: Activation, convolution: Convolution) -> Convolution {
    Convolution { activation, ..convolution }
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
    fn both_passes_follow_the_definition(
        (convolution, size) in convolutions(20),
        frames in 1usize..40,
        seed in 0u64..1000,
    ) {
        let case = Case::single(convolution, frames, size, seed);
        let exact = by_definition(&case);
        for level in Level::ALL {
            assert_all_close(&case.at(level).run(), &exact, 1e-12);
        }
        // Without cuts at 0, which rounding can move.
        if convolution.activation != Activation::Relu {
            for level in Level::ALL {
                assert_all_close(&case.at(level).cast::<f32>().run(), &exact, 2e-4);
            }
        }
    }

    #[test]
    fn the_transposed_convolution_is_the_adjoint(
        (convolution, size) in convolutions(9),
        frames in 1usize..10,
        seed in 0u64..1000,
    ) {
        prop_assume!(convolution.direction == Direction::Plain);
        let plain = with(Activation::Identity, convolution);
        let Convolution { channels: [from, to], padding, kernel, stride, .. } = plain;
        let out = plain.output_size(size).unwrap();
        // The output padding that leads back to the same size.
        let output_padding = [0, 1].map(|a| (size[a] + 2 * padding[a] - kernel[a]) % stride[a]);
        let direction = Direction::Transposed { output_padding };
        let transposed = Convolution { channels: [to, from], direction, ..plain };
        prop_assert_eq!(transposed.output_size(out), Ok(size));
        let [mut there, mut back] =
            [Case::single(plain, frames, size, seed), Case::single(transposed, frames, out, seed)];
        back.input.clone_from(&there.of_output);
        let weight = from * to * kernel[0] * kernel[1];
        back.parameters[..weight].copy_from_slice(&there.parameters[..weight]);
        for case in [&mut there, &mut back] {
            case.parameters[weight..].fill(0.0);
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (y, x) = (there.forward(), back.forward());
        assert_close("inner product", &[dot(&y, &back.input)], &[dot(&there.input, &x)], 1e-11);
    }

    #[test]
    fn the_activation_is_that_of_the_output_without_one(
        (convolution, size) in convolutions(9),
        frames in 1usize..20,
        seed in 0u64..1000,
    ) {
        let case = |activation| Case::single(with(activation, convolution), frames, size, seed).cast::<f32>();
        let identity = case(Activation::Identity).forward();
        let cut: Vec<f32> = identity.iter().map(|y| y.max(0.0)).collect();
        prop_assert_eq!(case(Activation::Relu).forward(), cut);
        for (y, x) in case(Activation::Sigmoid).forward().into_iter().zip(identity) {
            let exact = 1.0 / (1.0 + (-f64::from(x)).exp());
            prop_assert!((f64::from(y) - exact).abs() <= 3e-7 * exact, "{} is not {}", y, exact);
        }
    }
}

#[test]
fn notable_layers_follow_the_definition() {
    for (convolution, size) in notable() {
        let case = Case::single(convolution, 3, size, 7);
        assert_all_close(&case.run(), &by_definition(&case), 1e-11);
    }
}

#[test]
fn single_precision_is_close_on_notable_layers() {
    for (convolution, size) in notable() {
        // Numbers that single precision has too, so that no sign before the activation differs by rounding
        // of the arguments.
        let single = Case::single(with(Activation::Identity, convolution), 3, size, 7).cast::<f32>();
        let exact = single.cast::<f64>().run();
        for ((name, single), exact) in NAMES.iter().zip(single.run()).zip(&exact) {
            let scale = (exact.iter().map(|x| x * x).sum::<f64>() / exact.len() as f64).sqrt();
            let worst = single.iter().zip(exact).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-5 * scale, "{name} of {convolution:?}: {worst:e} beside {scale:e}");
        }
    }
}

#[test]
fn the_sigmoid_ends_at_0_and_1() {
    let mut case = Case::single(Convolution::plain([1, 1], [1, 1]).sigmoid(), 1, [1, 4], 1).cast::<f32>();
    case.parameters = vec![1.0, 0.0];
    case.input = vec![-1e4, 0.0, 1e4, f32::NAN];
    let [output, of_input, _] = case.run();
    assert_eq!(output[..3], [0.0, 0.5, 1.0]);
    assert_eq!(of_input[..3], [0.0, 0.25 * case.of_output[1], 0.0]);
    assert!(output[3].is_nan() && of_input[3].is_nan());
}
