//! The fit of the process of the residuals: known processes, little data, outliers, heavy tails.

use rand_core::Rng;
use stroock::residual::{
    ChannelResidual, DecodedSample, ObservedSamples, ResidualSample, Shape, Smoothness, fit,
    fit_with_shrinkage,
};
use stroock_kernels::noise::{NoiseKey, Purpose, Stream};

fn stream(number: u32) -> Stream {
    NoiseKey::new(11, 0).stream(Purpose::Caller, number, 0)
}

/// A standard normal number.
fn normal(stream: &mut Stream) -> f64 {
    (-2.0 * stream.uniform().ln()).sqrt() * (std::f64::consts::TAU * stream.uniform()).cos()
}

const LAW: ChannelResidual = ChannelResidual { amplitude: 0.8, length: 1.5, ..ChannelResidual::white(0.3) };

/// Series of a known process at irregular times; a third of the values is held back, and the second half of every
/// other series.
fn simulate(
    process: &ChannelResidual,
    series: u32,
    length: usize,
    tail: impl Fn(f64) -> f64,
) -> Vec<ResidualSample> {
    let mut samples = Vec::new();
    for number in 0..series {
        let mut numbers = stream(100 + number);
        let (mut time, mut times) = (0.0, Vec::new());
        for _ in 0..length {
            time -= 0.5 * numbers.uniform().ln();
            times.push(time);
        }
        let values = process.draw(&[], &[], &times, 1.0, &mut || normal(&mut numbers));
        let mut sample = ResidualSample::default();
        for (k, (time, value)) in times.into_iter().zip(values).enumerate() {
            let late = number % 2 == 1 && k > length / 2;
            if late || numbers.next_u32().is_multiple_of(3) {
                sample.held_times.push(time);
                sample.held_values.push(tail(value));
            } else {
                sample.seen_times.push(time);
                sample.seen_values.push(tail(value));
            }
        }
        samples.push(sample);
    }
    samples
}

fn within(name: &str, found: f64, expected: f64, share: f64) {
    assert!((found / expected).ln().abs() < share, "{name}: {found}, expected {expected}");
}

#[test]
fn the_fit_recovers_the_process() {
    for process in [
        LAW,
        ChannelResidual { amplitude: 20.0, length: 12.0, ..ChannelResidual::white(2.0) },
        ChannelResidual { amplitude: 0.01, length: 0.6, ..ChannelResidual::white(0.02) },
    ] {
        let samples = simulate(&process, 200, 60, |x| x);
        let found = fit(&samples, 1.0);
        let density = |process: &ChannelResidual| -> f64 {
            let one = |s: &ResidualSample| {
                process.predictive_log_likelihood(
                    (&s.seen_times, &s.seen_values),
                    (&s.held_times, &s.held_values),
                )
            };
            samples.iter().map(one).sum()
        };
        let plain = ChannelResidual { shape: Shape::default(), ..found };
        eprintln!("{found:?}: {} nats, the truth {}", density(&plain), density(&process));
        assert!(density(&plain) > density(&process) - 0.1, "{found:?} is not the best");
        within("amplitude", found.amplitude, process.amplitude, 0.15);
        within("length", found.length, process.length, 0.3);
        within("noise", found.noise, process.noise, 0.15);
        within("variance of the shape", found.shape.variance(), 1.0, 0.08);
    }
}

#[test]
fn a_second_part_and_slopes_are_found_where_they_are() {
    let slow = ChannelResidual { slow_amplitude: 2.0, slow_length: 100.0, ..LAW };
    let smooth = ChannelResidual { smoothness: Smoothness::ThreeHalves, length: 3.0, ..LAW };
    let both = ChannelResidual { slow_amplitude: 2.0, slow_length: 100.0, ..smooth };
    for process in [slow, smooth, both] {
        let whole = simulate(&process, 100, 60, |x| x);
        let found = fit_with_shrinkage(&[], &ObservedSamples { whole, held: Vec::new() }, 1.0);
        eprintln!("{found:?} for {process:?}");
        assert_eq!(found.smoothness, process.smoothness);
        within("amplitude", found.amplitude, process.amplitude, 0.2);
        within("length", found.length, process.length, 0.4);
        within("noise", found.noise, process.noise, 0.15);
        match process.slow_amplitude > 0.0 {
            true => within("slow amplitude", found.slow_amplitude, process.slow_amplitude, 0.3),
            false => assert!(found.slow_amplitude < 0.2, "{found:?}"),
        }
    }
}

#[test]
fn white_residuals_are_found_white() {
    let white = ChannelResidual::white(0.7);
    let found = fit(&simulate(&white, 100, 40, |x| x), 1.0);
    within("noise", found.noise.hypot(found.amplitude), 0.7, 0.05);
    let near = found.condition(&[1.0], &[1.0], &[1.0]).mean[0];
    assert!(near.abs() < 0.1, "{found:?}");
}

