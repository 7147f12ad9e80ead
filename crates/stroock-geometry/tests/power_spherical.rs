//! The power spherical and the uniform distribution on the sphere, through their public interface.

use std::f64::consts::PI;

use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use stroock_geometry::Real;
use stroock_geometry::distribution::{
    Coupling, DistributionError, PolarAngle, PowerSpherical, PowerSphericalTape, UniformSphere,
};
use stroock_testing::finite_difference::{assert_close, gradient};
use stroock_testing::golden::{array, golden_cases, number};
use stroock_testing::statistics::estimate;

/// n, kappa, entropy, divergence from the uniform distribution, its derivative by kappa, and the logarithm of
/// the density where `<mu, x> = 0.28`: to 60 digits, rounded.
const REFERENCE: &[(usize, f64, f64, f64, f64, f64)] = &[
    (2, 1e-12, 1.8378770664093456, 1.644934066843418e-24, 3.289868133682028e-12, -1.8378770664084054),
    (2, 1e-06, 1.8378770664077007, 1.644929258631978e-12, 3.2898537090590722e-06, -1.837876126403732),
    (2, 0.05, 1.8343017650651467, 0.003575301344198746, 0.13342409594703983, -1.7947104072294526),
    (2, 1.0, 1.5310242469692907, 0.3068528194400547, 0.28986813369645287, -1.5910169884778196),
    (2, 7.5, 0.7247762744276379, 1.1131007919817075, 0.06224171831329053, -3.5885594969622083),
    (2, 31.0, 0.0404547041022691, 1.7974223623070764, 0.01586895419951947, -13.379386619433113),
    (2, 120.0, -0.6303170691837605, 2.468194135593106, 0.0041493058569480375, -52.425176903851316),
    (2, 50000.0, -3.644382018720496, 5.482259085129842, 9.99990000000001e-06, -22310.210751902254),
    (2, 1000000.0, -5.142243405497491, 6.9801204719068375, 4.9999975e-07, -446281.460385139),
    (2, 1000000000.0, -8.59612079523856, 10.433997861647907, 4.9999999975e-10, -446287093.5322987),
    (2, 1000000000000.0, -12.049998434479878, 13.887875500889225, 4.9999999999975e-13, -446287102615.8695),
    (3, 1e-12, 2.5310242469692907, 4.999999999993333e-25, 9.999999999979999e-13, -2.531024246968737),
    (3, 1e-06, 2.5310242469687907, 4.999993333340833e-13, 9.999980000029999e-07, -2.5310236932568935),
    (3, 0.05, 2.5298531304189065, 0.0011711165503843842, 0.045351473922902494, -2.50454843793128),
    (3, 1.0, 2.3378770664093453, 0.19314718055994531, 0.25, -2.2841641690377648),
    (3, 7.5, 1.2733110246494905, 1.2577132223198002, 0.10380622837370242, -3.738111353186166),
    (3, 31.0, 0.03403834416956424, 2.4969859027997265, 0.0302734375, -12.900188525650568),
    (3, 120.0, -1.2730307614373677, 3.8040550084066584, 0.008196161464380848, -51.28968601678289),
    (3, 50000.0, -7.288794036841003, 9.819818283810294, 1.999920002399936e-05, -22306.066357383734),
    (3, 1000000.0, -10.284488310993483, 12.815512557962775, 9.99998000003e-07, -446275.8181411085),
    (3, 1000000000.0, -17.19224159197712, 19.72326583894641, 9.99999998e-10, -446287084.4361779),
    (3, 1000000000000.0, -24.099996868961256, 26.631021115930547, 9.99999999998e-13, -446287102603.3195),
    (16, 1e-12, 1.3258249062897325, 3.683883442450481e-26, 7.367766884900444e-14, -1.3258249062894512),
    (16, 1e-06, 1.3258249062896956, 3.683882923962736e-14, 7.367765329437273e-08, -1.3258246249876944),
    (16, 0.05, 1.3257334533397207, 9.14529500116091e-05, 0.0036453142886807657, -1.3118515769080576),
    (16, 1.0, 1.2936002364778274, 0.03222466981190506, 0.06034433551568666, -1.0789648283582065),
    (16, 7.5, 0.3797881048898923, 0.9460368013998401, 0.17618627204071297, -0.6010775089127309),
    (16, 31.0, -3.411495010002654, 4.737319916292387, 0.13445114484856893, -4.83976455048804),
    (16, 120.0, -10.680741331037419, 12.006566237327153, 0.05268780925839031, -35.98849108232777),
    (16, 50000.0, -54.66887974016868, 55.99470464645841, 0.00014993552162332623, -22252.18786382039),
    (16, 1000000.0, -77.13380858111051, 78.45963348740024, 7.499838752703708e-06, -446202.4689004625),
    (16, 1000000000.0, -128.94181208607841, 130.26763699236812, 7.499999838750003e-09, -446286966.1866075),
    (16, 1000000000000.0, -180.7499765173557, 182.0758014236454, 7.49999999983875e-12, -446287102440.1695),
    (64, 1e-12, -40.76772002557456, 8.12780478571461e-27, 1.6255609571428957e-14, 40.76772002557482),
    (64, 1e-06, -40.76772002557457, 8.127804524272021e-15, 1.62556087871012e-08, 40.76772028043412),
    (64, 0.05, -40.767740312452126, 2.028687756609664e-05, 0.0008108233325900767, 40.78044270069221),
    (64, 1.0, -40.77559355328386, 0.007873527709303614, 0.0154997516727147, 41.014580103506084),
    (64, 7.5, -41.13391737595449, 0.3661973503799283, 0.08765321016355487, 42.270394581890656),
    (64, 31.0, -44.45457471472819, 3.686854689153632, 0.16844151974370253, 43.355124862727685),
    (64, 120.0, -58.65906388625464, 17.89134386068008, 0.13716648089410333, 27.840982749999593),
    (64, 50000.0, -229.65461434922776, 188.8868943236532, 0.0006288236124435486, -22053.229941021484),
    (64, 1000000.0, -323.96426393917585, 283.1965439136013, 3.1497054964327415e-05, -445931.6398370339),
    (64, 1000000000.0, -541.5556130295292, 500.78789300395465, 3.149999705475021e-08, -446286529.5728079),
    (64, 1000000000000.0, -759.1499013751619, 718.3821813495873, 3.149999999705475e-11, -446287101837.7696),
];

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn normalised(x: &[f64]) -> Vec<f64> {
    let norm = dot(x, x).sqrt();
    x.iter().map(|x| x / norm).collect()
}

