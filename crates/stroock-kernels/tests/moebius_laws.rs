//! The distribution of processes with given marginals: simulated paths, unbiased divergences, closed forms.

mod marginals;

use marginals::{Batch, divergence_by_integration, dot, radius};
use stroock_kernels::moebius::StepLengths;
use stroock_testing::statistics::{Estimate, estimate};

/// A direction that turns and a width that changes, with a kink at 0.5.
fn moving(dim: usize, sigma: f64) -> Batch<f64> {
    let axis = |i: usize, j: usize, x: f64| {
        (0..dim).map(move |k| {
            if k == i {
                1.0
            } else if k == j {
                x
            } else {
                0.0
            }
        })
    };
    let knots = [
        (0.0, axis(0, 1, 0.2).collect(), 0.9),
        (0.5, axis(1, 2, 0.5).collect(), 0.4),
        (0.9, axis(2, 1, -0.3).collect(), 1.2),
    ];
    Batch::one(dim, &knots, sigma)
}

/// `psi` and `psi'` of the first series, by interpolation and differences.
fn psi(batch: &Batch<f64>, time: f64) -> (Vec<f64>, Vec<f64>) {
    let at = |time: f64| -> Vec<f64> {
        let n = batch.dim;
        let times = &batch.knot_times;
        let time = time.clamp(times[0], times[times.len() - 1]);
        let right = times.iter().position(|&t| t >= time).unwrap().max(1);
        let s = (time - times[right - 1]) / (times[right] - times[right - 1]);
        let mix = |values: &[f64], width: usize, i: usize| {
            (1.0 - s) * values[(right - 1) * width + i] + s * values[right * width + i]
        };
        let w = marginals::unit((0..n).map(|i| mix(&batch.positions, n, i)).collect());
        let r = radius(mix(&batch.widths, 1, 0));
        w.into_iter().map(|x| r * x).collect()
    };
    let h = 1e-4;
    let steps = [(1.0, 2.0 / 3.0), (2.0, -1.0 / 12.0)];
    let slope = |i: usize| {
        steps.iter().map(|(k, c)| c * (at(time + k * h)[i] - at(time - k * h)[i]) / h).sum::<f64>()
    };
    (at(time), (0..batch.dim).map(slope).collect())
}

/// The drift as it is written: parts of `psi'` along and across `psi`.
fn drift(batch: &Batch<f64>, time: f64, z: &[f64]) -> Vec<f64> {
    let (psi, velocity) = psi(batch, time);
    let square = dot(&psi, &psi);
    let along = dot(&psi, &velocity) / square;
    let distance = 1.0 + square - 2.0 * dot(&psi, z);
    let restoring = (batch.dim as f64 - 1.0) * batch.sigma.powi(2) / distance;
    let x: Vec<f64> = (psi.iter().zip(&velocity))
        .map(|(psi, v)| {
            let par = along * psi;
            2.0 * par / (1.0 - square) + 2.0 * (v - par) / (1.0 + square) + restoring * psi
        })
        .collect();
    let normal = dot(&x, z);
    x.iter().zip(z).map(|(x, z)| x - normal * z).collect()
}

fn prior_drift(batch: &Batch<f64>, z: &[f64]) -> Vec<f64> {
    let Some(prior) = &batch.prior else { return vec![0.0; z.len()] };
    let (pull, planes) = prior.split_at(z.len());
    let (rates, frequencies) = planes.split_at(planes.len() / 2);
    let mut x = pull.to_vec();
    for (i, (rate, frequency)) in rates.iter().zip(frequencies).enumerate() {
        x[2 * i] += rate * z[2 * i] - frequency * z[2 * i + 1];
        x[2 * i + 1] += rate * z[2 * i + 1] + frequency * z[2 * i];
    }
    let normal = dot(&x, z);
    x.iter().zip(z).map(|(x, z)| x - normal * z).collect()
}

#[test]
fn drifts_are_as_written() {
    for dim in [3, 8] {
        let batch = moving(dim, 0.7).with_prior();
        for (i, time) in [0.05, 0.33, 0.51, 0.8].into_iter().enumerate() {
            let z = marginals::unit((0..batch.dim).map(|k| (1.0 + (k + i) as f64).sin()).collect());
            let actual = batch.process().drift(0, time, &z).unwrap();
            for (a, e) in actual.iter().zip(drift(&batch, time, &z)) {
                assert!((a - e).abs() < 1e-7, "{dim} {time}: {a} {e}");
            }
            let actual = batch.problem().prior.unwrap().velocity(&z).unwrap();
            for (a, e) in actual.iter().zip(prior_drift(&batch, &z)) {
                assert!((a - e).abs() < 1e-13, "{dim} {time}: {a} {e}");
            }
        }
    }
}

