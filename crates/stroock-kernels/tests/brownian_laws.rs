//! Distributions of the simulated paths against closed forms: moments, invariance, divergence, membership.
//!
//! Seeds are fixed and every bound is five standard errors. The scheme has a weak error of first order,
//! which these tests keep below a quarter of the standard error and assert to be so. It is known in closed
//! form: in the mean of any function, and up to second order, the scheme with steps `dt` is the exact motion
//! with
//!
//! ```text
//! K (1 + (n-2)/6 sigma^2 dt)    in place of K,
//! sigma^2 (1 + (n-2)/12 sigma^2 dt)    in place of sigma^2,
//! ```
//!
//! since `sum_i E_i K E_i` and `sum_ij E_i E_j E_i E_j` differ from the products in order by multiples of the
//! Casimir operator of the adjoint representation, `-2 (n-2)`. `tests/convergence` checks this expansion
//! to second order without sampling.

use stroock_geometry::distribution::UniformSphere;
use stroock_kernels::noise::{NoiseKey, Purpose, increments};
use stroock_kernels::path::{
    Chebyshev, Drift, Grid, Memory, Noise, Path, PathProblem, PathSolver, Prior, Requests, Space,
};
use stroock_kernels::simd::Level;
use stroock_testing::statistics::estimate;

/// A motion with constant drift, on a grid of alternating short and long steps.
struct Motion {
    space: Space,
    n: usize,
    sigma: f64,
    /// Coefficients of `K`.
    drift: Vec<f64>,
    times: Vec<f64>,
}

impl Motion {
    /// On `[0, 1]`, without drift.
    fn driftless(space: Space, n: usize, sigma: f64, steps: usize) -> Self {
        let drift = vec![0.0; space.algebra_dim(n)];
        Self { space, n, sigma, drift, times: alternating_times(steps) }
    }

    /// On the sphere, with a drift whose coefficients are normal numbers times `scale`.
    fn with_drift(n: usize, sigma: f64, scale: f64, steps: usize) -> Self {
        let m = Space::Sphere.algebra_dim(n);
        let unit: Vec<f64> = increments(Level::Portable, NoiseKey::new(77, 0), 0, 0, 1, m);
        let drift = unit.iter().map(|c| scale * c).collect();
        Self { drift, ..Self::driftless(Space::Sphere, n, sigma, steps) }
    }

    fn steps(&self) -> usize {
        self.times.len() - 1
    }

    /// Paths from `start` (`[S, n]`) with the states at `indices`.
    fn simulate(&self, seed: u64, start: &[f64], indices: &[usize]) -> Path<f32> {
        let single = |x: &[f64]| x.iter().map(|&x| x as f32).collect::<Vec<f32>>();
        let (times, drift) = (single(&self.times), single(&self.drift));
        let problem = PathProblem {
            space: self.space,
            dim: self.n,
            samples: start.len() / self.n,
            grid: Grid::Shared(&times),
            drift: Drift::Chebyshev(Chebyshev { terms: 1, interval: (0.0, 1.0), coefficients: &drift }),
            prior: Prior::Driftless,
            sigma: self.sigma as f32,
            start: &single(start),
            noise: Noise::Counter { key: NoiseKey::new(seed, 0), series: &[0], first_sample: 0 },
            requests: Requests::At { offsets: &[0, indices.len()], indices },
        };
        let solver = PathSolver { memory: Memory::Reversible, ..PathSolver::default() };
        solver.forward(&problem).unwrap()
    }

    /// The factor `(n-2)/12 sigma^2 dt` of the weak error, with the mean of `dt` over the first steps
    /// weighted by `dt`.
    fn weak_error(&self, steps: usize) -> f64 {
        let squares: f64 = self.times[..=steps].windows(2).map(|t| (t[1] - t[0]).powi(2)).sum();
        (self.n as f64 - 2.0) / 12.0 * self.sigma.powi(2) * squares / self.times[steps]
    }

    /// The drift and noise of the exact motion that the scheme follows up to second order.
    fn modified(&self) -> Motion {
        let x = self.weak_error(self.steps());
        let drift = self.drift.iter().map(|c| c * (1.0 + 2.0 * x)).collect();
        Motion { sigma: self.sigma * (1.0 + x).sqrt(), drift, times: self.times.clone(), ..*self }
    }

