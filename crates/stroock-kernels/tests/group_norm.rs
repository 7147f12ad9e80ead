//! Group normalisation behind a convolution that changes nothing, against the reference implementation.

mod layers;
mod reference;

use layers::{Case, NORM, assert_all_close};
use proptest::prelude::*;
use reference::by_definition;
use stroock_kernels::network::{NetworkReal, Then};
use stroock_kernels::simd::Level;
use stroock_testing::finite_difference::assert_close;

/// Frames of different means and standard deviations.
fn case(channels: usize, frames: usize, size: [usize; 2], seed: u64) -> Case<f64> {
    let mut case = Case::behind_nothing(channels, NORM, frames, size, seed);
    let extent = channels * size[0] * size[1];
    for (frame, input) in case.input.chunks_mut(extent).enumerate() {
        let (scale, mean) = ((1 + frame % 3) as f64, (frame as f64).sin());
        input.iter_mut().for_each(|x| *x = scale * *x + mean);
    }
    case
}

/// Where the offsets begin.
fn offsets<T>(case: &Case<T>) -> usize {
    case.parameters.len() - case.network.layers[0].convolution.channels[1]
}

/// With offsets that keep every output positive: rounding can move the cuts at 0.
fn uncut(mut case: Case<f64>) -> Case<f64> {
    let first = offsets(&case);
    case.parameters[first..].fill(50.0);
    case
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn both_passes_follow_the_definition(
        channels in 1usize..6,
        size in (1usize..12, 1usize..8),
        frames in 1usize..20,
        seed in 0u64..1000,
    ) {
        for case in [case(channels, frames, [size.0, size.1], seed), uncut(case(channels, frames, [size.0, size.1], seed))] {
            let exact = by_definition(&case);
            // A level that the processor lacks runs as the portable one.
            for level in Level::ALL {
                assert_all_close(&case.at(level).run(), &exact, 1e-10);
            }
        }
    }
}

#[test]
fn single_precision_is_close_on_the_decoder_of_the_pendulum() {
    for (channels, side) in [(16, 9), (12, 17)] {
        let case = uncut(case(channels, 40, [side, side], 3)).cast::<f32>();
        let exact = by_definition(&case.cast());
        for level in Level::ALL {
            assert_all_close(&case.at(level).run(), &exact, 2e-5);
        }
    }
}

/// A mean of a thousand beside standard deviations of a hundredth: a mean in one number of single precision would be
/// wrong by a part in three hundred of the standard deviation.
#[test]
fn a_large_mean_does_not_cost_digits() {
    let mut case = case(4, 5, [9, 9], 1);
    case.input.iter_mut().for_each(|x| *x = 1000.0 + 0.01 * *x);
    let first = offsets(&case);
    case.parameters[first..].fill(4.0);
    let case = case.cast::<f32>();
    let exact = by_definition(&case.cast());
    for level in Level::ALL {
        assert_all_close(&case.at(level).run(), &exact, 1e-5);
    }
}

fn constant_frames<T: NetworkReal>() {
    let channels = 3;
    for (size, value) in
        [[4, 5], [1, 1], [17, 17]].into_iter().flat_map(|s| [0.0, 0.1, -1e4, 3.3e7].map(|v| (s, v)))
    {
        for (epsilon, level) in [1e-5, 1e-12, 1e-37].into_iter().flat_map(|e| Level::ALL.map(|l| (e, l))) {
            let norm = Then::GroupNormRelu { epsilon };
            let mut case = Case::behind_nothing(channels, norm, 2, size, 4).cast::<T>().at(level);
            case.input.fill(T::of(value));
            let results = case.run();
            let (plane, first) = (size[0] * size[1], offsets(&case));
            for (i, y) in results[0].iter().enumerate() {
                assert_eq!(*y, case.parameters[first + i / plane % channels].max(T::zero()));
            }
            assert!(results.iter().flatten().all(|x| x.is_finite()), "{value} {epsilon} {level:?}");
            let of_scale = &results[2][first - channels..first];
            assert!(of_scale.iter().all(|g| *g == T::zero()));
        }
    }
}

#[test]
fn a_constant_frame_gives_the_offset() {
    constant_frames::<f32>();
    constant_frames::<f64>();
}

#[test]
fn a_frame_of_one_number_is_constant() {
    let case = uncut(case(1, 4, [1, 1], 4));
    let [output, of_input, of_parameters] = case.run();
    assert_eq!(output, [50.0; 4]);
    assert_close("gradient of the input", &of_input, &[0.0; 4], 1e-13);
    let [.., of_scale, of_offset] = of_parameters[..] else { panic!("no parameters") };
    assert_eq!(of_scale, 0.0);
    assert_close("gradient of the offset", &[of_offset], &[case.of_output.iter().sum()], 1e-15);
}

#[test]
fn what_has_diverged_is_seen() {
    for value in [f32::NAN, f32::INFINITY, 1e30] {
        let mut case = case(2, 2, [3, 5], 1).cast::<f32>();
        case.input[4] = value;
        for level in Level::ALL {
            let output = case.at(level).forward();
            let (first, second) = output.split_at(output.len() / 2);
            assert!(first.iter().all(|y| y.is_nan()), "{value} {level:?}");
            assert!(second.iter().all(|y| y.is_finite()), "{value} {level:?}");
        }
    }
}
