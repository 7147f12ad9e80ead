//! Paths, divergences and gradients against values of independent implementations.

use stroock_kernels::path::{
    Chebyshev, Drift, Grid, Memory, Noise, PathProblem, PathReal, PathSolver, PerStep, Prior, Requests, Space,
};
use stroock_kernels::simd::Level;
use stroock_testing::finite_difference::assert_close;
use stroock_testing::golden::{array, golden, golden_cases, number};

fn numbers<T: PathReal>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&x| T::of(x)).collect()
}

fn doubles<T: PathReal>(values: &[T]) -> Vec<f64> {
    values.iter().map(|x| x.as_f64()).collect()
}

/// Times from the lengths of the steps.
fn times<T: PathReal>(dt: &[f64]) -> Vec<T> {
    let mut times = vec![0.0];
    times.extend(dt.iter().scan(0.0, |t, dt| {
        *t += dt;
        Some(*t)
    }));
    numbers(&times)
}

fn golden_sphere<T: PathReal>(solver: PathSolver, tolerance: f64) {
    for case in golden_cases("geometric_euler.json") {
        let n = number(&case, "n") as usize;
        let [start, drift, noise] = ["z0", "drift", "noise"].map(|key| array(&case, key));
        let samples = start.shape[0];
        let times = times::<T>(&array(&case, "dt").entries);
        let [z0, values, xi] = [&start, &drift, &noise].map(|a| numbers::<T>(&a.entries));
        let problem = PathProblem {
            space: Space::Sphere,
            dim: n,
            samples,
            grid: Grid::Shared(&times),
            drift: Drift::PerStep(PerStep(&values)),
            prior: Prior::Driftless,
            sigma: T::of(number(&case, "sigma")),
            start: &z0,
            noise: Noise::Given(&xi),
            requests: Requests::All,
        };
        let path = solver.forward(&problem).unwrap();
        assert_close("path", &doubles(&path.states), &array(&case, "path").entries, tolerance);
        let series = start.shape[1];
        let mut kl = vec![0.0; series];
        for (row, value) in doubles(&path.kl).into_iter().enumerate() {
            kl[row % series] += value / samples as f64;
        }
        assert_close("kl_path", &kl, &array(&case, "kl_path").entries, tolerance);

        let of_states = numbers::<T>(&array(&case, "loss_weights").entries);
        let of_kl = vec![T::of(1.0 / samples as f64); samples * series];
        let gradients = solver.backward(&problem, &path.tape, &of_states, &of_kl).unwrap();
        assert_close("grad_z0", &doubles(&gradients.start), &array(&case, "grad_z0").entries, tolerance);
        assert_close(
            "grad_drift",
            &doubles(&gradients.drift),
            &array(&case, "grad_drift").entries,
            tolerance,
        );
        let of_sigma: f64 = doubles(&gradients.sigma).iter().sum();
        assert_close("grad_sigma", &[of_sigma], &[number(&case, "grad_sigma")], tolerance);
    }
}

#[test]
fn golden_sphere_in_double_precision() {
    for memory in [Memory::Stored, Memory::Reversible] {
        golden_sphere::<f64>(PathSolver { memory, ..PathSolver::default() }, 1e-12);
    }
}

#[test]
fn golden_sphere_in_single_precision_at_every_level() {
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        for memory in [Memory::Stored, Memory::Reversible] {
            golden_sphere::<f32>(PathSolver { level, memory, ..PathSolver::default() }, 2e-5);
        }
    }
}

#[test]
fn golden_general_linear() {
    for case in golden_cases("geometric_euler_gl.json") {
        let start = array(&case, "z0");
        let times = times::<f64>(&array(&case, "dt").entries);
        let (drift, noise) = (array(&case, "drift"), array(&case, "noise"));
        let problem = PathProblem {
            space: Space::GeneralLinear,
            dim: number(&case, "n") as usize,
            samples: start.shape[0],
            grid: Grid::Shared(&times),
            drift: Drift::PerStep(PerStep(&drift.entries)),
            prior: Prior::Driftless,
            sigma: number(&case, "sigma"),
            start: &start.entries,
            noise: Noise::Given(&noise.entries),
            requests: Requests::All,
        };
        let path = PathSolver::default().forward(&problem).unwrap();
        assert_close("path", &path.states, &array(&case, "path").entries, 1e-12);
    }
}

/// The drift inside the kernel, seen through paths without noise: one step from each basis vector shows
/// `exp(K(t) dt)`, whose logarithm to first order is `K(t) dt`.
#[test]
fn golden_chebyshev_drift() {
    let file = golden("chebyshev.json");
    let [terms, m] = ["degree", "out_dim"].map(|key| number(&file, key) as usize);
    let dim = (2..).find(|&n| Space::Sphere.algebra_dim(n) >= m).expect("a dimension");
    assert_eq!(Space::Sphere.algebra_dim(dim), m, "the drift is one of rotations");
    let [weight, bias, h, t, value] = ["weight", "bias", "h", "t", "value"].map(|key| array(&file, key));
    let width = h.shape[1];
    let interval = (number(&file, "time_min"), number(&file, "time_max"));
    for (b, h) in h.entries.chunks(width).enumerate() {
        let coefficients: Vec<f64> = weight
            .entries
            .chunks(width)
            .zip(&bias.entries)
            .map(|(row, bias)| bias + row.iter().zip(h).map(|(w, h)| w * h).sum::<f64>())
            .collect();
        for (j, &t) in t.entries.iter().enumerate() {
            let dt = 1e-6;
            let expected = &value.entries[(b * value.shape[1] + j) * m..][..m];
            // The rate at which coordinate `i` of the basis vector `j` grows.
            let read = |i: usize, j: usize| {
                let mut start = vec![0.0; dim];
                start[j] = 1.0;
                let problem = PathProblem {
                    space: Space::Sphere,
                    dim,
                    samples: 1,
                    grid: Grid::Shared(&[t, t + dt]),
                    drift: Drift::Chebyshev(Chebyshev { terms, interval, coefficients: &coefficients }),
                    prior: Prior::Driftless,
                    sigma: 1.0,
                    start: &start,
                    noise: Noise::Given(&vec![0.0; m]),
                    requests: Requests::At { offsets: &[0, 1], indices: &[1] },
                };
                PathSolver::default().forward(&problem).unwrap().states[i] / dt
            };
            // Lower triangle row by row: (1,0), (2,0), (2,1), ...
            let actual: Vec<f64> =
                (1..dim).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| read(i, j)).collect();
            assert_close("drift", &actual, expected, 1e-4);
        }
    }
}
