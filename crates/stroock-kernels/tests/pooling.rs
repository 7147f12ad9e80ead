//! Pooling behind a convolution against the reference implementation.

mod layers;
mod reference;

use layers::{Case, POOL, assert_all_close, convolutions, layer};
use proptest::prelude::*;
use reference::by_definition;
use stroock_kernels::network::{MaxPool, Then};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn both_passes_follow_the_definition(
        window in (1usize..4, 1usize..4),
        more in (0usize..20, 0usize..20),
        channels in 1usize..4,
        frames in 1usize..20,
        seed in 0u64..1000,
    ) {
        let pool = Then::Pool(MaxPool { window: [window.0, window.1] });
        let size = [window.0 + more.0, window.1 + more.1];
        let mut case = Case::behind_nothing(channels, pool, frames, size, seed);
        // Few different values: many ties.
        case.input.iter_mut().for_each(|x| *x = (*x * 3.0).round());
        let [output, of_input, _] = case.run();
        let [expected, of_expected, _] = by_definition(&case);
        prop_assert_eq!((output, of_input), (expected, of_expected));
    }

    #[test]
    fn any_convolution_and_window(
        (convolution, size) in convolutions(18),
        window in (1usize..4, 1usize..4),
        frames in 1usize..20,
        seed in 0u64..1000,
    ) {
        let pool = MaxPool { window: [window.0, window.1] };
        prop_assume!(pool.output_size(convolution.output_size(size).unwrap()).is_ok());
        let case = Case::new(vec![layer(convolution, Then::Pool(pool))], frames, size, seed);
        assert_all_close(&case.run(), &by_definition(&case), 1e-12);
    }
}

/// The maxima of one frame of one channel, and the gradients of its pixels where those of the maxima are 1, 2 and so on.
fn pooled(values: &[f64], size: [usize; 2]) -> (Vec<f64>, Vec<f64>) {
    let mut case = Case::behind_nothing(1, POOL, 1, size, 1);
    case.input = values.to_vec();
    case.of_output.iter_mut().enumerate().for_each(|(i, g)| *g = (i + 1) as f64);
    let [output, of_input, _] = case.run();
    (output, of_input)
}

#[test]
fn the_first_of_equal_numbers_counts() {
    for (values, index) in
        [([0.0; 4], 0), ([0.0, 1.0, 1.0, 1.0], 1), ([-1.0, -2.0, 0.0, 0.0], 2), ([-0.0, 0.0, -0.0, 0.0], 0)]
    {
        let mut expected = [0.0; 4];
        expected[index] = 1.0;
        assert_eq!(pooled(&values, [2, 2]).1, expected);
    }
}

#[test]
fn what_has_diverged_is_seen() {
    for place in 0..4 {
        let mut values = [1.0, 2.0, 3.0, 4.0];
        values[place] = f64::NAN;
        let (output, of_input) = pooled(&values, [2, 2]);
        assert!(output[0].is_nan());
        assert_eq!(of_input[place], 1.0);
    }
}

#[test]
fn odd_rows_and_columns_are_dropped() {
    let mut values = [0.0; 15];
    values[2] = 9.0;
    values[13] = 9.0;
    let (output, of_input) = pooled(&values, [5, 3]);
    assert_eq!(output, [0.0, 0.0]);
    assert_eq!((of_input[0], of_input[6], of_input.iter().sum::<f64>()), (1.0, 2.0, 3.0));
}