    /// `E z_t = exp((K - sigma^2 (n-1)/2) t) z_0` on the sphere.
    fn mean(&self, t: f64, start: &[f64]) -> Vec<f64> {
        let decay = (-self.sigma.powi(2) * (self.n as f64 - 1.0) / 2.0 * t).exp();
        let turned = exponential_action(&skew(self.n, &self.drift), t, start);
        turned.iter().map(|x| decay * x).collect()
    }
}

/// Steps of `1/2` and `3/2` times `1 / steps` in turn, ending at 1.
fn alternating_times(steps: usize) -> Vec<f64> {
    assert_eq!(steps % 2, 0);
    (0..=steps).map(|j| (j as f64 - 0.5 * (j % 2) as f64) / steps as f64).collect()
}

/// The skew matrix with `coefficients` in its strictly lower triangle, row by row.
fn skew(n: usize, coefficients: &[f64]) -> Vec<f64> {
    let mut matrix = vec![0.0; n * n];
    let mut rest = coefficients.iter();
    for i in 0..n {
        for j in 0..i {
            let c = rest.next().copied().unwrap();
            matrix[i * n + j] = c;
            matrix[j * n + i] = -c;
        }
    }
    matrix
}

fn apply(matrix: &[f64], z: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(z.len()).map(|row| dot(row, z)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `exp(t A) z` by the Taylor series, for matrices of moderate norm.
fn exponential_action(a: &[f64], t: f64, z: &[f64]) -> Vec<f64> {
    let (mut sum, mut term) = (z.to_vec(), z.to_vec());
    for k in 1..60 {
        term = apply(a, &term).iter().map(|x| x * t / k as f64).collect();
        sum.iter_mut().zip(&term).for_each(|(sum, term)| *sum += term);
    }
    sum
}

/// A point of the sphere, no coordinate of it small.
fn point(n: usize) -> Vec<f64> {
    let z: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 + i as f64 } else { -1.5 - i as f64 }).collect();
    let norm = dot(&z, &z).sqrt();
    z.iter().map(|x| x / norm).collect()
}

fn axis(n: usize, i: usize) -> Vec<f64> {
    (0..n).map(|j| f64::from(u8::from(i == j))).collect()
}

/// The states of request `q`, one for every sample.
fn states(path: &Path<f32>, n: usize, requests: usize, q: usize) -> impl Iterator<Item = Vec<f64>> + '_ {
    let of_samples = path.states.chunks_exact(requests * n);
    of_samples.map(move |states| states[q * n..(q + 1) * n].iter().map(|&x| f64::from(x)).collect())
}

/// Asserts the mean, and that the weak error of the scheme is too small to be seen.
fn assert_distribution(name: &str, draws: impl Iterator<Item = f64>, expected: f64, weak_error: f64) {
    let estimate = estimate(draws);
    assert!(
        weak_error.abs() <= 0.25 * estimate.standard_error,
        "{name}: weak error {weak_error:e}, standard error {:e}",
        estimate.standard_error
    );
    estimate.assert_mean(name, expected);
}

/// The zonal polynomial of degree `l` on S^{n-1}, 1 at `x = 1` (Legendre's for n = 3, Gegenbauer's in
/// general). It is an eigenfunction of the Laplacian:
/// `E P(<a, z_t>) = exp(-sigma^2 l (l+n-2) t/2) P(<a, z_0>)`.
fn zonal(n: usize, l: usize, x: f64) -> f64 {
    let n = n as f64;
    let (mut previous, mut current) = (1.0, x);
    if l == 0 {
        return 1.0;
    }
    for k in 1..l {
        let k = k as f64;
        let next = ((2.0 * k + n - 2.0) * x * current - k * previous) / (k + n - 2.0);
        (previous, current) = (current, next);
    }
    current
}

/// `sigma^2 l (l+n-2) / 2`.
fn zonal_decay(n: usize, l: usize, sigma: f64) -> f64 {
    0.5 * sigma.powi(2) * (l * (l + n - 2)) as f64
}