#[test]
fn little_data_fall_back_to_white() {
    assert_eq!(fit(&[], f64::NAN), ChannelResidual::white(1.0));
    let few = ResidualSample {
        seen_times: vec![0.0, 1.0],
        seen_values: vec![3.0, -3.0],
        held_times: vec![0.5],
        held_values: vec![2.0],
    };
    assert_eq!(fit(std::slice::from_ref(&few), 1.0), ChannelResidual::white(2.0));
    let seen = ResidualSample { held_times: vec![], held_values: vec![], ..few };
    assert_eq!(fit(&[seen], 1.0), ChannelResidual::white(3.0));
    let zeros = ResidualSample {
        seen_times: vec![],
        seen_values: vec![],
        held_times: (0..100).map(f64::from).collect(),
        held_values: vec![0.0; 100],
    };
    let found = fit(&[zeros], 1.0);
    assert!(found.is_valid() && found.noise <= 1e-6, "{found:?}");
}

#[test]
fn outliers_do_not_break_the_fit() {
    let mut samples = simulate(&LAW, 200, 60, |x| x);
    let mut numbers = stream(5);
    for sample in &mut samples {
        for value in sample.seen_values.iter_mut().chain(&mut sample.held_values) {
            if numbers.uniform() < 0.001 {
                *value = 1e6 * normal(&mut numbers);
            }
        }
    }
    let found = fit(&samples, 1.0);
    within("amplitude", found.amplitude, LAW.amplitude, 0.5);
    within("length", found.length, LAW.length, 0.8);
    within("noise", found.noise, LAW.noise, 0.8);
}

#[test]
fn the_shape_makes_intervals_cover() {
    // Cubes of normal numbers have heavy tails: their standard deviation is far too wide for 90 %.
    let samples = simulate(&ChannelResidual::white(1.0), 200, 60, |x| x.powi(3));
    let found = fit(&samples, 1.0);
    let mut numbers = stream(8);
    let mut drawn: Vec<f64> =
        (0..20_000).map(|_| (found.shape.choose(numbers.uniform()) * normal(&mut numbers)).abs()).collect();
    drawn.sort_by(f64::total_cmp);
    let ninety = drawn[drawn.len() * 9 / 10];
    let (mut covered, mut count) = (0, 0);
    for sample in &samples {
        let answer = found.condition(&sample.seen_times, &sample.seen_values, &sample.held_times);
        for (q, value) in sample.held_values.iter().enumerate() {
            count += 1;
            covered += u32::from((value - answer.mean[q]).abs() < ninety * answer.variance[q].sqrt());
        }
    }
    assert!(found.shape.spread < 0.9, "{found:?}");
    let share = f64::from(covered) / f64::from(count);
    // Two normal distributions are not quite the distribution of cubes.
    assert!((share - 0.9).abs() < 0.05, "{share}");
}

#[test]
fn the_fit_is_the_same_every_time_and_fast() {
    let samples = simulate(&LAW, 1000, 200, |x| x);
    let start = std::time::Instant::now();
    let found = fit(&samples, 1.0);
    eprintln!("200 000 values: {found:?} in {:?}", start.elapsed());
    assert_eq!(found, fit(&samples, 1.0));
    within("length", found.length, LAW.length, 0.1);
}

/// Observations around what a decoder should say, a wave, and what it says: a share of the wave, and noise.
fn decoded(series: u32, share: f64, noise: f64) -> Vec<DecodedSample> {
    let process = ChannelResidual { amplitude: 0.2, length: 1.0, ..ChannelResidual::white(0.02) };
    let residuals = simulate(&process, series, 40, |x| x);
    let with_wave = |(number, mut observed): (usize, ResidualSample)| {
        let mut numbers = stream(5000 + number as u32);
        let wave = |time: &f64| (3.0 * time + number as f64).sin();
        let mut means = |times: &[f64]| -> Vec<f64> {
            times.iter().map(|time| share * wave(time) + noise * normal(&mut numbers)).collect()
        };
        let (seen_means, held_means) = (means(&observed.seen_times), means(&observed.held_times));
        for (value, time) in observed.seen_values.iter_mut().zip(&observed.seen_times) {
            *value += wave(time);
        }
        for (value, time) in observed.held_values.iter_mut().zip(&observed.held_times) {
            *value += wave(time);
        }
        DecodedSample { observed, seen_means, held_means, series: number, way: Some(number % 2) }
    };
    residuals.into_iter().enumerate().map(with_wave).collect()
}

/// The same observations without a decoder.
fn observed(series: u32) -> ObservedSamples {
    let held = decoded(series, 0.0, 0.0);
    ObservedSamples { whole: held.iter().map(|sample| sample.observed.clone()).collect(), held }
}

#[test]
fn a_decoder_is_trusted_as_far_as_it_deserves() {
    let right = fit_with_shrinkage(&decoded(60, 1.0, 0.0), &observed(60), 1.0);
    assert_eq!(right.shrinkage, 1.0, "{right:?}");
    within("amplitude", right.amplitude, 0.2, 0.3);
    let wrong = fit_with_shrinkage(&decoded(60, 0.0, 2.0), &observed(100), 1.0);
    assert_eq!(wrong.shrinkage, 0.0, "{wrong:?}");
    // Without shrinkage the wave is a part of what is left over.
    assert!(wrong.sd() > 0.5, "{wrong:?}");
    let twice = fit_with_shrinkage(&decoded(60, 2.0, 0.0), &observed(60), 1.0);
    assert_eq!(twice.shrinkage, 0.5, "{twice:?}");
    let nothing = fit_with_shrinkage(&[], &ObservedSamples::default(), 0.3);
    assert_eq!(nothing, ChannelResidual { shrinkage: 0.0, ..ChannelResidual::white(0.3) });
}