fn assert_equal_means(name: &str, a: Estimate, b: Estimate) {
    let distance = (a.mean - b.mean) / a.standard_error.hypot(b.standard_error);
    assert!(
        distance.abs() <= 5.0,
        "{name}: {} and {} are {distance:.1} standard errors apart",
        a.mean,
        b.mean
    );
}

#[test]
fn simulated_paths_have_the_marginals() {
    for (dim, samples) in [(3, 20_000), (8, 8_000)] {
        let mut batch = moving(dim, 0.7);
        batch.samples = samples;
        batch.request_times = vec![0.0, 0.3, 0.7, 1.1];
        batch.request_offsets = vec![0, 4];
        let drawn = batch.problem().forward().unwrap().states;
        let steps = StepLengths { smallest: 5e-4, largest: 4e-3 };
        let paths = batch.process().simulate(batch.requests(), &[0.0], steps, batch.draws()).unwrap();
        for (request, &time) in batch.request_times.iter().enumerate() {
            let d = marginals::unit(psi(&batch, time).0);
            let mean = |states: &[f64], of: &dyn Fn(&[f64]) -> f64| {
                estimate(states.chunks_exact(dim).skip(request).step_by(4).map(of))
            };
            let compare = |name: &str, of: &dyn Fn(&[f64]) -> f64| {
                assert_equal_means(
                    &format!("{name} at {time}, n = {dim}"),
                    mean(&drawn, of),
                    mean(&paths, of),
                );
            };
            compare("cosine", &|z| dot(z, &d));
            compare("square of the cosine", &|z| dot(z, &d).powi(2));
            compare("cube of the cosine", &|z| dot(z, &d).powi(3));
            for i in 0..dim {
                compare(&format!("coordinate {i}"), &|z| z[i]);
                for j in 0..=i {
                    compare(&format!("product {i} {j}"), &|z| z[i] * z[j]);
                }
            }
        }
    }
}

#[test]
fn paths_are_coherent_and_draws_are_not() {
    let mut batch = moving(3, 0.3);
    batch.samples = 2000;
    batch.request_times = vec![1.0, 1.001];
    batch.request_offsets = vec![0, 2];
    let drawn = batch.problem().forward().unwrap().states;
    let steps = StepLengths { smallest: 1e-3, largest: 1e-2 };
    let paths = batch.process().simulate(batch.requests(), &[0.0], steps, batch.draws()).unwrap();
    let chord = |pair: &[f64]| (0..3).map(|i| (pair[i] - pair[i + 3]).powi(2)).sum::<f64>();
    assert!(estimate(paths.chunks_exact(6).map(chord)).mean < 1e-3);
    assert!(estimate(drawn.chunks_exact(6).map(chord)).mean > 0.1);
}

/// The mean of `|V - V_prior|^2 / (2 sigma^2)` over the marginal at a time, by a rule on the sphere of `u`.
fn mean_energy(batch: &Batch<f64>, time: f64) -> f64 {
    const POLAR: usize = 80;
    const AROUND: usize = 48;
    let (psi, _) = psi(batch, time);
    let gap = 1.0 - dot(&psi, &psi);
    let (mut sum, mut mass) = (0.0, 0.0);
    for i in 0..POLAR {
        // Clenshaw-Curtis's points without their ends: spectral for smooth integrands with the weight of the sphere.
        let angle = std::f64::consts::PI * (i as f64 + 0.5) / POLAR as f64;
        let mut weight = 1.0;
        for k in 1..POLAR / 2 {
            let k = k as f64;
            weight -= 2.0 * (2.0 * k * angle).cos() / (4.0 * k * k - 1.0);
        }
        for j in 0..AROUND {
            let turn = std::f64::consts::TAU * j as f64 / AROUND as f64;
            let u = [angle.sin() * turn.cos(), angle.sin() * turn.sin(), angle.cos()];
            let s: Vec<f64> = u.iter().zip(&psi).map(|(u, psi)| u + psi).collect();
            let q = gap / dot(&s, &s);
            let z: Vec<f64> = s.iter().zip(&psi).map(|(s, psi)| q * s + psi).collect();
            let (v, p) = (drift(batch, time, &z), prior_drift(batch, &z));
            sum += weight * v.iter().zip(&p).map(|(v, p)| (v - p).powi(2)).sum::<f64>();
            mass += weight;
        }
    }
    sum / mass / (2.0 * batch.sigma.powi(2))
}