#[test]
fn mean_of_the_brownian_motion_decays_with_the_pinning_drift() {
    for (n, sigma, steps, samples) in [(3, 1.0, 64, 40_000), (5, 0.7, 128, 40_000), (16, 0.3, 128, 20_000)] {
        let motion = Motion::driftless(Space::Sphere, n, sigma, steps);
        let start = point(n);
        let indices = [steps / 8, steps / 2, steps];
        let path = motion.simulate(100 + n as u64, &start.repeat(samples), &indices);
        for (q, &index) in indices.iter().enumerate() {
            let t = motion.times[index];
            let rate = zonal_decay(n, 1, sigma);
            for (i, z_0) in start.iter().enumerate() {
                let expected = (-rate * t).exp() * z_0;
                let weak_error = expected * rate * t * motion.weak_error(index);
                let draws = states(&path, n, indices.len(), q).map(|z| z[i]);
                assert_distribution(&format!("n = {n}, t = {t}, z_{i}"), draws, expected, weak_error);
            }
        }
    }
}

/// `d/dt E[z z^T] = sigma^2 (I - n E[z z^T])`, by Ito's formula and `d<z, z^T> = sigma^2 (I - z z^T) dt`.
#[test]
fn second_moments_relax_to_the_uniform_ones() {
    for (n, sigma, steps, samples) in [(3, 1.0, 128, 20_000), (5, 0.7, 128, 20_000), (16, 0.3, 128, 10_000)] {
        let motion = Motion::driftless(Space::Sphere, n, sigma, steps);
        let start = point(n);
        let indices = [steps / 4, steps];
        let path = motion.simulate(200 + n as u64, &start.repeat(samples), &indices);
        for (q, &index) in indices.iter().enumerate() {
            let t = motion.times[index];
            let rate = sigma.powi(2) * n as f64;
            for i in 0..n.min(6) {
                for j in 0..=i {
                    let uniform = if i == j { 1.0 / n as f64 } else { 0.0 };
                    let distance = (-rate * t).exp() * (start[i] * start[j] - uniform);
                    let weak_error = distance * rate * t * motion.weak_error(index);
                    let draws = states(&path, n, indices.len(), q).map(|z| z[i] * z[j]);
                    let name = format!("n = {n}, t = {t}, z_{i} z_{j}");
                    assert_distribution(&name, draws, uniform + distance, weak_error);
                }
            }
        }
    }
}

#[test]
fn law_of_a_coordinate_depends_on_its_start_alone() {
    let (n, sigma, steps, samples) = (4, 0.7, 256, 20_000);
    let motion = Motion::driftless(Space::Sphere, n, sigma, steps);
    // Three directions for each of three starts: axes, and ones that no basis matrix prefers.
    let half = 0.5f64.sqrt();
    let directions = [axis(n, 0), axis(n, 3), vec![0.5, -0.5, 0.5, 0.5]];
    let starts = [axis(n, 0), vec![0.0, half, 0.0, -half], point(n)];
    let index = steps / 2;
    let t = motion.times[index];
    for (s, start) in starts.iter().enumerate() {
        let path = motion.simulate(300 + s as u64, &start.repeat(samples), &[index]);
        for (d, a) in directions.iter().enumerate() {
            for l in 1..=4 {
                let rate = zonal_decay(n, l, sigma);
                let expected = (-rate * t).exp() * zonal(n, l, dot(a, start));
                let weak_error = expected * rate * t * motion.weak_error(index);
                let draws = states(&path, n, 1, 0).map(|z| zonal(n, l, dot(a, &z)));
                assert_distribution(
                    &format!("degree {l}, start {s}, direction {d}"),
                    draws,
                    expected,
                    weak_error,
                );
            }
        }
    }
}

/// The scheme itself is invariant, so few and long steps will do: no weak error enters.
#[test]
fn rotated_starts_give_rotated_distributions() {
    let (n, samples) = (3, 40_000);
    let motion = Motion::driftless(Space::Sphere, n, 1.3, 4);
    // Pairs (start, direction) with the inner product 0.6.
    let pairs = [
        (axis(n, 0), vec![0.6, 0.8, 0.0]),
        (axis(n, 2), vec![-0.8, 0.0, 0.6]),
        (vec![0.0, 0.6, -0.8], vec![0.0, 1.0, 0.0]),
        (vec![0.48, 0.6, 0.64], vec![0.0, 1.0, 0.0]),
    ];
    let draws = pairs.iter().enumerate().map(|(p, (start, a))| {
        let path = motion.simulate(400 + p as u64, &start.repeat(samples), &[1, 4]);
        let at = |q| states(&path, n, 2, q).map(|z| dot(a, &z)).collect::<Vec<f64>>();
        [at(0), at(1)]
    });
    let draws: Vec<[Vec<f64>; 2]> = draws.collect();
    for (p, of_pair) in draws.iter().enumerate().skip(1) {
        for q in 0..2 {
            for power in 1..=4 {
                let differences =
                    of_pair[q].iter().zip(&draws[0][q]).map(|(x, y)| x.powi(power) - y.powi(power));
                estimate(differences).assert_mean(&format!("pair {p}, request {q}, moment {power}"), 0.0);
            }
        }
    }
}

