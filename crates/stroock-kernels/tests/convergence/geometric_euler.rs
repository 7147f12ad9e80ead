//! Geometric Euler-Maruyama.

use stroock_kernels::path::{
    Drift, Grid, Memory, Noise, PathProblem, PathSolver, PerStep, Prior, Requests, Scheme, Space,
};

use crate::moments::{
    DRIFT, apply, divergence_weights, exact_mean, exact_second_moment_and_divergence, exponential_action,
    normal_quadrature, outer, skew,
};
use crate::motion::{Errors, LEVELS, Motion, REFERENCE, axis, distance, dot, strong_errors};

fn solver() -> PathSolver {
    PathSolver { memory: Memory::Reversible, ..PathSolver::default() }
}

/// The error that the missing areas between the Wiener processes make: over a step their terms have the
/// variance `dt^2 / 4 sum_{i<j} |[V_i, V_j] z|^2 = sigma^4 dt^2 (n-1)(n-2) / 4`, rotations keep the
/// length of these errors, and the reference knows the areas up to its own steps.
fn area_error(motion: &Motion, dt: f64) -> f64 {
    let n = motion.n as f64;
    let unknown = dt - 0.5f64.powi(REFERENCE as i32);
    motion.sigma.powi(2) * ((n - 1.0) * (n - 2.0) / 4.0 * unknown).sqrt()
}

fn assert_area_error(motion: &Motion, errors: &Errors) {
    let (dt, error) = errors.points[errors.points.len() - 1];
    let ratio = error / area_error(motion, dt);
    println!("    error over its leading term at dt = {dt}: {ratio:.3}");
    // The root mean square over the paths is known to about 3 %.
    assert!((ratio - 1.0).abs() < 0.12, "{}: {ratio}", errors.name);
}

#[test]
fn non_commuting_noise_has_strong_order_one_half() {
    let sphere = Motion {
        space: Space::Sphere,
        scheme: Scheme::GeometricEuler,
        n: 3,
        sigma: 1.0,
        drift: |_| vec![1.0, -0.5, 2.0],
        start: axis(3),
    };
    let errors = strong_errors("strong, S^2, sigma = 1, constant drift", &sphere, 400);
    errors.assert_order(0.5, 0.1);
    assert_area_error(&sphere, &errors);

    let constant = |_| vec![1.0, -0.5, 0.3, 0.8, 0.1, -1.2, 0.4, 0.9, -0.7, 0.2];
    let sphere = Motion {
        space: Space::Sphere,
        scheme: Scheme::GeometricEuler,
        n: 5,
        sigma: 0.6,
        drift: constant,
        start: axis(5),
    };
    let errors = strong_errors("strong, S^4, sigma = 0.6, constant drift", &sphere, 200);
    errors.assert_order(0.5, 0.1);
    assert_area_error(&sphere, &errors);
}

#[test]
fn commuting_noise_has_strong_order_one() {
    let circle = Motion {
        space: Space::Sphere,
        scheme: Scheme::GeometricEuler,
        n: 2,
        sigma: 1.0,
        drift: |t| vec![2.0 * (3.0 * t).cos()],
        start: axis(2),
    };
    strong_errors("strong, S^1, sigma = 1, drift in time", &circle, 200).assert_order(1.0, 0.1);
}

fn turning_drift(t: f64) -> Vec<f64> {
    vec![2.0 * (3.0 * t).cos(), 1.0 - t, 2.0 * t * t]
}

/// The noise is small beside the change of the drift within a step, whose error is of order 1; the order
/// 1/2 of the noise would take over at steps far below those measured.
#[test]
fn small_noise_has_strong_order_one_on_usual_grids() {
    let sphere = Motion {
        space: Space::Sphere,
        scheme: Scheme::GeometricEuler,
        n: 3,
        sigma: 0.1,
        drift: turning_drift,
        start: axis(3),
    };
    strong_errors("strong, S^2, sigma = 0.1, drift in time", &sphere, 200).assert_order(1.0, 0.1);
}

