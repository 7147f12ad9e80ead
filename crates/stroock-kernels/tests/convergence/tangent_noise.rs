//! Noise along the space alone.

use stroock_kernels::path::{
    Drift, Grid, Noise, PathProblem, PathSolver, PerStep, Prior, Requests, Scheme, Space,
};

use crate::moments::normal_quadrature;
use crate::motion::{Errors, LEVELS, Motion, axis, strong_errors};

/// Noise that `n` Wiener processes drive through the lift at the state: the reference is the same equation with the
/// same processes, whose increments add up over the steps of a coarser grid.
#[test]
fn strong_order_is_one_half() {
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

/// Without drift a step of tangent noise on S^2 has the mean `f z` and the second moment
/// `g z z^T + (1 - g) / 2 (I - z z^T)`: measured from one step, and multiplied.
#[test]
fn weak_order_is_one_on_the_sphere() {
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