#[test]
fn divergences_are_unbiased() {
    for (batch, name) in [(moving(3, 0.8), "driftless"), (moving(3, 0.8).with_prior(), "attractor")] {
        // Simpson's rule inside of each piece; from 0.9 on the curve stands still.
        let mut expected = 0.0;
        for (start, end) in [(0.0, 0.5), (0.5, 0.9)] {
            let pieces = 20;
            // Differences of psi must not reach across a knot.
            let inset = |t: f64| t.clamp(start + 3e-4, end - 3e-4);
            for i in 0..=pieces {
                let weight = if i == 0 || i == pieces { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
                let time = inset(start + (end - start) * f64::from(i) / f64::from(pieces));
                expected += weight * (end - start) / f64::from(3 * pieces) * mean_energy(&batch, time);
            }
        }
        expected += 0.1 * mean_energy(&batch, 0.95);
        for strata in [1, 5] {
            let batch = Batch { samples: 100_000, strata, ..batch.clone() };
            let kl = batch.problem().forward().unwrap().kl_path;
            let name = format!("{name}, {strata} strata");
            estimate(kl).assert_mean(&name, expected);
        }
    }
}

#[test]
fn a_marginal_that_stands_still_costs_its_fisher_information() {
    for (dim, width, sigma) in [(2, 0.3, 0.5), (3, 0.05, 1.2), (8, 0.5, 0.3), (17, 2.0, 0.9)] {
        let position = (0..dim).map(|i| f64::from(i == 0)).collect();
        let mut batch = Batch::<f64>::one(dim, &[(0.5, position, width)], sigma);
        batch.spans = vec![[-1.0, 2.0]];
        batch.samples = 20_000;
        let (n, r) = (dim as f64, radius(width));
        let rate = (n - 1.0).powi(3) * sigma * sigma * r * r / (2.0 * n * (1.0 - r * r).powi(2));
        let name = format!("n = {dim}, width {width}");
        estimate(batch.problem().forward().unwrap().kl_path).assert_mean(&name, 3.0 * rate);
    }
}

/// With the transport velocity `U` and the density `p`, the rate is `|U|^2/(2 sigma^2) + <U, grad ln p>/2 +
/// sigma^2 |grad ln p|^2/8`. The mean of the second term is half the growth of the divergence from the uniform
/// distribution, that of the third has a closed form.
#[test]
fn the_divergence_depends_on_sigma_as_it_must() {
    for dim in [3, 7] {
        let mut batch = moving(dim, 1.0);
        batch.samples = 60_000;
        batch.spans = vec![[0.1, 0.8]];
        let at = |sigma: f64| Batch { sigma, ..batch.clone() }.problem().forward().unwrap().kl_path;
        // a / sigma^2 + b + c sigma^2 through three scales, draw by draw.
        let [two, one, half] = [at(2f64.sqrt()), at(1.0), at(0.5f64.sqrt())];
        let fit = |i: usize| {
            // Values a/2 + b + 2c, a + b + c, 2a + b + c/2.
            let (x, y, z) = (two[i], one[i], half[i]);
            let (first, second) = (y - x, z - y);
            let a = (second - 0.5 * first) / 0.75;
            let c = 0.5 * a - first;
            [a, y - a - c, c]
        };
        let fits: Vec<[f64; 3]> = (0..one.len()).map(fit).collect();
        let n = batch.dim;
        let kl = |time: f64| {
            let r = dot(&psi(&batch, time).0, &psi(&batch, time).0).sqrt();
            divergence_by_integration(n, (1.0 - r) / r.sqrt())
        };
        let name = |part: &str| format!("{part}, n = {n}");
        estimate(fits.iter().map(|fit| fit[1])).assert_mean(&name("constant"), 0.5 * (kl(0.8) - kl(0.1)));
        let pieces = 7000;
        let information: f64 = (0..pieces)
            .map(|i| {
                let time = 0.1 + 0.7 * (f64::from(i) + 0.5) / f64::from(pieces);
                let square = dot(&psi(&batch, time).0, &psi(&batch, time).0);
                0.7 / f64::from(pieces) * (n as f64 - 1.0).powi(3) * square
                    / (2.0 * n as f64 * (1.0 - square).powi(2))
            })
            .sum();
        estimate(fits.iter().map(|fit| fit[2])).assert_mean(&name("square"), information);
        assert!(fits.iter().all(|fit| fit[0] > -1e-9));
    }
}
