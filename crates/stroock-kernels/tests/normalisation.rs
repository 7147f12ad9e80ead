//! The normalisation of frames against plain formulas, finite differences and itself.

mod frames;

use frames::{Case, by_definition};
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use stroock_kernels::normalisation::{FrameNorm, NormalisationError, NormalisationReal, Normalised};
use stroock_kernels::simd::Level;
use stroock_testing::finite_difference::{assert_close, gradient};

const NAMES: [&str; 4] =
    ["output", "gradient of the input", "gradient of the scale", "gradient of the offset"];

fn assert_all_close<T: NormalisationReal>(actual: &[Vec<T>; 4], expected: &[Vec<f64>; 4], tolerance: f64) {
    for ((name, actual), expected) in NAMES.iter().zip(actual).zip(expected) {
        let actual: Vec<f64> = actual.iter().map(|x| x.as_f64()).collect();
        assert_close(name, &actual, expected, tolerance);
    }
}

fn bits<T: NormalisationReal>(results: &[Vec<T>; 4]) -> [Vec<u64>; 4] {
    results.each_ref().map(|values| values.iter().map(|x| x.as_f64().to_bits()).collect())
}

fn norms(channels: usize) -> [FrameNorm; 2] {
    [FrameNorm::new(channels), FrameNorm::new(channels).relu()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn both_passes_follow_the_definition(
        channels in 1usize..6,
        size in (1usize..12, 1usize..8),
        frames in 1usize..20,
        relu in any::<bool>(),
        seed in 0u32..1000,
    ) {
        let case = Case::<f64>::new(FrameNorm { relu, ..FrameNorm::new(channels) }, frames, [size.0, size.1], seed);
        let exact = by_definition(&case);
        // A level that the processor lacks runs as the portable one.
        for level in Level::ALL {
            assert_all_close(&case.at(level).run(), &exact, 1e-10);
        }
    }

    #[test]
    fn the_fused_relu_is_a_separate_one(
        channels in 1usize..6,
        size in (1usize..12, 1usize..8),
        frames in 1usize..20,
        seed in 0u32..1000,
    ) {
        let fused = Case::<f32>::new(FrameNorm::new(channels).relu(), frames, [size.0, size.1], seed);
        let mut separate = Case { norm: FrameNorm::new(channels), ..fused.clone() };
        let mut output = separate.forward().values;
        for (output, of_output) in output.iter_mut().zip(&mut separate.of_output) {
            if *output <= 0.0 {
                (*output, *of_output) = (0.0, 0.0);
            }
        }
        let [_, of_input, of_scale, of_offset] = separate.run();
        prop_assert_eq!(fused.run(), [output, of_input, of_scale, of_offset]);
    }
}

#[test]
fn the_decoder_of_the_pendulum_follows_the_definition() {
    for (channels, side) in [(16, 9), (12, 17)] {
        for norm in norms(channels) {
            let case = Case::<f64>::new(norm, 40, [side, side], 3);
            assert_all_close(&case.run(), &by_definition(&case), 1e-10);
        }
        // Without cuts at 0, which rounding can move.
        let case = Case::<f32>::new(FrameNorm::new(channels), 40, [side, side], 3);
        let exact = by_definition(&case.cast());
        for level in Level::ALL {
            assert_all_close(&case.at(level).run(), &exact, 2e-5);
        }
    }
}

#[test]
fn gradients_are_finite_differences() {
    for (channels, size, seed) in [(3, [3, 4], 5), (2, [1, 2], 12), (1, [5, 5], 7), (5, [1, 1], 8)] {
        for norm in norms(channels) {
            let case = Case::<f64>::new(norm, 3, size, seed);
            let loss = |case: &Case<f64>| -> f64 {
                case.forward().values.iter().zip(&case.of_output).map(|(y, g)| (y * g).sin()).sum()
            };
            let h = 1e-4;
            let plain = Case { norm: FrameNorm::new(channels), ..case.clone() }.forward().values;
            assert!(plain.iter().all(|y| y.abs() > 30.0 * h), "too near a kink: {channels} {size:?}");

            let mut pulled = case.clone();
            for (g, y) in pulled.of_output.iter_mut().zip(case.forward().values) {
                *g *= (y * *g).cos();
            }
            let [_, of_input, of_scale, of_offset] = pulled.run();
            let differences = gradient(&case.input, h, |x| loss(&Case { input: x.to_vec(), ..case.clone() }));
            assert_close("gradient of the input", &of_input, &differences, 1e-8);
            let differences = gradient(&case.scale, h, |s| loss(&Case { scale: s.to_vec(), ..case.clone() }));
            assert_close("gradient of the scale", &of_scale, &differences, 1e-8);
            let differences =
                gradient(&case.offset, h, |o| loss(&Case { offset: o.to_vec(), ..case.clone() }));
            assert_close("gradient of the offset", &of_offset, &differences, 1e-8);
        }
    }
}

/// A mean of a thousand beside standard deviations of a hundredth: a mean in one number of single precision would be wrong
/// by a part in three hundred of the standard deviation.
#[test]
fn a_large_mean_does_not_cost_digits() {
    let mut case = Case::<f32>::new(FrameNorm::new(4), 5, [9, 9], 1);
    case.input.iter_mut().for_each(|x| *x = 1000.0 + 0.01 * *x);
    let exact = by_definition(&case.cast());
    for level in Level::ALL {
        let [output, of_input, of_scale, of_offset] = case.at(level).run();
        // The gradients of the input are as large as the standard deviations are small.
        let scaled = |values: &[f64]| values.iter().map(|g| g * 0.01).collect::<Vec<_>>();
        let doubles = of_input.iter().map(|g| f64::from(*g)).collect::<Vec<_>>();
        assert_close("gradient of the input", &scaled(&doubles), &scaled(&exact[1]), 1e-5);
        let actual = [output, Vec::new(), of_scale, of_offset];
        let expected = [exact[0].clone(), Vec::new(), exact[2].clone(), exact[3].clone()];
        assert_all_close(&actual, &expected, 1e-5);
    }
}

fn constant_frames<T: NormalisationReal>() {
    for (norm, size) in
        norms(3).into_iter().flat_map(|norm| [[4, 5], [1, 1], [17, 17]].map(|size| (norm, size)))
    {
        for value in [0.0, 0.1, -1e4, 3.3e7] {
            for (epsilon, level) in [1e-5, 1e-12, 1e-37].into_iter().flat_map(|e| Level::ALL.map(|l| (e, l)))
            {
                let mut case = Case::<T>::new(norm.epsilon(epsilon), 2, size, 4).at(level);
                case.input.fill(T::of(value));
                let results = case.run();
                let plane = size[0] * size[1];
                for (i, y) in results[0].iter().enumerate() {
                    let offset = case.offset[i / plane % 3];
                    assert_eq!(*y, if norm.relu { offset.max(T::zero()) } else { offset });
                }
                assert!(results.iter().flatten().all(|x| x.is_finite()), "{value} {epsilon} {level:?}");
                assert!(results[2].iter().all(|g| *g == T::zero()));
            }
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
    let case = Case::<f64>::new(FrameNorm::new(1), 4, [1, 1], 4);
    let [output, of_input, of_scale, of_offset] = case.run();
    assert_eq!(output, vec![case.offset[0]; 4]);
    assert_close("gradient of the input", &of_input, &[0.0; 4], 1e-13);
    assert_eq!(of_scale, [0.0]);
    assert_close("gradient of the offset", &of_offset, &[case.of_output.iter().sum()], 1e-15);
}

#[test]
fn threads_do_not_change_a_bit() {
    for (channels, size, frames) in [(16, [9, 9], 101), (12, [17, 17], 50), (2, [3, 1], 7000)] {
        for norm in norms(channels) {
            let case = Case::<f32>::new(norm, frames, size, 5);
            let with_threads = |threads| {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| bits(&case.run()))
            };
            let one = with_threads(1);
            for threads in [2, 3, 5] {
                assert!(one == with_threads(threads), "{threads} threads, {channels} channels");
            }
        }
    }
}

#[test]
fn a_split_of_the_batch_does_not_change_a_bit_of_a_frame() {
    for (channels, size) in [(3, [9, 9]), (5, [2, 3])] {
        let case = Case::<f32>::new(FrameNorm::new(channels).relu(), 37, size, 6);
        let [output, of_input, ..] = bits(&case.run());
        for cuts in [vec![0, 1, 37], vec![0, 5, 21, 36, 37], (0..=37).collect()] {
            let parts = cuts.windows(2).map(|cut| bits(&case.part(cut[0]..cut[1]).run()));
            let (outputs, of_inputs): (Vec<_>, Vec<_>) =
                parts.map(|[output, of_input, ..]| (output, of_input)).unzip();
            assert!(output == outputs.concat() && of_input == of_inputs.concat(), "{cuts:?}");
        }
    }
}

#[test]
fn no_frames_are_fine() {
    let case = Case::<f32>::new(FrameNorm::new(3).relu(), 0, [4, 4], 1);
    assert_eq!(case.run(), [vec![], vec![], vec![0.0; 3], vec![0.0; 3]]);
}

#[test]
fn what_has_diverged_is_seen() {
    for (value, relu) in [f32::NAN, f32::INFINITY, 1e30].into_iter().flat_map(|x| [(x, false), (x, true)]) {
        let mut case = Case::<f32>::new(FrameNorm { relu, ..FrameNorm::new(2) }, 2, [3, 5], 1);
        case.input[4] = value;
        for level in Level::ALL {
            let output = case.at(level).forward().values;
            let (first, second) = output.split_at(output.len() / 2);
            assert!(first.iter().all(|y| y.is_nan()), "{value} {level:?}");
            assert!(second.iter().all(|y| y.is_finite()), "{value} {level:?}");
        }
    }
}

/// What the forward pass has to say, or else the backward pass.
fn error(change: impl FnOnce(&mut Case<f32>)) -> NormalisationError {
    let mut case = Case::new(FrameNorm::new(2).relu(), 3, [4, 5], 1);
    change(&mut case);
    let Case { norm, scale, offset, of_output, .. } = &case;
    match norm.forward(case.images(), scale, offset) {
        Err(error) => error,
        Ok(Normalised { tape, .. }) => {
            norm.backward(case.images(), scale, offset, &tape, of_output).map(|_| ()).unwrap_err()
        }
    }
}

#[test]
fn arguments_are_named() {
    let cases = [
        (error(|c| _ = c.input.pop()), "images"),
        (error(|c| c.frames = 2), "images"),
        (error(|c| c.frames = usize::MAX), "images"),
        (error(|c| c.size = [0, 5]), "size"),
        (error(|c| (c.frames, c.size) = (0, [usize::MAX, 5])), "images"),
        (error(|c| (c.frames, c.input, c.size) = (0, vec![], [usize::MAX, 5])), "size"),
        (error(|c| c.norm.channels = 0), "channels"),
        (error(|c| c.norm.channels = 4), "images"),
        (error(|c| (c.norm.channels, c.size) = (4, [2, 5])), "scale"),
        (error(|c| c.scale.push(1.0)), "scale"),
        (error(|c| c.offset.clear()), "offset"),
        (error(|c| _ = c.of_output.pop()), "of_output"),
        (error(|c| c.norm.epsilon = 0.0), "epsilon"),
        (error(|c| c.norm.epsilon = -1.0), "epsilon"),
        (error(|c| c.norm.epsilon = f64::NAN), "epsilon"),
        (error(|c| c.norm.epsilon = 1e-60), "epsilon"),
        (error(|c| c.norm.epsilon = 1e60), "epsilon"),
    ];
    for (error, argument) in cases {
        let message = error.to_string();
        assert!(message.starts_with(&format!("`{argument}`")), "`{message}` does not name `{argument}`");
    }
}

#[test]
fn tapes_are_checked() {
    let case = Case::<f32>::new(FrameNorm::new(2), 3, [4, 5], 1);
    let tape = case.forward().tape;
    let backward = |case: &Case<f32>| {
        let Case { norm, scale, offset, of_output, .. } = case;
        norm.backward(case.images(), scale, offset, &tape, of_output).map(|_| ())
    };
    assert_eq!(backward(&case), Ok(()));
    assert_eq!(backward(&case.part(0..2)), Err(NormalisationError::ForeignTape));
    let other = Case { size: [2, 5], frames: 6, ..case.clone() };
    assert_eq!(backward(&other), Err(NormalisationError::ForeignTape));
    let levels = Level::ALL.into_iter().filter(|level| level.is_available() && *level != case.norm.level);
    for level in levels {
        assert_eq!(backward(&case.at(level)), Err(NormalisationError::ForeignTape));
    }
}
