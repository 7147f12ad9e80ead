//! The distribution of the increments: standard normal, independent between places, and a function of the place.
//!
//! Seeds are fixed. Every bound is one that a correct generator passes with probability 1 - 6e-7.

use std::f64::consts::SQRT_2;

use rand_core::Rng;
use stroock_kernels::noise::{NoiseKey, Purpose, increments};
use stroock_kernels::path::{Chebyshev, Drift, Grid, Noise, PathProblem, PathSolver, Prior, Requests, Space};
use stroock_kernels::simd::Level;
use stroock_testing::statistics::estimate;

/// The chance that a bound of five standard deviations of a normal number leaves to a correct generator.
const FIVE_SIGMA: f64 = 5.7e-7;

/// Increments in single precision, the numbers that training uses, widened.
fn numbers(key: NoiseKey, series: u32, sample: u32, steps: usize, coefficients: usize) -> Vec<f64> {
    let singles: Vec<f32> = increments(Level::detect(), key, series, sample, steps, coefficients);
    singles.into_iter().map(f64::from).collect()
}

/// Probability that a standard normal number is below `x`.
fn normal_distribution(x: f64) -> f64 {
    0.5 * libm::erfc(-x / SQRT_2)
}

#[test]
fn first_four_moments_are_those_of_the_normal_distribution() {
    // 30 coefficients: the last block of four is cut, so that a number it drops would be missed.
    let x = numbers(NoiseKey::new(1, 0), 3, 2, 1 << 17, 30);
    let powers = [1, 2, 3, 4, 6];
    for (power, moment) in powers.into_iter().zip([0.0, 1.0, 0.0, 3.0, 15.0]) {
        estimate(x.iter().map(|x| x.powi(power))).assert_mean(&format!("moment {power}"), moment);
    }
}

#[test]
fn every_coefficient_of_a_block_has_the_same_moments() {
    let x = numbers(NoiseKey::new(2, 0), 0, 0, 1 << 18, 4);
    for k in 0..4 {
        let of_k = || x.iter().skip(k).step_by(4);
        for (power, moment) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
            estimate(of_k().map(|x| x.powi(power))).assert_mean(&format!("moment {power} of {k}"), moment);
        }
    }
}

#[test]
fn distribution_function_is_normal() {
    let mut x = numbers(NoiseKey::new(3, 1), 5, 0, 1 << 14, 120);
    x.sort_by(f64::total_cmp);
    let count = x.len() as f64;
    let distance = x.iter().enumerate().map(|(i, &x)| {
        let (below, normal) = (i as f64 / count, normal_distribution(x));
        (normal - below).max(below + 1.0 / count - normal)
    });
    let distance = distance.fold(0.0, f64::max);
    // Kolmogorov: P(sqrt(N) D > c) is about 2 exp(-2 c^2).
    let critical = (0.5 * (2.0 / FIVE_SIGMA).ln()).sqrt();
    println!("N = {count}: sqrt(N) D = {:.3}, bound {critical:.3}", count.sqrt() * distance);
    assert!(count >= 1e6 && count.sqrt() * distance < critical, "Kolmogorov-Smirnov distance {distance}");
}

#[test]
fn tails_have_the_mass_of_the_normal_distribution() {
    let x = numbers(NoiseKey::new(4, 0), 0, 1, 1 << 17, 120);
    for bound in [3.0, 4.0, 5.0] {
        let expected = x.len() as f64 * normal_distribution(-bound);
        for (side, sign) in [("above", 1.0), ("below", -1.0)] {
            let seen = x.iter().filter(|&&x| sign * x > bound).count();
            println!("{side} {bound} sigma: {seen} of {expected:.1} expected");
            // One half of the chance on each side.
            assert!(poisson_distribution(expected, seen) > FIVE_SIGMA / 2.0, "{seen}, expected {expected}");
            let at_least = 1.0 - if seen == 0 { 0.0 } else { poisson_distribution(expected, seen - 1) };
            assert!(at_least > FIVE_SIGMA / 2.0, "{seen} {side} {bound} sigma, expected {expected}");
        }
    }
    // u >= 2^-31 ends the tail: its mass of 5e-11 is beyond any batch.
    let largest = (2.0 * 31.0 * 2f64.ln()).sqrt();
    assert!(x.iter().all(|x| x.abs() < largest + 1e-5));
}

/// Probability of at most `count` events where `mean` are expected.
fn poisson_distribution(mean: f64, count: usize) -> f64 {
    let mut log_factorial = 0.0;
    let terms = (0..=count).map(|k| {
        log_factorial += if k == 0 { 0.0 } else { (k as f64).ln() };
        (k as f64 * mean.ln() - mean - log_factorial).exp()
    });
    terms.sum()
}

