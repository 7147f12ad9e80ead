//! Steered paths.

use stroock_kernels::path::{
    Drift, Grid, Noise, PathProblem, PathSolver, PerStep, Prior, Requests, Scheme, Space,
};

use crate::motion::{Errors, Motion, axis, dot, strong_errors};

#[test]
fn strong_order_is_one_half() {
    let sphere = Motion {
        space: Space::Sphere,
        scheme: Scheme::Steered,
        n: 3,
        sigma: 1.0,
        drift: |_| vec![1.5, -0.5, 1.0],
        start: axis(3),
    };
    strong_errors("strong, S^2, sigma = 1, steered", &sphere, 400).assert_order(0.5, 0.1);
}

/// Where a step on the circle ends, for each of the given normals `[S, 2]`.
fn ends(b: [f64; 2], sigma: f64, start: [f64; 2], dt: f64, noise: &[f64]) -> Vec<f64> {
    let samples = noise.len() / 2;
    let problem = PathProblem {
        space: Space::Sphere,
        dim: 2,
        samples,
        grid: Grid::Shared(&[0.0, dt]),
        drift: Drift::PerStep(PerStep(&b)),
        prior: Prior::Driftless,
        sigma,
        start: &start.repeat(samples),
        noise: Noise::Given(noise),
        requests: Requests::At { offsets: &[0, 1], indices: &[1] },
    };
    PathSolver { scheme: Scheme::Steered, ..PathSolver::default() }.forward(&problem).unwrap().states
}

/// On the circle a step is a Markov kernel of one angle: its powers, by Fourier collocation and Gauss's quadrature, have
/// the mean of `z_T` without sampling. The reference is the same with `2^13` steps.
#[test]
fn weak_order_is_one() {
    const NODES: usize = 63;
    let (b, sigma) = ([0.0, 1.5], 1.0f64);
    // A trapezoidal rule over the normal number: exact to rounding.
    let quadrature: Vec<(f64, f64)> = (-60..=60)
        .map(|i| {
            let xi = f64::from(i) * 0.15;
            (xi, 0.15 * (-0.5 * xi * xi).exp() / std::f64::consts::TAU.sqrt())
        })
        .collect();
    let angle = |k: usize| std::f64::consts::TAU * k as f64 / NODES as f64;
    // Dirichlet's kernel: the trigonometric polynomial that is 1 at node 0 and 0 at the others.
    let cardinal = |x: f64| {
        let half = 0.5 * x;
        if half.sin().abs() < 1e-12 { 1.0 } else { (NODES as f64 * half).sin() / (NODES as f64 * half.sin()) }
    };
    let mean_after = |level: u32| {
        let dt = 0.5f64.powi(level as i32);
        let mut step = vec![0.0; NODES * NODES];
        for k in 0..NODES {
            let (sine, cosine) = angle(k).sin_cos();
            // Noise across the drifted state y: xi = (-y_1, y_0) times a number gives <xi, y> = 0.
            let drifted = ends(b, sigma, [cosine, sine], dt, &[0.0; 2]);
            let noise: Vec<f64> =
                quadrature.iter().flat_map(|(xi, _)| [-drifted[1] * xi, drifted[0] * xi]).collect();
            let ends = ends(b, sigma, [cosine, sine], dt, &noise);
            for (z, (_, weight)) in ends.chunks_exact(2).zip(&quadrature) {
                let end = z[1].atan2(z[0]);
                for l in 0..NODES {
                    step[k * NODES + l] += weight * cardinal(end - angle(l));
                }
            }
        }
        // E f(z_T) for f = sine, as a function of the start: f, then a step for as many times.
        let mut values: Vec<f64> = (0..NODES).map(|k| angle(k).sin()).collect();
        for _ in 0..1u32 << level {
            values = step.chunks_exact(NODES).map(|row| dot(row, &values)).collect();
        }
        values[0]
    };
    let reference = mean_after(13);
    let points: Vec<(f64, f64)> =
        (3..=8).map(|level| (0.5f64.powi(level as i32), (mean_after(level) - reference).abs())).collect();
    Errors { name: "weak, S^1, sigma = 1, steered, E z_T", points }.assert_order(1.0, 0.1);
}