/// Independent uniform points, `[samples, n]`.
fn uniform_starts(n: usize, samples: usize) -> Vec<f64> {
    let mut stream = NoiseKey::new(500, 0).stream(Purpose::Start, 0, 0);
    let mut starts = vec![0.0; samples * n];
    let uniform = UniformSphere::new(n).unwrap();
    for start in starts.chunks_exact_mut(n) {
        uniform.sample(&mut stream, start).unwrap();
    }
    starts
}

/// Rotations keep the uniform distribution, with drift too and for steps of any length: no weak error enters.
#[test]
fn uniform_distribution_is_stationary() {
    for (n, scale, steps) in [(3, 0.0, 20), (5, 2.0, 20), (16, 1.0, 8)] {
        let motion = Motion::with_drift(n, 1.0, scale, steps);
        let path = motion.simulate(500 + n as u64, &uniform_starts(n, 20_000), &[1, steps / 2, steps]);
        for (d, a) in [axis(n, 0), axis(n, n - 1), point(n)].iter().enumerate() {
            for q in 0..3 {
                for l in 1..=4 {
                    let draws = states(&path, n, 3, q).map(|z| zonal(n, l, dot(a, &z)));
                    estimate(draws)
                        .assert_mean(&format!("n = {n}, direction {d}, request {q}, degree {l}"), 0.0);
                }
            }
        }
    }
}

#[test]
fn mean_with_drift_turns_and_decays() {
    for (n, sigma, steps, samples) in [(3, 1.0, 512, 10_000), (5, 0.6, 512, 10_000), (16, 0.3, 512, 5_000)] {
        let motion = Motion::with_drift(n, sigma, 1.0, steps);
        let modified = motion.modified();
        let start = point(n);
        let indices = [steps / 4, steps / 2, steps];
        let path = motion.simulate(600 + n as u64, &start.repeat(samples), &indices);
        for (q, &index) in indices.iter().enumerate() {
            let t = motion.times[index];
            let (exact, of_scheme) = (motion.mean(t, &start), modified.mean(t, &start));
            for i in 0..n {
                let draws = states(&path, n, indices.len(), q).map(|z| z[i]);
                let name = format!("n = {n}, t = {t}, z_{i}");
                assert_distribution(&name, draws, exact[i], of_scheme[i] - exact[i]);
            }
        }
    }
}

/// `|K z|^2 = tr(K^T K M)` on average at the times of the grid and halfway between them, with
/// `M' = K M + M K^T + sigma^2 (I - n M)` for `M = E[z z^T]`, by the Runge-Kutta method of fourth order.
fn mean_speed_squared(motion: &Motion, start: &[f64]) -> Vec<f64> {
    let n = motion.n;
    let k = skew(n, &motion.drift);
    let variance = motion.sigma.powi(2);
    let velocity = |m: &[f64]| {
        let mut out = vec![0.0; n * n];
        for (place, out) in out.iter_mut().enumerate() {
            let (i, j) = (place / n, place % n);
            let turning: f64 =
                (0..n).map(|l| k[i * n + l] * m[l * n + j] + m[i * n + l] * k[j * n + l]).sum();
            let identity = if i == j { 1.0 } else { 0.0 };
            *out = turning + variance * (identity - n as f64 * m[place]);
        }
        out
    };
    let speed = |m: &[f64]| {
        let columns = (0..n).map(|i| (0..n).map(|j| k[j * n + i]).collect::<Vec<f64>>());
        let columns: Vec<Vec<f64>> = columns.collect();
        (0..n * n).map(|place| dot(&columns[place / n], &columns[place % n]) * m[place]).sum()
    };
    let moved =
        |m: &[f64], v: &[f64], dt: f64| m.iter().zip(v).map(|(m, v)| m + dt * v).collect::<Vec<f64>>();
    let mut m: Vec<f64> = (0..n * n).map(|place| start[place / n] * start[place % n]).collect();
    let mut speeds = vec![speed(&m)];
    for t in motion.times.windows(2) {
        let dt = (t[1] - t[0]) / 2.0;
        for _ in 0..2 {
            let v_1 = velocity(&m);
            let v_2 = velocity(&moved(&m, &v_1, dt / 2.0));
            let v_3 = velocity(&moved(&m, &v_2, dt / 2.0));
            let v_4 = velocity(&moved(&m, &v_3, dt));
            for (i, m) in m.iter_mut().enumerate() {
                *m += dt / 6.0 * (v_1[i] + 2.0 * v_2[i] + 2.0 * v_3[i] + v_4[i]);
            }
            speeds.push(speed(&m));
        }
    }
    speeds
}