#[test]
fn pairs_are_uniform_over_the_eighths_of_the_circle() {
    // A pair is drawn in two of the eighths and carried to the others by bits.
    let x = numbers(NoiseKey::new(5, 0), 0, 0, 1 << 18, 4);
    let eighth = |pair: &[f64]| {
        usize::from(pair[0] > 0.0)
            + 2 * usize::from(pair[1] > 0.0)
            + 4 * usize::from(pair[0].abs() > pair[1].abs())
    };
    let eighths: Vec<usize> = x.chunks_exact(2).map(eighth).collect();
    for i in 0..8 {
        let hits = eighths.iter().map(|&e| if e == i { 1.0 } else { 0.0 });
        estimate(hits).assert_mean(&format!("eighth {i}"), 0.125);
    }
}

/// Asserts that the numbers, their squares and their signs are uncorrelated.
///
/// Products of overlapping pairs are dependent but uncorrelated, so the standard error is right for them.
fn assert_uncorrelated<'a>(name: &str, pairs: impl Iterator<Item = (&'a f64, &'a f64)> + Clone) {
    type Transform = fn(f64) -> f64;
    let transforms: [(&str, Transform); 3] =
        [("numbers", |x| x), ("squares", |x| x * x - 1.0), ("signs", f64::signum)];
    for (kind, f) in transforms {
        let products = pairs.clone().map(|(&x, &y)| f(x) * f(y));
        estimate(products).assert_mean(&format!("{name}: {kind}"), 0.0);
    }
    let mixed = pairs.map(|(&x, &y)| x * (y * y - 1.0));
    estimate(mixed).assert_mean(&format!("{name}: number and square"), 0.0);
}

#[test]
fn coefficients_and_steps_are_uncorrelated() {
    let m = 120;
    let x = numbers(NoiseKey::new(6, 0), 1, 0, 1 << 13, m);
    let after = |lag: usize| x.iter().zip(&x[lag..]);
    for lag in 1..=8 {
        assert_uncorrelated(&format!("coefficients {lag} apart"), after(lag));
    }
    for lag in [1, 2, 3, 64] {
        assert_uncorrelated(&format!("steps {lag} apart"), after(lag * m));
    }
}

#[test]
fn samples_series_epochs_and_seeds_are_uncorrelated() {
    let (steps, m) = (1 << 12, 120);
    let at = |seed, epoch, series, sample| numbers(NoiseKey::new(seed, epoch), series, sample, steps, m);
    let base = at(7, 0, 0, 0);
    let others = [
        ("sample 1", at(7, 0, 0, 1)),
        ("sample 2^16", at(7, 0, 0, 1 << 16)),
        ("series 1", at(7, 0, 1, 0)),
        ("series 2^31", at(7, 0, 1 << 31, 0)),
        ("series and sample 1", at(7, 0, 1, 1)),
        ("epoch 1", at(7, 1, 0, 0)),
        ("epoch 2^32", at(7, 1 << 32, 0, 0)),
        ("seed 8", at(8, 0, 0, 0)),
        ("seed 7 + 2^32", at(7 + (1 << 32), 0, 0, 0)),
    ];
    for (name, other) in &others {
        assert_uncorrelated(name, base.iter().zip(other));
    }
    // Places that differ in two ways must not meet either: sample 1 of series 0 is not sample 0 of series 1.
    for (i, (name, one)) in others.iter().enumerate() {
        for (other_name, other) in &others[..i] {
            assert_uncorrelated(&format!("{name} and {other_name}"), one.iter().zip(other));
        }
    }
}

#[test]
fn purposes_have_words_of_their_own() {
    let words = |purpose| {
        let mut stream = NoiseKey::new(8, 0).stream(purpose, 0, 0);
        (0..64).map(|_| stream.next_u32()).collect::<Vec<_>>()
    };
    let purposes = [
        Purpose::Path,
        Purpose::Start,
        Purpose::Marginal,
        Purpose::Divergence,
        Purpose::Simulation,
        Purpose::Caller,
    ];
    let all = purposes.map(words);
    for (i, one) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|other| one.iter().zip(other).all(|(a, b)| a != b)), "{:?}", purposes[i]);
    }
}

#[test]
fn numbers_are_a_function_of_their_place() {
    let key = NoiseKey::new(9, 4);
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        let all: Vec<f32> = increments(level, key, 11, 3, 40, 30);
        let fewer_steps: Vec<f32> = increments(level, key, 11, 3, 17, 30);
        assert_eq!(all[..17 * 30], fewer_steps, "{level:?}");
        // The first coefficients do not depend on how many follow.
        for coefficients in [1, 3, 4, 6, 29] {
            let fewer: Vec<f32> = increments(level, key, 11, 3, 40, coefficients);
            for (step, full) in fewer.chunks_exact(coefficients).zip(all.chunks_exact(30)) {
                assert_eq!(step, &full[..coefficients], "{level:?}, {coefficients} coefficients");
            }
        }
    }
}