/// The i-th axis, with a sign.
fn axis<T: Real>(n: usize, i: usize, sign: f64) -> Vec<T> {
    (0..n).map(|k| T::of(if k == i { sign } else { 0.0 })).collect()
}

/// A unit vector in general position.
fn generic(n: usize, seed: u64) -> Vec<f64> {
    let mut x = vec![0.0; n];
    UniformSphere::new(n).unwrap().sample(&mut rng(seed), &mut x).unwrap();
    x
}

fn narrow(x: &[f64]) -> Vec<f32> {
    x.iter().map(|&x| x as f32).collect()
}

fn widen(x: &[f32]) -> Vec<f64> {
    x.iter().map(|&x| f64::from(x)).collect()
}

#[track_caller]
fn assert_relative(name: &str, actual: f64, expected: f64, tolerance: f64) {
    let error = (actual - expected).abs();
    assert!(error <= tolerance * expected.abs(), "{name}: {actual} is not {expected}, error {error:e}");
}

/// The regularised incomplete beta function by its continued fraction: the distribution function of `b`.
fn beta_cdf(b: f64, alpha: f64, beta: f64) -> f64 {
    if b > (alpha + 1.0) / (alpha + beta + 2.0) {
        return 1.0 - beta_cdf(1.0 - b, beta, alpha);
    }
    let (mut c, mut d) = (1.0, 1.0 / (1.0 - (alpha + beta) * b / (alpha + 1.0)));
    let mut fraction = d;
    for m in 1..500 {
        let m = f64::from(m);
        let even = m * (beta - m) * b / ((alpha + 2.0 * m - 1.0) * (alpha + 2.0 * m));
        let odd = -(alpha + m) * (alpha + beta + m) * b / ((alpha + 2.0 * m) * (alpha + 2.0 * m + 1.0));
        for coefficient in [even, odd] {
            d = 1.0 / (1.0 + coefficient * d);
            c = 1.0 + coefficient / c;
            fraction *= c * d;
        }
    }
    let ln_beta = libm::lgamma(alpha) + libm::lgamma(beta) - libm::lgamma(alpha + beta);
    (alpha * b.ln() + beta * (-b).ln_1p() - ln_beta).exp() * fraction / alpha
}