/// With a constant drift only the noise errs: the commutators of drift and noise with `sigma |K| dt`, the
/// areas with `sigma^2 sqrt(dt)`. The measured steps lie where the one hands over to the other, and the slope
/// lies between 1 and 1/2.
#[test]
fn small_noise_with_constant_drift_is_between_the_orders() {
    let sphere = Motion {
        space: Space::Sphere,
        scheme: Scheme::GeometricEuler,
        n: 3,
        sigma: 0.1,
        drift: |_| vec![1.0, -0.5, 2.0],
        start: axis(3),
    };
    strong_errors("strong, S^2, sigma = 0.1, constant drift", &sphere, 200).assert_order(0.87, 0.1);
}

#[test]
fn drift_alone_has_order_one() {
    let sphere = Motion {
        space: Space::Sphere,
        scheme: Scheme::GeometricEuler,
        n: 3,
        sigma: 1e-7,
        drift: turning_drift,
        start: axis(3),
    };
    strong_errors("S^2, no noise, drift in time", &sphere, 1).assert_order(1.0, 0.1);
}

#[test]
fn hyperbolic_noise_has_strong_order_one_half() {
    let plane = Motion {
        space: Space::Hyperbolic,
        scheme: Scheme::GeometricEuler,
        n: 3,
        sigma: 0.5,
        drift: |_| vec![1.0, -0.5, 2.0],
        start: axis(3),
    };
    strong_errors("strong, H^2, sigma = 0.5, constant drift", &plane, 400).assert_order(0.5, 0.1);
    let line = Motion {
        space: Space::Hyperbolic,
        scheme: Scheme::GeometricEuler,
        n: 2,
        sigma: 0.5,
        drift: |t| vec![2.0 * (3.0 * t).cos()],
        start: axis(2),
    };
    strong_errors("strong, H^1, sigma = 0.5, drift in time", &line, 200).assert_order(1.0, 0.1);
}

/// The mean of a step of geometric Euler-Maruyama is a matrix on H^2 too; it is read off three points of the space.
/// `E z_T = exp((K + 1/2 sum_i V_i^2) T) z_0` with `sum_k E_k^2 = I - (n - 2) J`.
#[test]
fn hyperbolic_weak_order_is_one() {
    let (sigma, root) = (0.7f64, 2f64.sqrt());
    let points = [[1.0, 0.0, 0.0], [root, 1.0, 0.0], [root, 0.0, 1.0]];
    let nodes = normal_quadrature(10);
    let node = |s: usize| [s % nodes.len(), s / nodes.len() % nodes.len(), s / nodes.len().pow(2)];
    let count = nodes.len().pow(3);
    let noise: Vec<f64> = (0..count).flat_map(|s| node(s).map(|i| nodes[i].0).repeat(3)).collect();
    // J S for the coefficients of S, and the pinning drift.
    let mut generator = skew(&DRIFT);
    generator[..3].iter_mut().for_each(|entry| *entry = -*entry);
    let half = 0.5 * sigma * sigma;
    [2.0, 0.0, 0.0].iter().enumerate().for_each(|(i, pinning)| generator[i * 4] += half * pinning);
    let mean = exponential_action(&generator, &points[1]);
    let errors = LEVELS.map(|level| {
        let dt = 0.5f64.powi(level as i32);
        let problem = PathProblem {
            space: Space::Hyperbolic,
            dim: 3,
            samples: count,
            grid: Grid::Shared(&[0.0, dt]),
            drift: Drift::PerStep(PerStep(&DRIFT.repeat(3))),
            prior: Prior::Driftless,
            sigma,
            start: &points.concat().repeat(count),
            noise: Noise::Given(&noise),
            requests: Requests::At { offsets: &[0, 1, 2, 3], indices: &[1, 1, 1] },
        };
        let states = solver().forward(&problem).unwrap().states;
        let mut means = [0.0; 9];
        for (s, states) in states.chunks_exact(9).enumerate() {
            let weight: f64 = node(s).iter().map(|&i| nodes[i].1).product();
            means.iter_mut().zip(states).for_each(|(mean, z)| *mean += weight * z);
        }
        // Columns from the images of the points: e_1 and e_2 are points less a multiple of e_0.
        let step: Vec<f64> = (0..3)
            .flat_map(|i| [means[i], means[3 + i] - root * means[i], means[6 + i] - root * means[i]])
            .collect();
        let of_scheme = (0..1 << level).fold(points[1].to_vec(), |z, _| apply(&step, &z));
        (dt, distance(&of_scheme, &mean))
    });
    Errors { name: "weak, H^2, sigma = 0.7, constant drift, E z_T", points: errors.to_vec() }
        .assert_order(1.0, 0.1);
}

