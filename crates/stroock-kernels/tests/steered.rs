//! Steered paths: the exact flow, the divergence, the stationary distribution. Their orders are in `tests/convergence`.

use stroock_kernels::noise::{NoiseKey, increments};
use stroock_kernels::path::{
    Attractor, Chebyshev, Drift, Grid, Memory, Noise, Path, PathError, PathProblem, PathSolver, PerStep,
    Prior, Requests, Scheme, Space,
};
use stroock_kernels::simd::Level;
use stroock_testing::statistics::estimate;

fn solver() -> PathSolver {
    PathSolver { scheme: Scheme::Steered, ..PathSolver::default() }
}

/// Paths with the constant drift `b` over `[0, end]`, from one start point, with the given normals `[S, steps, n]`.
fn constant(b: &[f64], sigma: f64, start: &[f64], end: f64, steps: usize, noise: &[f64]) -> Path<f64> {
    let n = b.len();
    let samples = noise.len() / (steps * n);
    let times: Vec<f64> = (0..=steps).map(|j| end * j as f64 / steps as f64).collect();
    let problem = PathProblem {
        space: Space::Sphere,
        dim: n,
        samples,
        grid: Grid::Shared(&times),
        drift: Drift::PerStep(PerStep(&b.repeat(steps))),
        prior: Prior::Driftless,
        sigma,
        start: &start.repeat(samples),
        noise: Noise::Given(noise),
        requests: Requests::At { offsets: &[0, 1], indices: &[steps] },
    };
    solver().forward(&problem).unwrap()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Without noise the angle to `b` shrinks by `tan(angle / 2)' = -|b| tan(angle / 2)`, whatever the steps are.
#[test]
fn the_flow_is_exact_for_any_step() {
    for (strength, steps) in [(0.01, 1), (1.0, 1), (1.0, 7), (8.0, 1), (8.0, 30), (60.0, 2)] {
        let b = [strength, 0.0, 0.0, 0.0];
        let angle = 2.6f64;
        let start = [angle.cos(), 0.6 * angle.sin(), 0.0, 0.8 * angle.sin()];
        let z = constant(&b, 0.1, &start, 0.7, steps, &vec![0.0; steps * 4]).states;
        let expected = 2.0 * ((angle / 2.0).tan() * (-strength * 0.7f64).exp()).atan();
        let [along, across] = [z[0], 0.6 * z[1] + 0.8 * z[3]];
        assert!((across.atan2(along) - expected).abs() < 1e-12, "{strength} in {steps}: {z:?}");
        assert!((dot(&z, &z) - 1.0).abs() < 1e-14 && z[2].abs() < 1e-14);
    }
}

/// The divergence of one step is the squared chord over `2 sigma^2 dt`, and that of many short ones the integral of
/// `|P_z b|^2 / (2 sigma^2)`: along the flow, `(tanh(u) - tanh(u - |b| T)) |b| / (2 sigma^2)` with `cos(angle) = -tanh(u)`.
#[test]
fn the_divergence_is_that_of_the_chain() {
    let (b, sigma, end) = ([3.0, 0.0, 0.0], 0.5, 0.8);
    let angle = 2.0f64;
    let start = [angle.cos(), angle.sin(), 0.0];
    let one = constant(&b, sigma, &start, end, 1, &[0.0; 3]);
    let chord: f64 = one.states.iter().zip(&start).map(|(y, z)| (y - z) * (y - z)).sum();
    assert!((one.kl[0] - chord / (2.0 * sigma * sigma * end)).abs() < 1e-12);
    let steps = 20_000;
    let many = constant(&b, sigma, &start, end, steps, &vec![0.0; steps * 3]);
    // cos(angle) = tanh(|b| t + c) solves the flow, and |P_z b|^2 = |b|^2 sech^2.
    let c = angle.cos().atanh();
    let expected = 3.0 * ((3.0 * end + c).tanh() - c.tanh()) / (2.0 * sigma * sigma);
    assert!((many.kl[0] / expected - 1.0).abs() < 1e-6, "{} {expected}", many.kl[0]);
    assert!(one.kl[0] < expected, "one chord is shorter than the way");
}

/// A constant drift has the stationary density `exp(2 <b, z> / sigma^2)`: von Mises-Fisher, whose mean on `S^2` is
/// `coth(k) - 1/k` along `b`, with `k = 2 |b| / sigma^2`.
#[test]
fn the_stationary_distribution_is_von_mises_fisher() {
    let (strength, sigma, samples, steps) = (2.0f64, 1.0, 4_000, 600);
    let b = [0.6 * strength, 0.0, 0.8 * strength];
    let key = NoiseKey::new(4, 0);
    let noise: Vec<f64> =
        (0..samples).flat_map(|s| increments::<f64>(Level::detect(), key, 0, s, steps, 3)).collect();
    let z = constant(&b, sigma, &[0.0, 1.0, 0.0], 6.0, steps, &noise).states;
    let k = 2.0 * strength / (sigma * sigma);
    let mean = estimate(z.chunks_exact(3).map(|z| dot(z, &b) / strength));
    let square = estimate(z.chunks_exact(3).map(|z| z[1] * z[1]));
    let expected = 1.0 / k.tanh() - 1.0 / k;
    // E <z, u>^2 = A(k) / k across the mean direction. The weak error of the scheme is of the order of its step.
    assert!((mean.mean - expected).abs() < 5.0 * mean.standard_error + 0.004, "{} {expected}", mean.mean);
    assert!((square.mean - expected / k).abs() < 5.0 * square.standard_error + 0.004, "{}", square.mean);
}

/// A prior that attracts moves a path that nothing else steers, at no divergence: a plane of a large rate becomes a cycle
/// that is gone round at its frequency, and planes of rate 0 are left.
#[test]
fn a_prior_that_attracts_makes_a_cycle_at_no_divergence() {
    let (steps, frequency) = (4_000, 5.0);
    let times: Vec<f64> = (0..=steps).map(|j| 2.0 * f64::from(j) / f64::from(steps)).collect();
    let coefficients = [0.0, 0.0, 0.0, 0.0, 0.0, 8.0, 0.0, frequency, 0.0];
    let problem = PathProblem {
        space: Space::Sphere,
        dim: 5,
        samples: 1,
        grid: Grid::Shared(&times),
        drift: Chebyshev { terms: 1, interval: (0.0, 1.0), coefficients: &[0.0; 5] }.into(),
        prior: Prior::Drift(Attractor { coefficients: &coefficients }.into()),
        sigma: 0.3,
        start: &[0.6, 0.0, 0.0, 0.0, 0.8],
        noise: Noise::Given(&vec![0.0; steps as usize * 5]),
        requests: Requests::At { offsets: &[0, 2], indices: &[steps as usize / 2, steps as usize] },
    };
    let path = solver().forward(&problem).unwrap();
    assert!(path.kl[0] < 1e-20, "{}", path.kl[0]);
    // The rate makes tan(angle to the plane) fall as exp(-8 t); the first plane turns by 5 t.
    for (z, time) in path.states.chunks_exact(5).zip([1.0, 2.0]) {
        let turned = z[1].atan2(z[0]);
        let expected = (frequency * time + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU)
            - std::f64::consts::PI;
        // The turn within a step is that of its beginning, an error of first order.
        assert!((turned - expected).abs() < 0.02 * time, "{turned} {expected}");
        let off = z[4] / (z[0] * z[0] + z[1] * z[1]).sqrt();
        assert!((off / (0.8 / 0.6 * (-8.0 * time).exp()) - 1.0).abs() < 0.1, "{off}");
    }
}

#[test]
fn long_stiff_paths_stay_on_the_sphere_in_single_precision() {
    let (n, steps) = (5, 100_000);
    let times: Vec<f32> = (0..=steps).map(|j| j as f32 * 1e-2).collect();
    let coefficients: Vec<f32> = (0..n * 3).map(|i| 40.0 * ((i * i) as f32).sin()).collect();
    let problem = PathProblem {
        space: Space::Sphere,
        dim: n,
        samples: 4,
        grid: Grid::Shared(&times),
        drift: Chebyshev { terms: 3, interval: (0.0, 1000.0), coefficients: &coefficients }.into(),
        prior: Prior::Driftless,
        sigma: 0.7,
        start: &[1.0, 0.0, 0.0, 0.0, 0.0].repeat(4),
        noise: Noise::Counter { key: NoiseKey::new(3, 0), series: &[0], first_sample: 0 },
        requests: Requests::At { offsets: &[0, 3], indices: &[10, steps / 2, steps] },
    };
    let path = solver().forward(&problem).unwrap();
    for z in path.states.chunks(n) {
        let norm: f64 = z.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        assert!((norm - 1.0).abs() < 1e-6, "{z:?}");
    }
    assert!(path.kl.iter().all(|kl| kl.is_finite() && *kl > 0.0));
}

#[test]
fn what_it_does_not_serve_is_refused_in_words() {
    let (times, drift, start) = ([0.0, 0.5, 1.0], [1.0; 6], [1.0, 0.0, 0.0]);
    let problem = PathProblem {
        space: Space::Sphere,
        dim: 3,
        samples: 1,
        grid: Grid::Shared(&times),
        drift: Drift::PerStep(PerStep(&drift)),
        prior: Prior::Driftless,
        sigma: 0.3,
        start: &start,
        noise: Noise::Counter { key: NoiseKey::new(3, 0), series: &[0], first_sample: 0 },
        requests: Requests::All,
    };
    assert!(solver().forward(&problem).is_ok());
    for space in [Space::GeneralLinear, Space::Hyperbolic] {
        let found = solver().forward(&PathProblem { space, ..problem });
        assert_eq!(found.err(), Some(PathError::SchemeOnSpace { scheme: Scheme::Steered, space }));
    }
    let reversible = PathSolver { memory: Memory::Reversible, ..solver() };
    let found = reversible.forward(&problem).err();
    assert_eq!(found, Some(PathError::SchemeDoesNotReverse { scheme: Scheme::Steered }));
    // An attractor is no element of a Lie algebra.
    let prior = Prior::Drift(Drift::Attractor(Attractor { coefficients: &[0.0; 5] }));
    assert!(solver().forward(&PathProblem { prior, ..problem }).is_ok());
    let found = PathSolver::default().forward(&PathProblem { prior, ..problem }).err();
    assert_eq!(found, Some(PathError::AttractorOfScheme { scheme: Scheme::GeometricEuler }));
    let prior = Prior::Drift(Drift::Attractor(Attractor { coefficients: &[0.0; 6] }));
    let found = solver().forward(&PathProblem { prior, ..problem }).err();
    assert!(found.unwrap().to_string().contains("`prior.coefficients`"));
    // The drift of an algebra has another number of coefficients from n = 4 on.
    let start = [1.0, 0.0, 0.0, 0.0];
    let found = solver().forward(&PathProblem { dim: 4, start: &start, ..problem }).err();
    assert!(found.unwrap().to_string().contains("`drift`"));
}