/// The cosine at the quantile `u`, by bisection.
fn cosine_quantile(n: usize, kappa: f64, u: f64) -> f64 {
    let beta = 0.5 * (n as f64 - 1.0);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if beta_cdf(middle, beta + kappa, beta) < u { low = middle } else { high = middle }
    }
    low + high - 1.0
}

/// The sample as a function of its mean direction, its cosine and the noise, written down afresh.
fn sample_from(mu: &[f64], cosine: f64, noise: &[f64]) -> Vec<f64> {
    let mu = normalised(mu);
    let along = dot(&mu, noise);
    let tangent = normalised(&mu.iter().zip(noise).map(|(m, g)| g - along * m).collect::<Vec<_>>());
    let sine = (1.0 - cosine * cosine).sqrt();
    mu.iter().zip(tangent).map(|(m, v)| cosine * m + sine * v).collect()
}

/// The shortest rotation that takes `from` to `to`, applied to `z`.
fn transport(from: &[f64], to: &[f64], z: &[f64]) -> Vec<f64> {
    let to = normalised(to);
    let (from_z, to_z, cosine) = (dot(from, z), dot(&to, z), dot(from, &to));
    let along_sum = (from_z + to_z) / (1.0 + cosine);
    z.iter().zip(from.iter().zip(&to)).map(|(z, (f, t))| z - along_sum * (f + t) + 2.0 * from_z * t).collect()
}

#[test]
fn golden_values_in_double_precision() {
    for case in golden_cases("power_spherical.json") {
        let (n, kappa) = (number(&case, "n") as usize, number(&case, "kappa"));
        let (loc, x, log_prob) = (array(&case, "loc"), array(&case, "x"), array(&case, "log_prob"));
        assert_eq!(loc.shape, [log_prob.entries.len(), n]);
        assert_eq!(x.shape, loc.shape);
        for ((loc, x), &expected) in loc.entries.chunks(n).zip(x.entries.chunks(n)).zip(&log_prob.entries) {
            let distribution = PowerSpherical::new(loc, kappa).unwrap();
            assert_relative("log density", distribution.log_density(x).unwrap(), expected, 1e-9);
            assert_relative("entropy", distribution.entropy(), number(&case, "entropy"), 1e-9);
            assert_relative("divergence", distribution.kl_to_uniform(), number(&case, "kl_to_uniform"), 1e-9);
        }
        let mu = axis::<f64>(n, 0, 1.0);
        let distribution = PowerSpherical::new(&mu, kappa).unwrap();
        let (u, t, dt) = (array(&case, "quantile_u"), array(&case, "quantile_t"), array(&case, "dt_dkappa"));
        for ((&u, &t), &dt) in u.entries.iter().zip(&t.entries).zip(&dt.entries) {
            let beta = 0.5 * (n as f64 - 1.0);
            assert_relative("F(t)", beta_cdf(0.5 * (1.0 + t), beta + kappa, beta), u, 1e-9);
            // The file's derivatives are difference quotients of the quantiles in double precision.
            let tolerance = 2e-9 * dt + 1e-11 / (1.0 + kappa);
            let actual = distribution.cosine_derivative(&PolarAngle::from_cosine(t));
            assert!((actual - dt).abs() <= tolerance, "n {n}, kappa {kappa}, u {u}: {actual} is not {dt}");
        }
    }
}

