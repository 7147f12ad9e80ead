//! The process of the residuals against dense linear algebra, its limits, and its draws.

use proptest::prelude::*;
use stroock::residual::{
    ChannelResidual, Conditional, ResidualProcess, ResidualSample, Shape, Smoothness, fit,
};
use stroock_kernels::noise::{NoiseKey, Purpose, Stream};
use stroock_testing::statistics::estimate;

fn stream(number: u32) -> Stream {
    NoiseKey::new(11, 0).stream(Purpose::Caller, number, 0)
}

/// A standard normal number.
fn normal(stream: &mut Stream) -> f64 {
    (-2.0 * stream.uniform().ln()).sqrt() * (std::f64::consts::TAU * stream.uniform()).cos()
}

/// Lower triangular factor of a positive definite matrix.
fn cholesky(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let mut lower = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
            let rest: f64 = matrix[i][j] - dot;
            lower[i][j] = if i == j { rest.sqrt() } else { rest / lower[j][j] };
        }
    }
    lower
}

/// `L^-1 b`.
fn forward(lower: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let mut x = vec![0.0; b.len()];
    for i in 0..b.len() {
        let dot: f64 = (0..i).map(|k| lower[i][k] * x[k]).sum();
        x[i] = (b[i] - dot) / lower[i][i];
    }
    x
}

fn covariance(process: &ChannelResidual, t: f64, u: f64) -> f64 {
    let distance = (t - u).abs();
    let quick = match process.smoothness {
        Smoothness::Half => (-distance / process.length).exp(),
        Smoothness::ThreeHalves => {
            let x = 3f64.sqrt() * distance / process.length;
            (1.0 + x) * (-x).exp()
        }
    };
    let slow = (-distance / process.slow_length).exp();
    process.amplitude.powi(2) * quick + process.slow_amplitude.powi(2) * slow
}

/// Gaussian conditioning and log likelihood by the whole covariance matrix.
fn dense(process: &ChannelResidual, times: &[f64], values: &[f64], at: &[f64]) -> (Conditional, f64) {
    let noise = process.noise * process.noise;
    let matrix: Vec<Vec<f64>> = (0..times.len())
        .map(|i| {
            let row = (0..times.len())
                .map(|j| covariance(process, times[i], times[j]) + if i == j { noise } else { 0.0 });
            row.collect()
        })
        .collect();
    let lower = cholesky(&matrix);
    let white = forward(&lower, values);
    let mut answer = Conditional::default();
    for &t in at {
        let cross: Vec<f64> = times.iter().map(|&u| covariance(process, t, u)).collect();
        let half = forward(&lower, &cross);
        answer.mean.push(half.iter().zip(&white).map(|(a, b)| a * b).sum());
        let known: f64 = half.iter().map(|a| a * a).sum();
        let variance = covariance(process, t, t) + noise - known;
        answer.variance.push(variance);
    }
    let log = |i: usize| -0.5 * white[i] * white[i] - lower[i][i].ln() - 0.5 * std::f64::consts::TAU.ln();
    (answer, (0..times.len()).map(log).sum())
}

fn close(a: f64, b: f64, bound: f64) -> bool {
    (a - b).abs() <= bound * (1.0 + b.abs())
}

fn increasing(mut times: Vec<f64>) -> Vec<f64> {
    times.sort_by(f64::total_cmp);
    times
}

