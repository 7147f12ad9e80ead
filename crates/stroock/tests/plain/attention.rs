//! Attention over ragged series.

use burn::tensor::{DType, Device, Tensor};
use stroock::batch::{EncoderInput, InputPoints};
use stroock::encoder;
use stroock::plain;
use stroock::series::Observation;

use crate::agreement::assert_agreement;
use crate::numbers::{doubles, tensor, uniform};

const CHANNELS: usize = 3;
const REFERENCES: usize = 5;
const WIDTH: usize = 4;

/// Series of 7, 1, 0 and 12 points; the first never sees its last channel.
fn ragged(observation: Observation) -> EncoderInput {
    let channels = observation.len();
    let series: Vec<InputPoints> = [7, 1, 0, 12]
        .into_iter()
        .enumerate()
        .map(|(b, count)| InputPoints {
            // Some times are shared between series.
            times: (0..count).map(|i| (i * (b + 1)) as f64 / 40.0).collect(),
            values: uniform(count * channels, b as u64).into_iter().map(|x| x as f32).collect(),
            seen: (0..count * channels)
                .map(|place| (place * 7 + b) % 3 != 0 && !(b == 0 && place % channels == channels - 1))
                .collect(),
        })
        .collect();
    EncoderInput::new(observation, &series)
}

/// Compares for features `[N, features]` of the points; scores grow with `steepness`.
fn compare(name: &str, input: &EncoderInput, features: usize, steepness: f64) {
    let (times, points) = (input.distinct_times.len(), input.points());
    let keys = uniform(times * WIDTH, 12).into_iter().map(|x| x * steepness).collect();
    let leaves = [
        ("queries", uniform(REFERENCES * WIDTH, 11)),
        ("keys", keys),
        ("values", uniform(points * features, 13)),
    ];
    let shaped = |leaves: &[Tensor<1>]| {
        let [queries, keys, values] = [leaves[0].clone(), leaves[1].clone(), leaves[2].clone()];
        let queries = queries.reshape([REFERENCES, WIDTH]);
        (queries, keys.reshape([times, WIDTH]), values.reshape([points, features]))
    };
    assert_agreement(
        name,
        &leaves,
        |leaves| {
            let (queries, keys, values) = shaped(leaves);
            encoder::attend(input, queries, keys, values).unwrap().flatten(0, 2)
        },
        |leaves| {
            let (queries, keys, values) = shaped(leaves);
            plain::attend(input, queries, keys, values).unwrap().flatten(0, 2)
        },
    );
}

#[test]
fn ragged_series_with_gaps() {
    compare("gaps", &ragged(Observation::Vector { channels: CHANNELS }), CHANNELS, 1.0);
}

#[test]
fn whole_points_with_features() {
    let image = Observation::Image { channels: 1, height: 2, width: 2 };
    compare("features", &ragged(image), 5, 1.0);
}

#[test]
fn channels_far_below_the_largest_score() {
    // Weights of some channels vanish beside the largest of their series.
    compare("steep", &ragged(Observation::Vector { channels: CHANNELS }), CHANNELS, 300.0);
}

#[test]
fn what_has_no_entries_is_zero_and_what_is_not_observed_is_not_read() {
    let (device, input) = (Device::flex(), ragged(Observation::Vector { channels: CHANNELS }));
    let times = input.distinct_times.len();
    let queries = tensor(&uniform(REFERENCES * WIDTH, 1), [REFERENCES, WIDTH], &device);
    let keys = tensor(&uniform(times * WIDTH, 2), [times, WIDTH], &device);
    let values = tensor(&uniform(input.points() * CHANNELS, 3), [input.points(), CHANNELS], &device);
    // Entry (0, 0) is not seen.
    let mut numbers = doubles(values.clone());
    numbers[0] = f64::NAN;
    let with_nan = tensor(&numbers, [input.points(), CHANNELS], &device);
    for attend in [encoder::attend, plain::attend] {
        let output = doubles(attend(&input, queries.clone(), keys.clone(), values.clone()).unwrap());
        assert_eq!(output, doubles(attend(&input, queries.clone(), keys.clone(), with_nan.clone()).unwrap()));
        let at = |b: usize, r: usize, c: usize| output[(b * REFERENCES + r) * CHANNELS + c];
        for r in 0..REFERENCES {
            assert_eq!(at(0, r, 2), 0.0, "a channel without entries");
            assert_ne!(at(0, r, 1), 0.0);
            assert!((0..CHANNELS).all(|c| at(2, r, c) == 0.0), "a series without points");
        }
    }
}

#[test]
fn no_points_at_all() {
    let empty = InputPoints::default();
    let input = EncoderInput::new(Observation::Vector { channels: 2 }, &[empty.clone(), empty]);
    let zeros = |shape: [usize; 2]| Tensor::<2>::zeros(shape, (&Device::flex(), DType::F64));
    let output = plain::attend(&input, zeros([3, 4]).add_scalar(1.0), zeros([0, 4]), zeros([0, 2])).unwrap();
    assert_eq!((output.dims(), doubles(output)), ([2, 3, 2], vec![0.0; 12]));
}

#[test]
fn shapes_that_do_not_fit_are_errors() {
    let input = ragged(Observation::Vector { channels: CHANNELS });
    let (times, points) = (input.distinct_times.len(), input.points());
    let zeros = |rows: usize, columns: usize| Tensor::<2>::zeros([rows, columns], &Device::flex());
    for [queries, keys, values] in [
        [[2, 4], [times, 3], [points, CHANNELS]],
        [[2, 4], [times - 1, 4], [points, CHANNELS]],
        [[2, 4], [times, 4], [points + 1, CHANNELS]],
        [[2, 4], [times, 4], [points, CHANNELS + 1]],
    ] {
        let [queries, keys, values] = [queries, keys, values].map(|[rows, columns]| zeros(rows, columns));
        assert!(plain::attend(&input, queries, keys, values).is_err());
    }
}