/// Paths on S^3 driven by the counter, for the given series of the data set.
fn paths(series: &[u32], first_sample: u32, samples: usize) -> Vec<f32> {
    let times: Vec<f32> = (0..=12).map(|j| j as f32 / 12.0).collect();
    let problem = PathProblem {
        space: Space::Sphere,
        dim: 4,
        samples,
        grid: Grid::Shared(&times),
        drift: Drift::Chebyshev(Chebyshev {
            terms: 1,
            interval: (0.0, 1.0),
            coefficients: &vec![0.5; 6 * series.len()],
        }),
        prior: Prior::Driftless,
        sigma: 0.8,
        start: &[0.5; 4].repeat(samples * series.len()),
        noise: Noise::Counter { key: NoiseKey::new(10, 0), series, first_sample },
        requests: Requests::All,
    };
    PathSolver::default().forward(&problem).unwrap().states
}

#[test]
fn a_path_does_not_depend_on_the_other_series_and_samples() {
    let extent = 13 * 4;
    let alone = paths(&[42], 5, 1);
    // Beside 19 others: more than one vector, and another lane.
    let among: Vec<u32> = (30..50).collect();
    assert_eq!(paths(&among, 5, 1)[12 * extent..13 * extent], alone);
    // As sample 5 of a draw that begins at 0, and at 2.
    for first in [0, 2] {
        let place = 5 - first as usize;
        assert_eq!(paths(&[42], first, 9)[place * extent..(place + 1) * extent], alone);
    }
    assert_ne!(paths(&[43], 5, 1), alone);
    assert_ne!(paths(&[42], 6, 1), alone);
}

#[test]
fn paths_are_driven_by_the_increments() {
    let (steps, m, samples) = (12, 6, 3);
    let times: Vec<f32> = (0..=steps).map(|j| j as f32 / 12.0).collect();
    let series = [4, 9];
    let key = NoiseKey::new(11, 2);
    let mut given = Vec::new();
    for sample in 0..samples {
        for series in series {
            given.extend(increments::<f32>(Level::detect(), key, series, 7 + sample as u32, steps, m));
        }
    }
    let drift = Drift::Chebyshev(Chebyshev { terms: 1, interval: (0.0, 1.0), coefficients: &[0.5; 12] });
    let problem = PathProblem {
        space: Space::Sphere,
        dim: 4,
        samples,
        grid: Grid::Shared(&times),
        drift,
        prior: Prior::Driftless,
        sigma: 0.8,
        start: &[0.5; 4].repeat(samples * 2),
        noise: Noise::Counter { key, series: &series, first_sample: 7 },
        requests: Requests::All,
    };
    let solver = PathSolver::default();
    let by_counter = solver.forward(&problem).unwrap();
    let by_numbers = solver.forward(&PathProblem { noise: Noise::Given(&given), ..problem }).unwrap();
    assert_eq!(by_counter.states, by_numbers.states);
    assert_eq!(by_counter.kl, by_numbers.kl);
}

#[test]
fn single_and_double_precision_agree_within_rounding() {
    let key = NoiseKey::new(12, 0);
    let (steps, m) = (1 << 12, 120);
    let exact: Vec<f64> = increments(Level::Portable, key, 0, 0, steps, m);
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        let doubles: Vec<f64> = increments(level, key, 0, 0, steps, m);
        assert!(doubles.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-13), "{level:?}");
        let singles: Vec<f32> = increments(level, key, 0, 0, steps, m);
        let mut large = 0;
        // In pairs, since the error of a pair is that of its radius sqrt(-2 ln u).
        for (single, double) in singles.chunks_exact(2).zip(exact.chunks_exact(2)) {
            let radius = double[0].hypot(double[1]);
            for (&single, &double) in single.iter().zip(double) {
                let error = (f64::from(single) - double).abs();
                // ln u is rounded to 2e-7, which moves the radius r by 2e-7 / r, and by 4.5e-4 at most.
                assert!(
                    error < 3e-7 * (1.0 + radius + 1.0 / radius.max(7e-4)),
                    "{level:?}: {single} {double}"
                );
                large += usize::from(error > 2e-6);
            }
        }
        println!("{level:?}: {large} of {} numbers differ by more than 2e-6", singles.len());
        assert!((large as f64) < 1e-4 * singles.len() as f64);
    }
}
