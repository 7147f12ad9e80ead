//! Networks in one piece against the reference implementation, finite differences, and themselves.

mod layers;
mod reference;

use layers::{Case, NORM, POOL, assert_all_close, bits, convolutions, layer, networks};
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use reference::by_definition;
use stroock_kernels::network::{Convolution, Images, Then, Wanted};
use stroock_kernels::simd::Level;
use stroock_testing::finite_difference::gradient;

#[test]
fn networks_follow_the_definition() {
    for (number, (layers, size)) in networks().into_iter().enumerate() {
        // Whole groups, groups of a single vector, and idle lanes.
        for frames in [1, 7, 16, 17, 33, 70] {
            let case = Case::new(layers.clone(), frames, size, number as u64);
            let expected = by_definition(&case);
            // A level that the processor lacks runs as the portable one.
            for level in Level::ALL {
                assert_all_close(&case.at(level).run(), &expected, 1e-12);
                assert_all_close(&case.at(level).cast::<f32>().run(), &expected, 3e-4);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_two_layers(
        (first, size) in convolutions(9),
        outputs in 1usize..20,
        kind in 0..3,
        frames in 1usize..40,
        seed in any::<u32>(),
    ) {
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
        let expected = by_definition(&case);
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
fn parameters_alone_are_the_same() {
    for (number, (layers, size)) in networks().into_iter().enumerate() {
        let case = Case::new(layers, 20, size, 60 + number as u64).cast::<f32>();
        let [_, _, of_parameters] = case.run();
        let made = case.network.forward(case.images(), &case.parameters).unwrap();
        let alone = case.network.backward(
            case.images(),
            &case.parameters,
            &made.tape,
            &case.of_output,
            Wanted::Parameters,
        );
        let alone = alone.unwrap();
        assert!(alone.input.is_empty());
        assert_eq!(bits(&alone.parameters), bits(&of_parameters), "network {number}");
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    for (number, (layers, size)) in networks().into_iter().enumerate() {
        let case = Case::new(layers, 150, size, 70 + number as u64).cast::<f32>();
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
        let case = Case::new(layers, 75, size, 90 + number as u64).cast::<f32>();
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
        assert_eq!(bits(&case.forward()), bits(&output), "without a tape");
    }
}