/// `E exp(Omega)` (`[3, 3]`) and `E exp(Omega) x exp(Omega)` (`[9, 9]`) of one step.
struct StepMoments {
    first: Vec<f64>,
    second: Vec<f64>,
}

/// The moments of a step `dt` with each of the drifts (`[steps, 3]`), by quadrature over its three normal
/// numbers. The nodes are the samples of the kernel, the axes its starts.
fn step_moments(sigma: f64, dt: f64, drifts: &[f64]) -> Vec<StepMoments> {
    let nodes = normal_quadrature(10);
    let count = nodes.len().pow(3);
    let node = |s: usize| [s % nodes.len(), s / nodes.len() % nodes.len(), s / nodes.len().pow(2)];
    let series = drifts.len();
    let offsets: Vec<usize> = (0..=series).collect();
    let of_axes: Vec<f64> = drifts.chunks_exact(3).flat_map(|k| k.repeat(3)).collect();
    let starts: Vec<f64> =
        (0..series).flat_map(|b| (0..3).map(move |i| f64::from(u8::from(i == b % 3)))).collect();
    let noise: Vec<f64> = (0..count).flat_map(|s| node(s).map(|i| nodes[i].0).repeat(series)).collect();
    let problem = PathProblem {
        space: Space::Sphere,
        dim: 3,
        samples: count,
        grid: Grid::Shared(&[0.0, dt]),
        drift: Drift::PerStep(PerStep(&of_axes)),
        prior: Prior::Driftless,
        sigma,
        start: &starts.repeat(count),
        noise: Noise::Given(&noise),
        requests: Requests::At { offsets: &offsets, indices: &vec![1; series] },
    };
    let states = solver().forward(&problem).unwrap().states;
    let mut moments: Vec<StepMoments> =
        (0..series / 3).map(|_| StepMoments { first: vec![0.0; 9], second: vec![0.0; 81] }).collect();
    for (s, states) in states.chunks_exact(series * 3).enumerate() {
        let weight: f64 = node(s).iter().map(|&i| nodes[i].1).product();
        for (columns, moments) in states.chunks_exact(9).zip(&mut moments) {
            // Column `j` of the rotation is where axis `j` goes.
            let x = |i: usize, j: usize| columns[j * 3 + i];
            for (place, first) in moments.first.iter_mut().enumerate() {
                *first += weight * x(place / 3, place % 3);
            }
            for (place, second) in moments.second.iter_mut().enumerate() {
                let (row, column) = (place / 9, place % 9);
                *second += weight * x(row / 3, column / 3) * x(row % 3, column % 3);
            }
        }
    }
    moments
}

