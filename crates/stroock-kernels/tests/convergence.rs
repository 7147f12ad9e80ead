//! Measured orders of convergence of the schemes, and agreement with the plain one-point motion.
//!
//! Strong errors are root mean squares over paths of `|z_T^dt - z_T^ref|`, where the reference is the scheme
//! itself on a grid of 2^12 steps with the same Brownian motion. Weak errors are computed without sampling:
//! the mean of one step is a quadrature over its normal numbers, and the mean of the scheme is the product
//! of the means of its steps.
//!
//! Non-commuting noise has the strong order 1/2: a step knows the increments of the Wiener processes but not
//! the areas between them, `int w_i dw_j - w_j dw_i`, which enter with the commutators `[V_i, V_j]` and have
//! the variance `dt^2` each. Where the commutators vanish (n = 2), or where the noise is small beside the
//! change of the drift within a step, the order 1 is seen.

use stroock_geometry::{GeneralLinear, HomogeneousSpace, Hyperbolic, OnePointMotion, Sphere};
use stroock_kernels::noise::{NoiseKey, increments};
use stroock_kernels::path::{
    Chebyshev, Drift, Grid, Memory, Noise, PathProblem, PathSolver, PerStep, Prior, Requests, Scheme, Space,
};
use stroock_kernels::simd::Level;
use stroock_testing::statistics::estimate;

/// A motion over `[0, 1]`.
struct Motion {
    space: Space,
    scheme: Scheme,
    n: usize,
    sigma: f64,
    /// Coefficients of `K(t)`.
    drift: fn(f64) -> Vec<f64>,
    start: Vec<f64>,
}

impl Motion {
    /// Normals of a step.
    fn normals(&self) -> usize {
        match self.scheme {
            Scheme::GeometricEuler => self.space.algebra_dim(self.n),
            Scheme::TangentNoise | Scheme::Steered => self.n,
        }
    }

    /// `K(t_j)` for the steps of the grid.
    fn drifts(&self, steps: usize) -> Vec<f64> {
        (0..steps).flat_map(|j| (self.drift)(j as f64 / steps as f64)).collect()
    }

    /// Last states `[S, n]` on the grid that fits `noise` (`[S, steps, normals]`).
    fn last_states(&self, steps: usize, noise: &[f64]) -> Vec<f64> {
        let samples = noise.len() / (steps * self.normals());
        let times = uniform_times(steps);
        let problem = PathProblem {
            space: self.space,
            dim: self.n,
            samples,
            grid: Grid::Shared(&times),
            drift: Drift::PerStep(PerStep(&self.drifts(steps))),
            prior: Prior::Driftless,
            sigma: self.sigma,
            start: &self.start.repeat(samples),
            noise: Noise::Given(noise),
            requests: Requests::At { offsets: &[0, 1], indices: &[steps] },
        };
        PathSolver { scheme: self.scheme, ..PathSolver::default() }.forward(&problem).unwrap().states
    }
}

fn solver() -> PathSolver {
    PathSolver { memory: Memory::Reversible, ..PathSolver::default() }
}

fn uniform_times(steps: usize) -> Vec<f64> {
    (0..=steps).map(|j| j as f64 / steps as f64).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

fn axis(n: usize) -> Vec<f64> {
    (0..n).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect()
}

/// Errors at decreasing steps.
struct Errors {
    name: &'static str,
    /// `(dt, error)`.
    points: Vec<(f64, f64)>,
}

impl Errors {
    /// The slope of `ln error` over `ln dt` by least squares.
    fn order(&self) -> f64 {
        let points: Vec<(f64, f64)> = self.points.iter().map(|(dt, e)| (dt.ln(), e.ln())).collect();
        let count = points.len() as f64;
        let (x, y) = points.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / count, sum.1 + p.1 / count));
        let covariance: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
        covariance / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
    }

    /// Prints the errors with the slopes between neighbours, and asserts the order.
    fn assert_order(&self, expected: f64, tolerance: f64) {
        let order = self.order();
        println!("{}: order {order:.3}", self.name);
        for (i, (dt, error)) in self.points.iter().enumerate() {
            let local = match i.checked_sub(1).map(|before| self.points[before]) {
                Some((dt_before, before)) => format!("{:.2}", (error / before).ln() / (dt / dt_before).ln()),
                None => String::new(),
            };
            println!("    dt = 1/{:<5} error {error:.3e}  {local}", 1.0 / dt);
        }
        assert!((order - expected).abs() <= tolerance, "{}: order {order}, expected {expected}", self.name);
    }
}