#[test]
fn golden_values_in_single_precision() {
    const ULP: f64 = f32::EPSILON as f64;
    for case in golden_cases("power_spherical.json") {
        let (n, kappa) = (number(&case, "n") as usize, number(&case, "kappa"));
        let (loc, x, log_prob) = (array(&case, "loc"), array(&case, "x"), array(&case, "log_prob"));
        let kappa32 = kappa as f32;
        for ((loc, x), &golden) in loc.entries.chunks(n).zip(x.entries.chunks(n)).zip(&log_prob.entries) {
            let (loc32, x32) = (narrow(loc), narrow(x));
            let distribution = PowerSpherical::new(&loc32, kappa32).unwrap();
            assert_relative("entropy", distribution.entropy().into(), number(&case, "entropy"), 2.0 * ULP);
            assert_relative(
                "divergence",
                distribution.kl_to_uniform().into(),
                number(&case, "kl_to_uniform"),
                2.0 * ULP,
            );

            let single = f64::from(distribution.log_density(&x32).unwrap());
            let (loc64, x64) = (widen(&loc32), widen(&x32));
            let double = PowerSpherical::new(&loc64, kappa32.into()).unwrap().log_density(&x64).unwrap();
            assert_relative("log density of the rounded point", single, double, ULP);
            // Rounding moves the points by up to an ulp each, and d ln p = kappa tan(θ/2) dθ.
            let tangent = {
                let cosine = dot(loc, x);
                ((1.0 - cosine) / (1.0 + cosine)).sqrt()
            };
            let slack = 2.0 * ULP * (golden.abs() + kappa * tangent);
            assert!((single - golden).abs() <= slack, "n {n}, kappa {kappa}: {single} is not {golden}");
        }
    }
    let mu = axis::<f32>(16, 0, 1.0);
    let divergence = PowerSpherical::new(&mu, 5e4).unwrap().kl_to_uniform();
    assert_eq!(format!("{divergence:.4}"), "55.9947");
}

#[test]
fn closed_forms_match_high_precision_from_tiny_to_huge_concentration() {
    for &(n, kappa, entropy, divergence, slope, log_density) in REFERENCE {
        let name = format!("n {n}, kappa {kappa}");
        let mu = axis::<f64>(n, 0, 1.0);
        let mut x = vec![0.0; n];
        (x[0], x[n - 1]) = (0.28, 0.96);
        let distribution = PowerSpherical::new(&mu, kappa).unwrap();
        assert_relative(&format!("{name}: entropy"), distribution.entropy(), entropy, 1e-13);
        assert_relative(&format!("{name}: divergence"), distribution.kl_to_uniform(), divergence, 1e-13);
        assert_relative(&format!("{name}: slope"), distribution.kl_to_uniform_gradient(), slope, 1e-13);
        assert_relative(
            &format!("{name}: log density"),
            distribution.log_density(&x).unwrap(),
            log_density,
            1e-13,
        );
    }
}

#[test]
fn density_integrates_to_one() {
    for n in [2, 3, 5, 16, 40] {
        let area = if n == 2 { 2.0 } else { UniformSphere::new(n - 1).unwrap().entropy().exp() };
        for kappa in [0.0, 0.4, 3.0, 60.0] {
            let mu = axis::<f64>(n, 0, 1.0);
            let distribution = PowerSpherical::new(&mu, kappa).unwrap();
            // The trapezoidal rule in tanh-sinh points of the angle.
            let steps = 200;
            let mass: f64 = (-steps..=steps)
                .map(|k| {
                    let s = f64::from(k) * 3.2 / f64::from(steps);
                    let half = 0.5 * PI * s.sinh();
                    let angle = 0.5 * PI * (1.0 + half.tanh());
                    let weight = 0.25 * PI * PI * s.cosh() / half.cosh().powi(2) * 3.2 / f64::from(steps);
                    let mut x = vec![0.0; n];
                    (x[0], x[1]) = (angle.cos(), angle.sin());
                    weight
                        * area
                        * angle.sin().powi(n as i32 - 2)
                        * distribution.log_density(&x).unwrap().exp()
                })
                .sum();
            assert!((mass - 1.0).abs() < 1e-12, "n {n}, kappa {kappa}: mass {mass}");
        }
    }
}

#[test]
fn concentration_zero_is_the_uniform_distribution() {
    for n in [2, 3, 16, 64] {
        let mu = generic(n, 3);
        let distribution = PowerSpherical::new(&mu, 0.0).unwrap();
        let uniform = UniformSphere::new(n).unwrap();
        let opposite: Vec<f64> = mu.iter().map(|x| -x).collect();
        assert_eq!(distribution.kl_to_uniform(), 0.0);
        assert_eq!(distribution.kl_to_uniform_gradient(), 0.0);
        assert_eq!(distribution.entropy(), uniform.entropy());
        assert_eq!(distribution.log_density(&opposite).unwrap(), uniform.log_density());
        let (mut z, mut rng) = (vec![0.0; n], rng(4));
        let cosines = (0..40_000).map(|_| {
            distribution.sample(&mut rng, &mut z).unwrap();
            dot(&mu, &z)
        });
        let cosines: Vec<f64> = cosines.collect();
        estimate(cosines.iter().copied()).assert_mean("mean", 0.0);
        estimate(cosines.iter().map(|t| t * t)).assert_mean("second moment", 1.0 / n as f64);
    }
}

