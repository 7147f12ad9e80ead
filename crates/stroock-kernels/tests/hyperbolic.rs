//! Hyperbolic space: paths stay on it, the lift has its covariance, and start points have exact gradients.

use stroock_geometry::{HomogeneousSpace, Hyperbolic};
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::{
    Chebyshev, Grid, Noise, PathProblem, PathSolver, Prior, Requests, Scheme, Space,
};
use stroock_kernels::start::{Draws, StartDistribution, StartError, StartKind, WrappedNormalStart};
use stroock_testing::finite_difference::{assert_close, gradient};
use stroock_testing::statistics::estimate;

/// Rotations around the origin with some boosts, and noise, over many steps in single precision.
#[test]
fn long_paths_stay_on_the_space() {
    let (n, steps) = (4, 50_000);
    let times: Vec<f32> = (0..=steps).map(|j| 1e-3 * j as f32).collect();
    for scheme in [Scheme::GeometricEuler, Scheme::TangentNoise] {
        let problem = PathProblem {
            space: Space::Hyperbolic,
            dim: n,
            samples: 8,
            grid: Grid::Shared(&times),
            drift: Chebyshev {
                terms: 1,
                interval: (0.0, 50.0),
                coefficients: &[0.2, 0.1, 3.0, -0.1, 2.0, 1.0],
            }
            .into(),
            prior: Prior::Driftless,
            sigma: 0.15,
            start: &[1.0, 0.0, 0.0, 0.0].repeat(8),
            noise: Noise::Counter { key: NoiseKey::new(3, 0), series: &[0], first_sample: 0 },
            requests: Requests::At { offsets: &[0, 3], indices: &[steps / 100, steps / 2, steps] },
        };
        let path = PathSolver { scheme, ..PathSolver::default() }.forward(&problem).unwrap();
        for z in path.states.chunks(n) {
            let z: Vec<f64> = z.iter().map(|&x| f64::from(x)).collect();
            let residual = Hyperbolic::new(n).unwrap().membership_residual(&z).unwrap();
            assert!(residual < 1e-6, "{scheme:?}: {z:?} is off by {residual}");
        }
        let farthest = path.states.chunks(n).map(|z| z[0]).fold(1.0, f32::max);
        assert!(farthest > 1.5, "paths stayed at the origin");
    }
}

/// `E (z_1 - E z_1)(..)^T / dt` of one short step is `Sigma(z)`, for either scheme and on every space that lifts.
#[test]
fn a_short_step_has_the_covariance_of_the_space() {
    let (n, samples, dt, sigma) = (3, 40_000, 1e-4f64, 0.8);
    let space = Hyperbolic::new(n).unwrap();
    let z = [1.625f64.sqrt(), 0.5, -0.6123724356957945];
    let mut covariance = [0.0; 9];
    space.diffusion_matrix(sigma, &z, &mut covariance).unwrap();
    for scheme in [Scheme::GeometricEuler, Scheme::TangentNoise] {
        let problem = PathProblem {
            space: Space::Hyperbolic,
            dim: n,
            samples,
            grid: Grid::Shared(&[0.0, dt]),
            drift: Chebyshev { terms: 1, interval: (0.0, 1.0), coefficients: &[0.0; 3] }.into(),
            prior: Prior::Driftless,
            sigma,
            start: &z.repeat(samples),
            noise: Noise::Counter { key: NoiseKey::new(9, 0), series: &[4], first_sample: 0 },
            requests: Requests::At { offsets: &[0, 1], indices: &[1] },
        };
        let states = PathSolver { scheme, ..PathSolver::default() }.forward(&problem).unwrap().states;
        for (place, expected) in covariance.into_iter().enumerate() {
            let (i, j) = (place / n, place % n);
            let products = states.chunks(n).map(|y| (y[i] - z[i]) * (y[j] - z[j]) / dt);
            estimate(products).assert_mean(&format!("{scheme:?}, entry {i}, {j}"), expected);
        }
    }
}

fn parameters() -> (Vec<f64>, Vec<f64>) {
    // At the origin, near it, and far from it.
    (vec![0.0, 0.0, 0.02, -0.01, 1.5, -2.0], vec![1e-3, 0.05, 0.7])
}

fn draws() -> Draws<'static> {
    Draws { key: NoiseKey::new(4, 2), series: &[3, 1, 8], samples: 3, first_sample: 1 }
}

#[test]
fn start_points_lie_on_the_space_and_have_exact_gradients() {
    let (mean, scale) = parameters();
    let loss = |mean: &[f64], scale: &[f64]| {
        let start = WrappedNormalStart { dim: 3, mean, scale };
        let points = start.sample(draws()).unwrap();
        let of_points: f64 = points.iter().enumerate().map(|(i, z)| (i as f64).sin() * z + 0.1 * z * z).sum();
        let kl = start.divergence().unwrap();
        of_points + kl.iter().enumerate().map(|(b, kl)| (1.0 + b as f64) * kl).sum::<f64>()
    };
    let start = WrappedNormalStart { dim: 3, mean: &mean, scale: &scale };
    let points = start.sample(draws()).unwrap();
    for z in points.chunks(3) {
        assert_eq!(Space::Hyperbolic.misfit(z), None);
        assert!(Hyperbolic::new(3).unwrap().membership_residual(z).unwrap() < 1e-14);
    }
    let of_points: Vec<f64> = points.iter().enumerate().map(|(i, z)| (i as f64).sin() + 0.2 * z).collect();
    let gradients = start.pull_back(draws(), &of_points, &[1.0, 2.0, 3.0]).unwrap();
    assert_close("mean", &gradients.location, &gradient(&mean, 1e-3, |mean| loss(mean, &scale)), 1e-8);
    // The smallest scale allows small steps only.
    assert_close("scale", &gradients.spread, &gradient(&scale, 1e-5, |scale| loss(&mean, scale)), 1e-6);
}

#[test]
fn the_prior_start_is_no_distance_from_itself() {
    let (mean, scale) = StartKind::WrappedNormal.prior(5);
    assert_eq!(mean.len(), StartKind::WrappedNormal.location_dim(5));
    let start = StartKind::WrappedNormal.distribution(5, &mean, std::slice::from_ref(&scale));
    assert_eq!(start.divergence().unwrap(), [0.0]);
    let (mu, kappa) = StartKind::PowerSpherical.prior(5);
    let start = StartKind::PowerSpherical.distribution(5, &mu, std::slice::from_ref(&kappa));
    assert_eq!(start.divergence().unwrap(), [0.0]);
}

#[test]
fn start_points_that_overflow_are_refused() {
    let sample = |mean: &[f32], scale: &[f32]| {
        let draws = Draws { series: &[0], ..draws() };
        WrappedNormalStart { dim: 3, mean, scale }.sample(draws).unwrap_err()
    };
    assert!(matches!(sample(&[60.0, 0.0], &[1.0]), StartError::TooFar { series: 0, .. }));
    assert!(matches!(sample(&[0.0, 0.0], &[1e6]), StartError::TooFar { series: 0, .. }));
    assert!(matches!(sample(&[0.0, 0.0], &[0.0]), StartError::Scale { series: 0, .. }));
    assert!(matches!(sample(&[0.0], &[1.0]), StartError::Argument(_)));
    assert!(matches!(sample(&[f32::NAN, 0.0], &[1.0]), StartError::Argument(_)));
}
