//! Measured orders of convergence of the schemes, one file each.
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

mod geometric_euler;
mod moments;
mod motion;
mod steered;
mod tangent_noise;

use moments::{DRIFT, exact_mean, exact_second_moment_and_divergence};
use motion::Motion;
use stroock_kernels::noise::{NoiseKey, increments};
use stroock_kernels::path::{Scheme, Space};
use stroock_kernels::simd::Level;
use stroock_testing::statistics::estimate;

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