#[test]
fn uniform_samples_have_the_moments_of_the_sphere() {
    for n in [2, 3, 16] {
        let uniform = UniformSphere::new(n).unwrap();
        let (mut z, mut rng) = (vec![0.0_f32; n], rng(5));
        let mut draws = Vec::new();
        for _ in 0..20_000 {
            uniform.sample(&mut rng, &mut z).unwrap();
            assert!((dot(&widen(&z), &widen(&z)).sqrt() - 1.0).abs() < 2e-7);
            draws.push(widen(&z));
        }
        for i in 0..n {
            estimate(draws.iter().map(|z| z[i])).assert_mean("mean", 0.0);
            estimate(draws.iter().map(|z| z[i] * z[i])).assert_mean("second moment", 1.0 / n as f64);
        }
    }
}

#[test]
fn samples_have_the_moments_of_their_distribution() {
    for n in [2, 3, 5, 16, 64] {
        for kappa in [0.05, 1.0, 7.5, 120.0, 5e4, 1e9] {
            let mu = generic(n, 7);
            let across = {
                let w = generic(n, 8);
                let along = dot(&mu, &w);
                normalised(&mu.iter().zip(&w).map(|(m, w)| w - along * m).collect::<Vec<_>>())
            };
            let distribution = PowerSpherical::new(&mu, kappa).unwrap();
            let beta = 0.5 * (n as f64 - 1.0);
            let (alpha, total) = (beta + kappa, 2.0 * beta + kappa);
            let (mut z, mut rng) = (vec![0.0; n], rng(9));
            let (mut away, mut sideways) = (Vec::new(), Vec::new());
            for _ in 0..20_000 {
                distribution.sample(&mut rng, &mut z).unwrap();
                // 1 - <mu, z> without cancellation.
                away.push(0.5 * mu.iter().zip(&z).map(|(m, z)| (m - z) * (m - z)).sum::<f64>());
                sideways.push(dot(&across, &z));
            }
            let name = format!("n {n}, kappa {kappa}");
            let c = beta / total;
            let c_squared = c * (beta + 1.0) / (total + 1.0);
            estimate(away.iter().map(|d| 1.0 - d)).assert_mean(&name, (alpha - beta) / total);
            estimate(away.iter().copied()).assert_mean(&name, 2.0 * c);
            estimate(away.iter().map(|d| d * d)).assert_mean(&name, 4.0 * c_squared);
            estimate(sideways.iter().copied()).assert_mean(&name, 0.0);
            let sine_squared = 4.0 * alpha * beta / (total * (total + 1.0));
            estimate(sideways.iter().map(|s| s * s)).assert_mean(&name, sine_squared / (n as f64 - 1.0));
        }
    }
}

#[test]
fn samples_are_unit_vectors_also_about_the_axes() {
    for n in [2, 3, 16, 64] {
        for (i, sign, kappa) in [(0, 1.0, 0.0), (0, -1.0, 1.0), (n - 1, 1.0, 5e4), (n - 1, -1.0, 1e9)] {
            let mu = axis::<f32>(n, i, sign);
            let distribution = PowerSpherical::new(&mu, kappa as f32).unwrap();
            let (mut z, mut rng) = (vec![0.0_f32; n], rng(11));
            let mut cosines = Vec::new();
            for _ in 0..4000 {
                distribution.sample(&mut rng, &mut z).unwrap();
                let z = widen(&z);
                assert!((dot(&z, &z).sqrt() - 1.0).abs() < 2e-7, "n {n}, kappa {kappa}: {z:?}");
                cosines.push(sign * z[i]);
            }
            if kappa <= 5e4 {
                let mean = kappa / (n as f64 - 1.0 + kappa);
                estimate(cosines).assert_mean(&format!("n {n}, axis {i}, kappa {kappa}"), mean);
            }
        }
    }
}

