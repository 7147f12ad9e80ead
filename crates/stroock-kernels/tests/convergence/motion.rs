//! Motions on grids of many sizes, and the order of their errors.

use stroock_kernels::noise::{NoiseKey, increments};
use stroock_kernels::path::{
    Drift, Grid, Noise, PathProblem, PathSolver, PerStep, Prior, Requests, Scheme, Space,
};
use stroock_kernels::simd::Level;

/// A motion over `[0, 1]`.
pub struct Motion {
    pub space: Space,
    pub scheme: Scheme,
    pub n: usize,
    pub sigma: f64,
    /// Coefficients of `K(t)`.
    pub drift: fn(f64) -> Vec<f64>,
    pub start: Vec<f64>,
}

impl Motion {
    /// Normals of a step.
    pub fn normals(&self) -> usize {
        match self.scheme {
            Scheme::GeometricEuler => self.space.algebra_dim(self.n),
            Scheme::TangentNoise | Scheme::Steered => self.n,
        }
    }

    /// `K(t_j)` for the steps of the grid.
    pub fn drifts(&self, steps: usize) -> Vec<f64> {
        (0..steps).flat_map(|j| (self.drift)(j as f64 / steps as f64)).collect()
    }

    /// Last states `[S, n]` on the grid that fits `noise` (`[S, steps, normals]`).
    pub fn last_states(&self, steps: usize, noise: &[f64]) -> Vec<f64> {
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

pub fn uniform_times(steps: usize) -> Vec<f64> {
    (0..=steps).map(|j| j as f64 / steps as f64).collect()
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

pub fn axis(n: usize) -> Vec<f64> {
    (0..n).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect()
}

/// Errors at decreasing steps.
pub struct Errors {
    pub name: &'static str,
    /// `(dt, error)`.
    pub points: Vec<(f64, f64)>,
}

impl Errors {
    /// The slope of `ln error` over `ln dt` by least squares.
    pub fn order(&self) -> f64 {
        let points: Vec<(f64, f64)> = self.points.iter().map(|(dt, e)| (dt.ln(), e.ln())).collect();
        let count = points.len() as f64;
        let (x, y) = points.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / count, sum.1 + p.1 / count));
        let covariance: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
        covariance / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
    }

    /// Prints the errors with the slopes between neighbours, and asserts the order.
    pub fn assert_order(&self, expected: f64, tolerance: f64) {
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
pub const LEVELS: [usize; 6] = [3, 4, 5, 6, 7, 8];
pub const REFERENCE: usize = 12;

/// The same Brownian motion on a grid of half as many steps: `[S, steps, m]` to `[S, steps / 2, m]`.
pub fn coarsened(noise: &[f64], m: usize) -> Vec<f64> {
    let pairs = noise.chunks_exact(2 * m);
    pairs.flat_map(|pair| (0..m).map(|k| (pair[k] + pair[m + k]) * 0.5f64.sqrt())).collect()
}

pub fn strong_errors(name: &'static str, motion: &Motion, paths: u32) -> Errors {
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