fn processes() -> impl Strategy<Value = ChannelResidual> {
    let smoothness = prop_oneof![Just(Smoothness::Half), Just(Smoothness::ThreeHalves)];
    let quick = (smoothness, 0.0..3.0f64, -3.0..3.0f64);
    let slow = (prop_oneof![Just(0.0), 0.0..3.0f64], -1.0..6.0f64);
    (quick, slow, 0.05..2.0f64).prop_map(|((smoothness, amplitude, length), slow, noise)| ChannelResidual {
        amplitude,
        length: length.exp(),
        smoothness,
        slow_amplitude: slow.0,
        slow_length: slow.1.exp(),
        ..ChannelResidual::white(noise)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn conditioning_is_that_of_the_dense_gaussian(
        process in processes(),
        // A coarse lattice makes times coincide, seen with seen and seen with asked.
        times in prop::collection::vec((0..40i32).prop_map(|t| f64::from(t) / 4.0), 0..=12)
            .prop_map(increasing),
        values in prop::collection::vec(-5.0..5.0f64, 12),
        at in prop::collection::vec((-8..48i32).prop_map(|t| f64::from(t) / 4.0), 0..=12)
            .prop_map(increasing),
    ) {
        let values = &values[..times.len()];
        let answer = process.condition(&times, values, &at);
        let (expected, log) = dense(&process, &times, values, &at);
        prop_assert_eq!(answer.mean.len(), at.len());
        for q in 0..at.len() {
            prop_assert!(close(answer.mean[q], expected.mean[q], 1e-10), "{:?} {:?}", answer, expected);
            let (found, dense) = (answer.variance[q], expected.variance[q]);
            prop_assert!(close(found, dense, 1e-10), "{:?} {:?}", answer, expected);
        }
        prop_assert!(close(process.log_likelihood(&times, values), log, 1e-10));
    }

    #[test]
    fn held_values_are_judged_by_the_conditional_moments(
        process in processes(),
        times in prop::collection::vec(0.0..10.0f64, 5).prop_map(increasing),
        values in prop::collection::vec(-5.0..5.0f64, 5),
        at in prop::collection::vec(0.0..10.0f64, 4).prop_map(increasing),
        truth in prop::collection::vec(-5.0..5.0f64, 4),
    ) {
        let (moments, _) = dense(&process, &times, &values, &at);
        let density = |q: usize| {
            let (error, variance) = (truth[q] - moments.mean[q], moments.variance[q]);
            -0.5 * (error * error / variance + (std::f64::consts::TAU * variance).ln())
        };
        let found = process.predictive_log_likelihood((&times, &values), (&at, &truth));
        prop_assert!(close(found, (0..4).map(density).sum(), 1e-9));
    }

    #[test]
    fn nothing_is_ever_without_meaning(
        smooth in any::<bool>(),
        amplitudes in prop::array::uniform2(prop_oneof![Just(0.0), -300.0..150.0f64]),
        noise in prop_oneof![Just(0.0), -300.0..150.0f64],
        lengths in prop::array::uniform2(-300.0..150.0f64),
        times in prop::collection::vec((-1e3..1e3f64).prop_map(|x| x.sinh().clamp(-1e308, 1e308)), 6)
            .prop_map(increasing),
        values in prop::collection::vec(
            prop_oneof![Just(f64::MAX), Just(f64::MIN), Just(0.0), -1.0..1.0f64],
            6,
        ),
        at in prop::collection::vec((-1e3..1e3f64).prop_map(|x| x.sinh().clamp(-1e308, 1e308)), 6)
            .prop_map(increasing),
    ) {
        let power = |x: f64| if x == 0.0 { 0.0 } else { 10f64.powf(x) };
        let process = ChannelResidual {
            amplitude: power(amplitudes[0]),
            length: 10f64.powf(lengths[0]),
            smoothness: if smooth { Smoothness::ThreeHalves } else { Smoothness::Half },
            slow_amplitude: power(amplitudes[1]),
            slow_length: 10f64.powf(lengths[1]),
            ..ChannelResidual::white(power(noise))
        };
        let answer = process.condition(&times, &values, &at);
        prop_assert!(answer.mean.iter().all(|x| x.is_finite()), "{:?}", answer);
        prop_assert!(answer.variance.iter().all(|x| x.is_finite() && *x >= 0.0), "{:?}", answer);
        let mut numbers = stream(1);
        let draw = process.draw(&times, &values, &at, 1.0, &mut || normal(&mut numbers));
        prop_assert!(draw.iter().all(|x| x.is_finite()), "{:?}", draw);
        prop_assert!(!process.log_likelihood(&times, &values).is_nan());
        prop_assert!(!process.predictive_log_likelihood((&times, &values), (&at, &values)).is_nan());
        let sample = ResidualSample {
            seen_times: times.clone(), seen_values: values.clone(), held_times: at, held_values: values,
        };
        prop_assert!(fit(&[sample.clone(), sample.clone(), sample], 1.0).is_valid());
    }
}

const LAW: ChannelResidual = ChannelResidual { amplitude: 0.8, length: 1.5, ..ChannelResidual::white(0.3) };
/// Of two parts, one with slopes.
const RICH: ChannelResidual =
    ChannelResidual { smoothness: Smoothness::ThreeHalves, slow_amplitude: 0.6, slow_length: 40.0, ..LAW };
const TIMES: [f64; 4] = [0.0, 0.4, 2.0, 2.5];
const VALUES: [f64; 4] = [0.5, -0.2, 1.3, 0.9];

#[test]
fn a_short_length_is_white_and_a_long_one_a_constant() {
    let at = [0.2, 2.2, 7.0];
    let white = ChannelResidual { length: 1e-9, ..LAW }.condition(&TIMES, &VALUES, &at);
    let constant = ChannelResidual { length: 1e12, ..LAW }.condition(&TIMES, &VALUES, &at);
    // Four measurements of one number with prior variance a^2.
    let precision = 1.0 / (0.8 * 0.8) + 4.0 / (0.3 * 0.3);
    let mean = VALUES.iter().sum::<f64>() / (0.3 * 0.3) / precision;
    for q in 0..at.len() {
        assert_eq!(white.mean[q], 0.0);
        assert!(close(white.variance[q], 0.8 * 0.8 + 0.3 * 0.3, 1e-12));
        assert!(close(constant.mean[q], mean, 1e-9), "{} {mean}", constant.mean[q]);
        assert!(close(constant.variance[q], 1.0 / precision + 0.3 * 0.3, 1e-9));
    }
}

#[test]
fn nothing_seen_nothing_asked_no_amplitude_no_noise() {
    let prior = LAW.condition(&[], &[], &[0.0, 5.0]);
    assert_eq!(prior.mean, [0.0, 0.0]);
    assert!(prior.variance.iter().all(|v| close(*v, 0.73, 1e-12)));
    assert_eq!(LAW.condition(&TIMES, &VALUES, &[]), Conditional::default());
    assert!(LAW.draw(&TIMES, &VALUES, &[], 1.0, &mut || 1.0).is_empty());
    assert_eq!(LAW.log_likelihood(&[], &[]), 0.0);

    let flat = ChannelResidual { amplitude: 0.0, ..LAW }.condition(&TIMES, &VALUES, &[0.4, 1.0]);
    assert_eq!(flat.mean, [0.0, 0.0]);
    assert!(flat.variance.iter().all(|v| close(*v, 0.09, 1e-12)));

    // Without noise the process goes through what was seen.
    let exact = ChannelResidual { noise: 0.0, ..LAW }.condition(&TIMES, &VALUES, &TIMES);
    for (mean, value) in exact.mean.iter().zip(VALUES) {
        assert!(close(*mean, value, 1e-12));
    }
    assert!(exact.variance.iter().all(|v| v.abs() < 1e-15));

    // A value that is not a number was not seen.
    let holes = LAW.condition(&TIMES, &[0.5, f64::NAN, 1.3, f64::INFINITY], &[1.0]);
    assert_eq!(holes, LAW.condition(&[0.0, 2.0], &[0.5, 1.3], &[1.0]));
}

#[test]
fn the_shape_leaves_means_and_makes_a_mixture_of_densities() {
    let shape = Shape { spread: 0.5, tail_share: 0.25, tail_spread: 2.0 };
    let heavy = ChannelResidual { shape, ..LAW };
    let at = [0.3, 9.0];
    assert_eq!(LAW.condition(&TIMES, &VALUES, &at), heavy.condition(&TIMES, &VALUES, &at));
    assert_eq!(LAW.log_likelihood(&TIMES, &VALUES), heavy.log_likelihood(&TIMES, &VALUES));
    let density = |spread: f64| {
        let scaled = ChannelResidual { shape: Shape { spread, ..Shape::default() }, ..LAW };
        scaled.predictive_log_likelihood((&TIMES, &VALUES), (&[9.0], &[1.7])).exp()
    };
    let mixture = heavy.predictive_log_likelihood((&TIMES, &VALUES), (&[9.0], &[1.7])).exp();
    assert!(close(mixture, 0.75 * density(0.5) + 0.25 * density(2.0), 1e-12));
}

#[test]
fn shapes_are_found_again() {
    let truth = Shape { spread: 0.6, tail_share: 0.08, tail_spread: 4.0 };
    let mut numbers = stream(11);
    let sample: Vec<f64> =
        (0..40_000).map(|_| truth.choose(numbers.uniform()) * normal(&mut numbers)).collect();
    let found = Shape::fit(&sample);
    assert!(close(found.spread, truth.spread, 0.02), "{found:?}");
    assert!((found.tail_share - truth.tail_share).abs() < 0.01, "{found:?}");
    assert!((found.tail_spread / truth.tail_spread).ln().abs() < 0.06, "{found:?}");
    assert!((found.variance() / truth.variance()).ln().abs() < 0.05, "{found:?}");
    assert_eq!(Shape::fit(&[0.1; 5]), Shape::default());
    assert!(Shape::fit(&[0.0; 500]).is_valid());
}

#[test]
fn a_smooth_process_without_noise_goes_through_every_value_however_near() {
    let times = [0.0, 1e-9, 1e-6, 1e-3, 1.0];
    let values = [0.5, 0.5, 0.5 + 1e-7, 0.5 + 1e-4, 0.4];
    let exact = ChannelResidual { noise: 0.0, ..RICH };
    let answer = exact.condition(&times, &values, &times);
    for (mean, value) in answer.mean.iter().zip(values) {
        assert!((mean - value).abs() < 1e-6, "{answer:?}");
    }
    assert!(answer.variance.iter().all(|v| (0.0..1e-9).contains(v)), "{answer:?}");
}

#[test]
fn draws_have_the_conditional_process() {
    for (number, process) in [LAW, RICH, ChannelResidual { slow_amplitude: 0.0, ..RICH }].iter().enumerate() {
        draws_are_conditional(process, 2 + number as u32);
    }
}

fn draws_are_conditional(process: &ChannelResidual, number: u32) {
    let at = [-1.0, 0.4, 1.0, 1.1, 4.0];
    let expected = process.condition(&TIMES, &VALUES, &at);
    let mut numbers = stream(number);
    let draws: Vec<Vec<f64>> =
        (0..40_000).map(|_| process.draw(&TIMES, &VALUES, &at, 1.0, &mut || normal(&mut numbers))).collect();
    for q in 0..at.len() {
        let centred = |draw: &Vec<f64>| draw[q] - expected.mean[q];
        estimate(draws.iter().map(centred)).assert_mean("mean", 0.0);
        estimate(draws.iter().map(|d| centred(d).powi(2))).assert_mean("variance", expected.variance[q]);
    }
    // Neighbours move together, as the slope of the mean of one given the other says: with everything seen and that
    // value more, it is their covariance over its variance.
    for (one, other) in [(2, 3), (2, 4), (0, 1)] {
        let with = |value: f64| {
            let mut all: Vec<(f64, f64)> = TIMES.into_iter().zip(VALUES).collect();
            all.push((at[one], value));
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (times, values): (Vec<f64>, Vec<f64>) = all.into_iter().unzip();
            dense(process, &times, &values, &[at[other]]).0.mean[0]
        };
        let covariance = (with(0.7) - with(0.0)) / 0.7 * expected.variance[one];
        let product = |d: &Vec<f64>| (d[one] - expected.mean[one]) * (d[other] - expected.mean[other]);
        estimate(draws.iter().map(product)).assert_mean("covariance", covariance);
        assert!(one != 2 || other != 3 || covariance > 0.1, "{covariance}");
    }
}

#[test]
fn laws_are_read_back_as_written_and_checked() {
    let process = ResidualProcess { channels: vec![LAW, RICH] };
    let text = serde_json::to_string(&process).unwrap();
    assert_eq!(serde_json::from_str::<ResidualProcess>(&text).unwrap(), process);
    assert!(serde_json::from_str::<ResidualProcess>(r#"{"channels": [], "more": 1}"#).is_err());
    let short = r#"{"amplitude": 1.0, "length": 2.0, "noise": 0.5}"#;
    let one_part = ChannelResidual { amplitude: 1.0, length: 2.0, ..ChannelResidual::white(0.5) };
    assert_eq!(serde_json::from_str::<ChannelResidual>(short).unwrap(), one_part);
    assert!(process.is_valid(2) && !process.is_valid(3));
    for wrong in [
        ChannelResidual { amplitude: -1.0, ..LAW },
        ChannelResidual { length: 0.0, ..LAW },
        ChannelResidual { slow_amplitude: -1.0, ..LAW },
        ChannelResidual { slow_length: f64::INFINITY, ..LAW },
        ChannelResidual { noise: f64::NAN, ..LAW },
        ChannelResidual { shape: Shape { spread: f64::INFINITY, ..Shape::default() }, ..LAW },
        ChannelResidual::white(0.0),
    ] {
        assert!(!wrong.is_valid(), "{wrong:?}");
    }
}