#[test]
fn pullback_by_mu_is_the_derivative_of_the_sample() {
    for n in [2, 3, 5, 16] {
        for kappa in [0.0, 1.0, 20.0, 1e3] {
            for mu in [generic(n, 13), axis(n, 0, 1.0), axis(n, n - 1, -1.0)] {
                let distribution = PowerSpherical::new(&mu, kappa).unwrap();
                let tape = distribution.sample_with_tape(&mut rng(14));
                let grad_z: Vec<f64> = generic(n, 15);
                let cosine = tape.angle.cosine();
                assert_close("sample", &sample_from(&mu, cosine, &tape.noise), &tape.z, 1e-12);

                // Extended to be constant along rays, a function on the sphere has its gradient tangent to it.
                let (fixed_noise, _) = distribution.pullback(&tape, &grad_z).unwrap();
                let expected = gradient(&mu, 1e-3, |mu| dot(&grad_z, &sample_from(mu, cosine, &tape.noise)));
                assert_close("fixed noise", &fixed_noise, &expected, 1e-8);

                let (transported, _) =
                    distribution.with_coupling(Coupling::ParallelTransport).pullback(&tape, &grad_z).unwrap();
                let expected = gradient(&mu, 1e-3, |to| dot(&grad_z, &transport(&mu, to, &tape.z)));
                assert_close("parallel transport", &transported, &expected, 1e-8);

                assert!(dot(&mu, &fixed_noise).abs() < 1e-12 && dot(&mu, &transported).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn pullback_by_kappa_is_the_derivative_at_a_fixed_quantile() {
    for (n, kappa) in [(2, 0.5), (3, 1.0), (4, 8.0), (5, 0.3), (16, 7.5), (16, 120.0), (33, 3.0)] {
        let mu = generic(n, 17);
        let distribution = PowerSpherical::new(&mu, kappa).unwrap();
        let noise = distribution.sample_with_tape(&mut rng(18)).noise;
        let grad_z = generic(n, 19);
        for u in [0.01, 0.3, 0.5, 0.8, 0.99] {
            let cosine = cosine_quantile(n, kappa, u);
            let angle = PolarAngle::from_cosine(cosine);
            let tape =
                PowerSphericalTape { z: sample_from(&mu, cosine, &noise), noise: noise.clone(), angle };
            let (_, actual) = distribution.pullback(&tape, &grad_z).unwrap();
            let expected = gradient(&[kappa], 1e-2 * kappa, |kappa| {
                dot(&grad_z, &sample_from(&mu, cosine_quantile(n, kappa[0], u), &noise))
            });
            assert_close(&format!("n {n}, kappa {kappa}, u {u}"), &[actual], &expected, 1e-9);
        }
    }
}

#[test]
fn pathwise_gradients_are_unbiased() {
    // E z = m mu with m = kappa / (n - 1 + kappa), so E <a, z> has the derivative (n - 1)/(n - 1 + kappa)² <a, mu>
    // by kappa, and m (a - <a, mu> mu) by mu.
    for (n, kappa) in [(2, 1.0), (4, 0.2), (4, 30.0), (16, 7.5), (16, 5e3)] {
        let (mu, a) = (generic(n, 21), generic(n, 22));
        let denominator = n as f64 - 1.0 + kappa;
        let by_kappa = (n as f64 - 1.0) / denominator.powi(2) * dot(&a, &mu);
        for coupling in [Coupling::FixedNoise, Coupling::ParallelTransport] {
            let distribution = PowerSpherical::new(&mu, kappa).unwrap().with_coupling(coupling);
            let mut rng = rng(23);
            let draws: Vec<(Vec<f64>, f64)> = (0..40_000)
                .map(|_| distribution.pullback(&distribution.sample_with_tape(&mut rng), &a).unwrap())
                .collect();
            let name = format!("n {n}, kappa {kappa}, {coupling:?}");
            estimate(draws.iter().map(|(_, by_kappa)| *by_kappa)).assert_mean(&name, by_kappa);
            for i in 0..n {
                let by_mu = kappa / denominator * (a[i] - dot(&a, &mu) * mu[i]);
                estimate(draws.iter().map(|(by_mu, _)| by_mu[i])).assert_mean(&name, by_mu);
            }
        }
    }
}

#[test]
fn parallel_transport_never_has_the_larger_variance() {
    let (n, kappa) = (4, 5.0);
    let (mu, a) = (generic(n, 25), generic(n, 26));
    let error = |coupling| {
        let distribution = PowerSpherical::new(&mu, kappa).unwrap().with_coupling(coupling);
        let mut rng = rng(27);
        let draws = (0..10_000)
            .map(|_| distribution.pullback(&distribution.sample_with_tape(&mut rng), &a).unwrap().0[0]);
        estimate(draws).standard_error
    };
    assert!(error(Coupling::ParallelTransport) < error(Coupling::FixedNoise));
}

#[test]
fn slices_and_tapes_give_the_same_numbers() {
    let mu = narrow(&generic(16, 29));
    let distribution = PowerSpherical::new(&mu, 12.0_f32).unwrap();
    let tape = distribution.sample_with_tape(&mut rng(30));
    let (mut noise, mut z, mut again) = ([0.0; 16], [0.0; 16], [0.0; 16]);
    let angle = distribution.sample_into(&mut rng(30), &mut noise, &mut z).unwrap();
    distribution.sample(&mut rng(30), &mut again).unwrap();
    assert_eq!((tape.angle, &tape.noise[..], &tape.z[..]), (angle, &noise[..], &z[..]));
    assert_eq!(z, again);

    let grad_z = narrow(&generic(16, 31));
    let mut grad_mu = [0.0; 16];
    let grad_kappa = distribution.pullback_into(&angle, &noise, &grad_z, &mut grad_mu).unwrap();
    assert_eq!(distribution.pullback(&tape, &grad_z).unwrap(), (grad_mu.to_vec(), grad_kappa));
}

#[test]
fn single_precision_gradients_are_the_double_ones_rounded() {
    let mu32 = narrow(&generic(16, 33));
    let mu64 = widen(&mu32);
    let grad32 = narrow(&generic(16, 34));
    for kappa in [0.0_f32, 0.5, 300.0, 5e4] {
        let distribution = PowerSpherical::new(&mu32, kappa).unwrap();
        let tape = distribution.sample_with_tape(&mut rng(35));
        let wide = PowerSphericalTape { z: widen(&tape.z), noise: widen(&tape.noise), angle: tape.angle };
        let (by_mu, by_kappa) = distribution.pullback(&tape, &grad32).unwrap();
        let double = PowerSpherical::new(&mu64, kappa.into()).unwrap();
        let (by_mu64, by_kappa64) = double.pullback(&wide, &widen(&grad32)).unwrap();
        assert_eq!((by_mu, by_kappa), (narrow(&by_mu64), by_kappa64 as f32));
    }
}

#[test]
fn the_ends_of_the_range_of_kappa_are_usable() {
    let mu = axis::<f64>(3, 0, 1.0);
    for kappa in [f64::MIN_POSITIVE, f64::MAX] {
        let distribution = PowerSpherical::new(&mu, kappa).unwrap();
        let tape = distribution.sample_with_tape(&mut rng(37));
        let (by_mu, by_kappa) = distribution.pullback(&tape, &generic(3, 38)).unwrap();
        assert!(tape.z.iter().chain(&by_mu).all(|x| x.is_finite()) && by_kappa.is_finite());
        // On S^2 the density at the mean direction is (1 + kappa) / 4 pi, and the divergence has a closed form.
        let (ln_area, ln_kappa) = ((4.0 * std::f64::consts::PI).ln(), kappa.ln_1p());
        let divergence = ln_kappa - 1.0 / (1.0 + 1.0 / kappa);
        assert_relative("log density", distribution.log_density(&mu).unwrap(), ln_kappa - ln_area, 1e-12);
        assert!((distribution.kl_to_uniform() - divergence).abs() <= 1e-12 * divergence.abs().max(1.0));
        assert_relative("entropy", distribution.entropy(), ln_area - divergence, 1e-12);
        let slope = kappa / (1.0 + kappa) / (1.0 + kappa);
        assert!((distribution.kl_to_uniform_gradient() - slope).abs() <= 1e-12 * slope + f64::MIN_POSITIVE);
    }
}

#[test]
fn unusable_arguments_are_named() {
    let unit = [0.6, 0.8];
    assert_eq!(UniformSphere::new(1), Err(DistributionError::DimensionTooSmall { dimension: 1 }));
    assert_eq!(
        PowerSpherical::new(&[1.0], 1.0).unwrap_err(),
        DistributionError::DimensionTooSmall { dimension: 1 }
    );
    assert_eq!(
        PowerSpherical::new(&[0.6, 0.9], 1.0).unwrap_err(),
        DistributionError::NotUnit { argument: "mu", norm: 1.17_f64.sqrt() }
    );
    assert!(matches!(
        PowerSpherical::new(&[0.6, f64::NAN], 1.0).unwrap_err(),
        DistributionError::NotFinite { argument: "mu", index: 1, .. }
    ));
    for kappa in [-1.0, f64::INFINITY, f64::NAN] {
        let error = PowerSpherical::new(&unit, kappa).unwrap_err();
        assert!(matches!(error, DistributionError::InvalidKappa { .. }), "{error}");
    }
    let distribution = PowerSpherical::new(&unit, 1.0).unwrap();
    let short = |argument| DistributionError::LengthMismatch { argument, expected: 2, actual: 1 };
    assert_eq!(distribution.log_density(&[1.0]), Err(short("x")));
    assert_eq!(
        distribution.log_density(&[2.0, 0.0]),
        Err(DistributionError::NotUnit { argument: "x", norm: 2.0 })
    );
    assert_eq!(distribution.sample(&mut rng(1), &mut [0.0]), Err(short("out")));
    let tape = distribution.sample_with_tape(&mut rng(1));
    assert_eq!(distribution.pullback(&tape, &[1.0]), Err(short("grad_z")));
    assert_eq!(short("grad_z").to_string(), "grad_z must have length 2, got 1");
}

#[test]
fn a_mean_direction_rounded_or_drifted_a_little_is_normalised() {
    let distribution = PowerSpherical::new(&[0.6 * 1.0005, 0.8 * 1.0005], 300.0).unwrap();
    let exact = PowerSpherical::new(&[0.6, 0.8], 300.0).unwrap();
    let x = [0.28, 0.96];
    assert_relative(
        "log density",
        distribution.log_density(&x).unwrap(),
        exact.log_density(&x).unwrap(),
        1e-12,
    );
}

proptest! {
    #[test]
    fn everything_is_finite_over_many_decades(
        n in 2_usize..80,
        seed in any::<u64>(),
        exponent in -30.0..30.0,
        single in any::<bool>(),
    ) {
        fn check<T: Real>(mu: &[f64], kappa: f64, seed: u64) -> Result<(), TestCaseError> {
            let mu: Vec<T> = mu.iter().map(|&x| T::of(x)).collect();
            let distribution = PowerSpherical::new(&mu, T::of(kappa)).unwrap();
            prop_assert!(distribution.entropy().is_finite());
            prop_assert!(distribution.kl_to_uniform() >= T::zero() && distribution.kl_to_uniform().is_finite());
            prop_assert!(distribution.kl_to_uniform_gradient() >= T::zero());
            let tape = distribution.sample_with_tape(&mut rng(seed));
            let norm = tape.z.iter().map(|z| z.as_f64() * z.as_f64()).sum::<f64>().sqrt();
            prop_assert!((norm - 1.0).abs() < 1.7 * T::epsilon().as_f64() + 1e-14);
            prop_assert!(!distribution.log_density(&tape.z).unwrap().is_nan());
            let (by_mu, by_kappa) = distribution.pullback(&tape, &mu).unwrap();
            prop_assert!(by_mu.iter().all(|x| x.is_finite()) && by_kappa.is_finite());
            prop_assert!(distribution.cosine_derivative(&tape.angle) >= T::zero());
            Ok(())
        }
        let (mu, kappa) = (generic(n, seed), 10f64.powf(exponent));
        if single { check::<f32>(&mu, kappa, seed)? } else { check::<f64>(&mu, kappa, seed)? }
    }

    #[test]
    fn divergence_grows_with_the_concentration(n in 2_usize..80, exponent in -12.0..12.0) {
        let mu = axis::<f64>(n, 0, 1.0);
        let kappa = 10f64.powf(exponent);
        let divergence = |kappa| PowerSpherical::new(&mu, kappa).unwrap().kl_to_uniform();
        let slope = PowerSpherical::new(&mu, kappa).unwrap().kl_to_uniform_gradient();
        let h = 1e-3 * kappa;
        let difference = (divergence(kappa + h) - divergence(kappa - h)) / (2.0 * h);
        prop_assert!(slope > 0.0 && (difference / slope - 1.0).abs() < 1e-5);
    }
}