/// The weak errors of a constant drift: of `E z_T`, of `E[z_T z_T^T]` and of the mean divergence; and how
/// far `E z_T` is from the mean of the motion with the drift and noise that the scheme adds up to.
fn weak_errors(sigma: f64) -> [Errors; 4] {
    let start = [0.6, 0.0, 0.8];
    let mean = exact_mean(sigma, &DRIFT, &start);
    let exact = exact_second_moment_and_divergence(sigma, &DRIFT, &start);
    let weights = divergence_weights(sigma, &DRIFT);
    let mut errors = [
        Errors { name: "weak, S^2, sigma = 1, E z_T", points: vec![] },
        Errors { name: "weak, S^2, sigma = 1, E z_T z_T^T", points: vec![] },
        Errors { name: "weak, S^2, sigma = 1, E KL", points: vec![] },
        Errors { name: "weak, S^2, sigma = 1, E z_T of the modified motion", points: vec![] },
    ];
    for level in LEVELS {
        let dt = 0.5f64.powi(level as i32);
        let step = &step_moments(sigma, dt, &DRIFT)[0];
        let (mut first, mut second, mut divergence) = (start.to_vec(), outer(&start), 0.0);
        for _ in 0..1 << level {
            divergence += dt * dot(&weights, &second);
            first = apply(&step.first, &first);
            second = apply(&step.second, &second);
        }
        // (n - 2) / 12 sigma^2 dt.
        let x = sigma * sigma * dt / 12.0;
        let modified = exact_mean(sigma * (1.0 + x).sqrt(), &DRIFT.map(|c| c * (1.0 + 2.0 * x)), &start);
        errors[0].points.push((dt, distance(&first, &mean)));
        errors[1].points.push((dt, distance(&second, &exact[..9])));
        errors[2].points.push((dt, (divergence - exact[9]).abs()));
        errors[3].points.push((dt, distance(&first, &modified)));
    }
    errors
}

#[test]
fn weak_order_is_one() {
    let [mean, second_moment, divergence, of_modified] = weak_errors(1.0);
    mean.assert_order(1.0, 0.1);
    second_moment.assert_order(1.0, 0.1);
    divergence.assert_order(1.0, 0.1);
    // The leading error is known: K grows by (n-2)/6 sigma^2 dt and sigma^2 by (n-2)/12 sigma^2 dt of
    // itself. Against the motion with these the order is 2.
    of_modified.assert_order(2.0, 0.1);
}

#[test]
fn weak_order_is_one_with_drift_in_time() {
    let (sigma, start) = (0.7, [0.6, 0.0, 0.8]);
    // The exact mean solves m' = (K(t) - sigma^2) m: by midpoints of steps far below those measured, and
    // extrapolated.
    let midpoints = |steps: usize| {
        let step = |z: Vec<f64>, j: usize| {
            let mut generator = skew(&turning_drift((j as f64 + 0.5) / steps as f64));
            (0..3).for_each(|i| generator[i * 4] -= sigma * sigma);
            generator.iter_mut().for_each(|g| *g /= steps as f64);
            exponential_action(&generator, &z)
        };
        (0..steps).fold(start.to_vec(), step)
    };
    let (coarse, fine) = (midpoints(500), midpoints(1000));
    let mean: Vec<f64> = fine.iter().zip(coarse).map(|(fine, coarse)| (4.0 * fine - coarse) / 3.0).collect();

    let points = LEVELS.map(|level| {
        let dt = 0.5f64.powi(level as i32);
        let drifts: Vec<f64> = (0..1 << level).flat_map(|j| turning_drift(f64::from(j) * dt)).collect();
        let steps = step_moments(sigma, dt, &drifts);
        let of_scheme = steps.iter().fold(start.to_vec(), |z, step| apply(&step.first, &z));
        (dt, distance(&of_scheme, &mean))
    });
    let name = "weak, S^2, sigma = 0.7, drift in time, E z_T";
    Errors { name, points: points.to_vec() }.assert_order(1.0, 0.1);
}

/// Without drift the mean of a step on S^2 is `(1 + 2 (1 - s) exp(-s/2)) / 3` times the state, with
/// `s = sigma^2 dt`: a rotation by the length of a normal vector in space.
#[test]
fn mean_of_a_step_has_its_closed_form() {
    for (sigma, dt) in [(1.0, 0.125), (0.5, 0.3), (1.0, 0.001)] {
        let step = &step_moments(sigma, dt, &[0.0; 3])[0];
        let s: f64 = sigma * sigma * dt;
        let factor = (1.0 + 2.0 * (1.0 - s) * (-0.5 * s).exp()) / 3.0;
        for (place, entry) in step.first.iter().enumerate() {
            let expected = if place % 4 == 0 { factor } else { 0.0 };
            assert!(
                (entry - expected).abs() < 1e-13,
                "sigma = {sigma}, dt = {dt}: {entry} is not {expected}"
            );
        }
    }
}
