//! The kernel agrees with the plain one-point motion.

use stroock_geometry::{GeneralLinear, HomogeneousSpace, Hyperbolic, OnePointMotion, Sphere};
use stroock_kernels::noise::{NoiseKey, increments};
use stroock_kernels::path::{
    Chebyshev, Drift, Grid, Memory, Noise, PathProblem, PathSolver, PerStep, Prior, Requests, Space,
};
use stroock_kernels::simd::Level;

fn solver() -> PathSolver {
    PathSolver { memory: Memory::Reversible, ..PathSolver::default() }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

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