/// `1/(2 sigma^2) int E|K z_t|^2 dt`, by Simpson's rule on every step.
fn divergence(motion: &Motion, start: &[f64]) -> f64 {
    let speeds = mean_speed_squared(motion, start);
    let integral =
        motion.times.windows(2).enumerate().map(|(j, t)| {
            (t[1] - t[0]) / 6.0 * (speeds[2 * j] + 4.0 * speeds[2 * j + 1] + speeds[2 * j + 2])
        });
    integral.sum::<f64>() / (2.0 * motion.sigma.powi(2))
}

/// What the scheme gives on average up to second order: the sum over left ends, along the modified motion.
fn divergence_of_scheme(motion: &Motion, start: &[f64]) -> f64 {
    let speeds = mean_speed_squared(&motion.modified(), start);
    let sum = motion.times.windows(2).enumerate().map(|(j, t)| (t[1] - t[0]) * speeds[2 * j]);
    sum.sum::<f64>() / (2.0 * motion.sigma.powi(2))
}

#[test]
fn divergence_has_its_closed_form() {
    for (n, sigma, scale, steps, samples) in [(3, 1.0, 1.0, 2048, 5_000), (5, 0.6, 1.0, 1024, 5_000)] {
        let motion = Motion::with_drift(n, sigma, scale, steps);
        let start = point(n);
        let path = motion.simulate(700 + n as u64, &start.repeat(samples), &[]);
        let exact = divergence(&motion, &start);
        let weak_error = divergence_of_scheme(&motion, &start) - exact;
        let draws = path.kl.iter().map(|&kl| f64::from(kl));
        assert_distribution(&format!("n = {n}"), draws, exact, weak_error);
    }
}

/// In the plane every rotation has `|K z|^2 = k^2`, so that every path has the same divergence.
#[test]
fn divergence_of_a_planar_rotation_is_exact() {
    let (k, sigma) = (1.7, 0.4);
    let motion = Motion { drift: vec![k], ..Motion::driftless(Space::Sphere, 2, sigma, 30) };
    let path = motion.simulate(800, &point(2).repeat(100), &[]);
    let exact = k * k / (2.0 * sigma * sigma);
    for &kl in &path.kl {
        assert!((f64::from(kl) / exact - 1.0).abs() < 1e-5, "{kl} is not {exact}");
    }
}

/// From the uniform distribution, which stays, `E|K z|^2 = |K|_F^2 / n` for steps of any length.
#[test]
fn divergence_from_the_uniform_start_is_that_of_the_frobenius_norm() {
    for n in [3, 5, 16] {
        let motion = Motion::with_drift(n, 0.8, 1.0, 16);
        let path = motion.simulate(900 + n as u64, &uniform_starts(n, 20_000), &[]);
        let expected = frobenius_squared(&motion) / n as f64 / (2.0 * motion.sigma.powi(2));
        estimate(path.kl.iter().map(|&kl| f64::from(kl))).assert_mean(&format!("n = {n}"), expected);
    }
}

fn frobenius_squared(motion: &Motion) -> f64 {
    let k = skew(motion.n, &motion.drift);
    dot(&k, &k)
}