/// The exponents of the measured grids of `2^level` steps, and of the reference.
const LEVELS: [usize; 6] = [3, 4, 5, 6, 7, 8];
const REFERENCE: usize = 12;

/// The same Brownian motion on a grid of half as many steps: `[S, steps, m]` to `[S, steps / 2, m]`.
fn coarsened(noise: &[f64], m: usize) -> Vec<f64> {
    let pairs = noise.chunks_exact(2 * m);
    pairs.flat_map(|pair| (0..m).map(|k| (pair[k] + pair[m + k]) * 0.5f64.sqrt())).collect()
}

fn strong_errors(name: &'static str, motion: &Motion, paths: u32) -> Errors {
    let m = motion.normals();
    let mut noise = Vec::new();
    for sample in 0..paths {
        let key = NoiseKey::new(1, motion.n as u64);
        noise.extend(increments::<f64>(Level::detect(), key, 0, sample, 1 << REFERENCE, m));
    }
    let reference = motion.last_states(1 << REFERENCE, &noise);
    let mut points = Vec::new();
    for level in (0..REFERENCE).rev() {
        noise = coarsened(&noise, m);
        if LEVELS.contains(&level) {
            let error = distance(&motion.last_states(1 << level, &noise), &reference);
            points.push((0.5f64.powi(level as i32), error / f64::from(paths).sqrt()));
        }
    }
    points.reverse();
    Errors { name, points }
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

/// Noise that `n` Wiener processes drive through the lift at the state: the reference is the same equation with the
/// same processes, whose increments add up over the steps of a coarser grid.
#[test]
fn noise_along_the_space_has_strong_order_one_half() {
    for (space, name, start) in [
        (Space::Sphere, "strong, S^2, sigma = 1, tangent noise", axis(3)),
        (Space::GeneralLinear, "strong, GL(3), sigma = 0.5, tangent noise", axis(3)),
        (Space::Hyperbolic, "strong, H^2, sigma = 0.5, tangent noise", axis(3)),
    ] {
        let sigma = if space == Space::Sphere { 1.0 } else { 0.5 };
        let drift: fn(f64) -> Vec<f64> = match space {
            Space::GeneralLinear => |_| vec![0.1, 0.5, -0.3, 0.2, -0.4, 0.6, 0.3, -0.2, 0.1],
            _ => |_| vec![1.0, -0.5, 2.0],
        };
        let motion = Motion { space, scheme: Scheme::TangentNoise, n: 3, sigma, drift, start };
        strong_errors(name, &motion, 400).assert_order(0.5, 0.15);
    }
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

// Weak orders, on S^2 and H^2.

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

/// Without drift a step of tangent noise on S^2 has the mean `f z` and the second moment
/// `g z z^T + (1 - g) / 2 (I - z z^T)`: measured from one step, and multiplied.
#[test]
fn noise_along_the_sphere_has_weak_order_one() {
    let sigma = 1.0f64;
    let nodes = normal_quadrature(16);
    let count = nodes.len().pow(2);
    // The component of the noise along z does nothing.
    let noise: Vec<f64> =
        (0..count).flat_map(|s| [0.3, nodes[s % nodes.len()].0, nodes[s / nodes.len()].0]).collect();
    let solver = PathSolver { scheme: Scheme::TangentNoise, ..PathSolver::default() };
    let mut errors = [
        Errors { name: "weak, S^2, sigma = 1, tangent noise, E z_T", points: vec![] },
        Errors { name: "weak, S^2, sigma = 1, tangent noise, E z_T z_T^T", points: vec![] },
    ];
    for level in LEVELS {
        let dt = 0.5f64.powi(level as i32);
        let problem = PathProblem {
            space: Space::Sphere,
            dim: 3,
            samples: count,
            grid: Grid::Shared(&[0.0, dt]),
            drift: Drift::PerStep(PerStep(&[0.0; 3])),
            prior: Prior::Driftless,
            sigma,
            start: &axis(3).repeat(count),
            noise: Noise::Given(&noise),
            requests: Requests::At { offsets: &[0, 1], indices: &[1] },
        };
        let states = solver.forward(&problem).unwrap().states;
        let (mut first, mut second) = (0.0, 0.0);
        for (s, z) in states.chunks_exact(3).enumerate() {
            let weight = nodes[s % nodes.len()].1 * nodes[s / nodes.len()].1;
            first += weight * z[0];
            second += weight * z[0] * z[0];
        }
        // The square's excess over 1/3 shrinks by the factor of the second spherical harmonic.
        let steps = 1 << level;
        let of_scheme = [first.powi(steps), (1.5 * second - 0.5).powi(steps)];
        let exact = [(-sigma * sigma).exp(), (-3.0 * sigma * sigma).exp()];
        for i in 0..2 {
            errors[i].points.push((dt, (of_scheme[i] - exact[i]).abs()));
        }
    }
    errors.iter().for_each(|errors| errors.assert_order(1.0, 0.1));
}

/// Both schemes have the same means and second moments, those of the motion.
#[test]
fn schemes_have_the_same_moments() {
    let (sigma, paths, steps) = (0.7, 20_000, 64);
    let start = [0.6, 0.0, 0.8];
    let mean = exact_mean(sigma, &DRIFT, &start);
    let second = exact_second_moment_and_divergence(sigma, &DRIFT, &start);
    for scheme in [Scheme::GeometricEuler, Scheme::TangentNoise] {
        let motion = Motion {
            space: Space::Sphere,
            scheme,
            n: 3,
            sigma,
            drift: |_| DRIFT.to_vec(),
            start: start.to_vec(),
        };
        let key = NoiseKey::new(5, 0);
        let noise: Vec<f64> = (0..paths)
            .flat_map(|s| increments::<f64>(Level::detect(), key, 1, s, steps, motion.normals()))
            .collect();
        let states = motion.last_states(steps, &noise);
        // Five standard errors, and the weak error of the scheme.
        let close = |name: &str, values: Vec<f64>, expected: f64| {
            let found = estimate(values);
            let error = (found.mean - expected).abs();
            assert!(error < 5.0 * found.standard_error + 0.005, "{scheme:?}, {name}: {error}");
        };
        for i in 0..3 {
            close("mean", states.chunks_exact(3).map(|z| z[i]).collect(), mean[i]);
            for j in 0..3 {
                let products = states.chunks_exact(3).map(|z| z[i] * z[j]).collect();
                close("second moment", products, second[i * 3 + j]);
            }
        }
    }
}

/// Nodes and weights of Gauss's quadrature for a standard normal number.
fn normal_quadrature(count: usize) -> Vec<(f64, f64)> {
    // Hermite's polynomials of degrees `count` and `count - 1`.
    let hermite = |x: f64| (1..count).fold((x, 1.0), |(h, before), k| (x * h - k as f64 * before, h));
    let root = |mut low: f64, mut high: f64| {
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if (hermite(middle).0 > 0.0) == (hermite(low).0 > 0.0) { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    };
    let factorial: f64 = (1..=count).map(|k| k as f64).product();
    // Brackets that are no roots themselves.
    let brackets = (-800..800).map(|i| (f64::from(i) * 0.01 + 0.005, f64::from(i + 1) * 0.01 + 0.005));
    let changes = brackets.filter(|&(low, high)| (hermite(low).0 > 0.0) != (hermite(high).0 > 0.0));
    changes
        .map(|(low, high)| {
            let x = root(low, high);
            (x, factorial / (count as f64 * hermite(x).1).powi(2))
        })
        .collect()
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

fn apply(matrix: &[f64], z: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(z.len()).map(|row| dot(row, z)).collect()
}

/// `exp(A) z` in short steps of the Taylor series.
fn exponential_action(a: &[f64], z: &[f64]) -> Vec<f64> {
    let parts = 32;
    let mut z = z.to_vec();
    for _ in 0..parts {
        let mut term = z.clone();
        for k in 1..20 {
            term = apply(a, &term).iter().map(|x| x / f64::from(parts * k)).collect();
            z.iter_mut().zip(&term).for_each(|(z, term)| *z += term);
        }
    }
    z
}

/// The skew matrix of three coefficients.
fn skew(c: &[f64]) -> Vec<f64> {
    vec![0.0, -c[0], -c[1], c[0], 0.0, -c[2], c[1], c[2], 0.0]
}

/// `E z_T = exp((K - sigma^2) T) z_0` at `T = 1` on S^2.
fn exact_mean(sigma: f64, drift: &[f64], start: &[f64]) -> Vec<f64> {
    let mut generator = skew(drift);
    (0..3).for_each(|i| generator[i * 4] -= sigma * sigma);
    exponential_action(&generator, start)
}

/// `E[z z^T]` (nine numbers) and the divergence (the tenth) at `T = 1`, by the linear equations
/// `M' = K M + M K^T + sigma^2 (tr(M) I - 3 M)` and `KL' = tr(K^T K M) / (2 sigma^2)`.
fn exact_second_moment_and_divergence(sigma: f64, drift: &[f64], start: &[f64]) -> Vec<f64> {
    let k = skew(drift);
    let identity = |i: usize, j: usize| f64::from(u8::from(i == j));
    let mut generator = vec![0.0; 100];
    for row in 0..9 {
        for column in 0..9 {
            let [(i, j), (a, b)] = [(row / 3, row % 3), (column / 3, column % 3)];
            let turning = k[i * 3 + a] * identity(j, b) + identity(i, a) * k[j * 3 + b];
            let spreading = identity(i, j) * identity(a, b) - 3.0 * identity(i, a) * identity(j, b);
            generator[row * 10 + column] = turning + sigma.powi(2) * spreading;
        }
    }
    for (place, weight) in divergence_weights(sigma, drift).into_iter().enumerate() {
        generator[90 + place] = weight;
    }
    let mut z = outer(start);
    z.push(0.0);
    exponential_action(&generator, &z)
}

fn outer(z: &[f64]) -> Vec<f64> {
    z.iter().flat_map(|a| z.iter().map(move |b| a * b)).collect()
}

/// `K^T K / (2 sigma^2)`, whose product with `E[z z^T]` is the rate of the divergence.
fn divergence_weights(sigma: f64, drift: &[f64]) -> Vec<f64> {
    let k = skew(drift);
    let column = |j: usize| [k[j], k[3 + j], k[6 + j]];
    let entries = (0..9).map(|place| dot(&column(place / 3), &column(place % 3)));
    entries.map(|x| x / (2.0 * sigma * sigma)).collect()
}

const DRIFT: [f64; 3] = [1.0, -0.5, 2.0];

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

// The oracle.

/// Reproducible normal numbers.
fn normals(seed: u64, count: usize) -> Vec<f64> {
    increments(Level::Portable, NoiseKey::new(seed, 0), 0, 0, 1, count)
}

/// A batch of series with grids of their own, one of them without a step.
struct Batch {
    space: Space,
    n: usize,
    sigma: f64,
    samples: usize,
    /// `[B + 1]`.
    offsets: Vec<usize>,
    times: Vec<f64>,
    drift: Vec<f64>,
    start: Vec<f64>,
    noise: Vec<f64>,
}

impl Batch {
    fn random(space: Space, n: usize, seed: u64) -> Self {
        let (samples, lengths) = (2, [7, 1, 12, 4, 12]);
        let mut offsets = vec![0];
        lengths.iter().for_each(|length| offsets.push(offsets[offsets.len() - 1] + length));
        let gaps = normals(seed, offsets[lengths.len()]);
        let mut now = -1.0;
        let times = gaps.iter().map(|gap| {
            now += 0.02 + 0.2 * gap.abs();
            now
        });
        let times: Vec<f64> = times.collect();
        let m = space.algebra_dim(n);
        let steps = times.len() - lengths.len();
        let mut start = normals(seed + 1, samples * lengths.len() * n);
        for z in start.chunks_exact_mut(n) {
            match space {
                Space::Sphere => {
                    let norm = dot(z, z).sqrt();
                    z.iter_mut().for_each(|z| *z /= norm);
                }
                Space::GeneralLinear => {}
                Space::Hyperbolic => z[0] = (1.0 + dot(&z[1..], &z[1..])).sqrt(),
            }
        }
        // Matrices of GL(n) and boosts let the states grow: less drift and noise for them.
        let scale = if space == Space::Sphere { 4.0 } else { 1.0 };
        let drift = normals(seed + 2, steps * m).iter().map(|k| scale * k).collect();
        let noise = normals(seed + 3, samples * steps * m);
        Self { space, n, sigma: 0.3 * scale, samples, offsets, times, drift, start, noise }
    }

    fn series(&self) -> usize {
        self.offsets.len() - 1
    }

    fn problem(&self) -> PathProblem<'_, f64> {
        PathProblem {
            space: self.space,
            dim: self.n,
            samples: self.samples,
            grid: Grid::PerSeries { offsets: &self.offsets, times: &self.times },
            drift: Drift::PerStep(PerStep(&self.drift)),
            prior: Prior::Driftless,
            sigma: self.sigma,
            start: &self.start,
            noise: Noise::Given(&self.noise),
            requests: Requests::All,
        }
    }

    /// The path and its divergence for one sample of one series, by the plain scheme.
    fn one_point_motion(
        &self,
        space: &dyn HomogeneousSpace<f64>,
        sample: usize,
        series: usize,
    ) -> (Vec<f64>, f64) {
        let (n, m) = (self.n, self.space.algebra_dim(self.n));
        let steps_before = |b: usize| self.offsets[b] - b;
        let [from, to] = [steps_before(series), steps_before(series + 1)];
        let all_steps = steps_before(self.series());
        let times = &self.times[self.offsets[series]..self.offsets[series + 1]];
        let time_steps: Vec<f64> = times.windows(2).map(|t| t[1] - t[0]).collect();
        let row = sample * self.series() + series;
        let start = &self.start[row * n..(row + 1) * n];
        let drift = &self.drift[from * m..to * m];
        let noise = &self.noise[(sample * all_steps + from) * m..(sample * all_steps + to) * m];
        let motion = OnePointMotion::new(space, self.sigma).unwrap();
        let path = motion.path(start, drift, &time_steps, noise).unwrap();
        let divergence = motion.path_divergence(&path, drift, &time_steps).unwrap();
        (path, divergence)
    }
}

fn assert_close(name: &str, actual: &[f64], expected: &[f64]) {
    assert_eq!(actual.len(), expected.len(), "{name}");
    for (i, (a, e)) in actual.iter().zip(expected).enumerate() {
        assert!((a - e).abs() <= 1e-12 * e.abs().max(1.0), "{name}[{i}]: {a} is not {e}");
    }
}

#[test]
fn kernel_agrees_with_the_one_point_motion() {
    for n in [2, 3, 4, 5, 7, 16] {
        let spheres: Box<dyn HomogeneousSpace<f64>> = Box::new(Sphere::new(n).unwrap());
        let matrices: Box<dyn HomogeneousSpace<f64>> = Box::new(GeneralLinear::new(n).unwrap());
        let boosts: Box<dyn HomogeneousSpace<f64>> = Box::new(Hyperbolic::new(n).unwrap());
        let spaces =
            [(Space::Sphere, spheres), (Space::GeneralLinear, matrices), (Space::Hyperbolic, boosts)];
        for (space, oracle) in spaces {
            let batch = Batch::random(space, n, 10 * n as u64);
            for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
                for memory in [Memory::Stored, Memory::Reversible] {
                    let path = PathSolver { level, memory, ..PathSolver::default() }
                        .forward(&batch.problem())
                        .unwrap();
                    let mut states = path.states.as_slice();
                    for row in 0..batch.samples * batch.series() {
                        let (sample, series) = (row / batch.series(), row % batch.series());
                        let (expected, divergence) = batch.one_point_motion(oracle.as_ref(), sample, series);
                        let (of_row, rest) = states.split_at(expected.len());
                        states = rest;
                        let name = format!("{space:?}, n = {n}, {level:?}, sample {sample}, series {series}");
                        assert_close(&name, of_row, &expected);
                        assert_close(&format!("{name}, divergence"), &path.kl[row..=row], &[divergence]);
                    }
                    assert!(states.is_empty());
                }
            }
        }
    }
}

/// `T_d(x) = cos(d arccos x)` gives the drift at the left end of every step.
#[test]
fn chebyshev_drift_is_the_drift_of_its_steps() {
    let batch = Batch::random(Space::Sphere, 4, 500);
    let (m, terms, interval) = (6, 5, (-1.5, 8.0));
    assert!(batch.times[0] > interval.0 && batch.times[batch.times.len() - 1] < interval.1);
    let coefficients = normals(504, batch.series() * m * terms);
    let mut drift = Vec::new();
    for (b, run) in batch.offsets.windows(2).enumerate() {
        for t in &batch.times[run[0]..run[1] - 1] {
            let angle = ((t - interval.0) / (interval.1 - interval.0)).acos();
            let polynomials: Vec<f64> = (0..terms).map(|d| (d as f64 * angle).cos()).collect();
            let of_series = &coefficients[b * m * terms..(b + 1) * m * terms];
            drift.extend(of_series.chunks_exact(terms).map(|of_entry| dot(of_entry, &polynomials)));
        }
    }
    let by_steps =
        solver().forward(&PathProblem { drift: Drift::PerStep(PerStep(&drift)), ..batch.problem() }).unwrap();
    let chebyshev = Drift::Chebyshev(Chebyshev { terms, interval, coefficients: &coefficients });
    let by_polynomials = solver().forward(&PathProblem { drift: chebyshev, ..batch.problem() }).unwrap();
    assert_close("states", &by_polynomials.states, &by_steps.states);
    assert_close("divergence", &by_polynomials.kl, &by_steps.kl);
}