/// The eigenvalues of a skew `K` come in pairs, so `|K z|^2 <= |K|_F^2 / 2` on the sphere.
#[test]
fn divergence_is_bounded_on_every_path() {
    for n in [2, 3, 5, 16] {
        let motion = Motion::with_drift(n, 0.5, 3.0, 50);
        let path = motion.simulate(1000 + n as u64, &uniform_starts(n, 2_000), &[]);
        let bound = frobenius_squared(&motion) / 2.0 / (2.0 * motion.sigma.powi(2));
        assert!(path.kl.iter().all(|&kl| f64::from(kl) <= bound * (1.0 + 1e-5)), "n = {n}");
    }
}

/// `1/2 sum_i V_i^2 = sigma^2 / 2`, since of the unit matrices only the diagonal ones have a square. The
/// scheme's weak error has the factor `(n-1)/24 sigma^4 dt t`, by `sum_i E_i X E_i = X^T`.
#[test]
fn mean_under_the_general_linear_group_grows() {
    for (n, sigma, steps, samples) in [(2, 0.6, 64, 40_000), (4, 0.5, 64, 40_000)] {
        let motion = Motion::driftless(Space::GeneralLinear, n, sigma, steps);
        let start: Vec<f64> = point(n).iter().map(|x| 1.5 * x).collect();
        let indices = [steps / 4, steps];
        let path = motion.simulate(1100 + n as u64, &start.repeat(samples), &indices);
        for (q, &index) in indices.iter().enumerate() {
            let t = motion.times[index];
            let squares: f64 = motion.times[..=index].windows(2).map(|t| (t[1] - t[0]).powi(2)).sum();
            for i in 0..n {
                let expected = (0.5 * sigma.powi(2) * t).exp() * start[i];
                let weak_error = expected * (n as f64 - 1.0) / 24.0 * sigma.powi(4) * squares;
                let draws = states(&path, n, indices.len(), q).map(|z| z[i]);
                assert_distribution(&format!("GL({n}), t = {t}, z_{i}"), draws, expected, weak_error);
            }
        }
    }
}

/// `d|z|^2 = (1 + n) sigma^2 |z|^2 dt + 2 sigma |z|^2 dw`, so `ln |z_t|` is normal with the variance
/// `sigma^2 t` and moves by `(n-1)/2 sigma^2 t` in the mean.
#[test]
fn logarithm_of_the_norm_under_the_general_linear_group_is_normal() {
    let (n, sigma, steps, samples) = (3, 0.6, 256, 10_000);
    let motion = Motion::driftless(Space::GeneralLinear, n, sigma, steps);
    let path = motion.simulate(1200, &point(n).repeat(samples), &[steps]);
    let (mean, variance) = (sigma.powi(2), sigma.powi(2));
    let sds = || states(&path, n, 1, 0).map(|z| (dot(&z, &z).sqrt().ln() - mean) / variance.sqrt());
    for (power, moment) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
        estimate(sds().map(|x| x.powi(power))).assert_mean(&format!("moment {power}"), moment);
    }
}

#[test]
fn ten_thousand_steps_in_single_precision_stay_on_the_sphere() {
    for n in [3, 16, 64] {
        let steps = 10_000;
        let times: Vec<f32> = (0..=steps).map(|j| j as f32 / 128.0).collect();
        let m = Space::Sphere.algebra_dim(n);
        let samples = 2;
        let drift: Vec<f32> = increments(Level::Portable, NoiseKey::new(1300, 0), 0, 0, 1, m);
        let drift: Vec<f32> = drift.iter().map(|c| 3.0 * c).collect();
        let start: Vec<f32> = point(n).iter().map(|&x| x as f32).collect();
        let problem = PathProblem {
            space: Space::Sphere,
            dim: n,
            samples,
            grid: Grid::Shared(&times),
            drift: Drift::Chebyshev(Chebyshev { terms: 1, interval: (0.0, 1.0), coefficients: &drift }),
            prior: Prior::Driftless,
            sigma: 1.0,
            start: &start.repeat(samples),
            noise: Noise::Counter { key: NoiseKey::new(1301, 0), series: &[0], first_sample: 0 },
            requests: Requests::All,
        };
        let solver = PathSolver { memory: Memory::Reversible, ..PathSolver::default() };
        let path = solver.forward(&problem).unwrap();
        let residual = |z: &[f32]| (z.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt() - 1.0).abs();
        let largest = path.states.chunks_exact(n).map(residual).fold(0.0, f64::max);
        println!("n = {n}: largest distance from the sphere {largest:e}");
        assert!(largest <= 1e-5, "n = {n}: {largest:e}");
    }
}
