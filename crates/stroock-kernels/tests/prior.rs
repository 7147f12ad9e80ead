//! The divergence from a prior with a drift: special cases, closed forms and a plain recomputation.

mod problems;

use std::f64::consts::PI;

use problems::Batch;
use stroock_kernels::path::{
    Chebyshev, Drift, Grid, Memory, Noise, Path, PathProblem, PathReal, PathSolver, PerStep, Prior, Requests,
    Space,
};
use stroock_kernels::simd::Level;
use stroock_testing::finite_difference::assert_close;

fn solvers() -> impl Iterator<Item = PathSolver> {
    let memories = [Memory::Stored, Memory::Reversible];
    Level::ALL
        .into_iter()
        .flat_map(move |level| memories.map(|memory| PathSolver { level, memory, ..PathSolver::default() }))
}

fn bits<T: PathReal>(values: &[T]) -> Vec<u64> {
    values.iter().map(|x| x.as_f64().to_bits()).collect()
}

/// States, divergences and gradients (of the start, the drift, the prior and the scale).
fn run<T: PathReal>(solver: PathSolver, problem: &PathProblem<'_, T>) -> (Path<T>, [Vec<T>; 4]) {
    let path = solver.forward(problem).unwrap();
    let of_states: Vec<T> = path.states.iter().map(|z| z.sin()).collect();
    let of_kl = vec![T::of(0.7); path.kl.len()];
    let gradients = solver.backward(problem, &path.tape, &of_states, &of_kl).unwrap();
    (path, [gradients.start, gradients.drift, gradients.prior, gradients.sigma])
}

fn batches<T: PathReal>() -> [Batch<T>; 4] {
    [
        Batch::chebyshev(Space::Sphere, 5, 11, 2, 7),
        Batch::ragged(Space::Sphere, 4, 19, 1),
        Batch::chebyshev(Space::GeneralLinear, 3, 9, 1, 8),
        Batch::ragged(Space::GeneralLinear, 2, 10, 2),
    ]
}

fn a_prior_of_zeros_is_driftless_to_the_last_bit<T: PathReal>() {
    for (batch, solver) in
        batches::<T>().iter().flat_map(|batch| solvers().map(move |solver| (batch, solver)))
    {
        let mut zeros = batch.clone().with_prior(3);
        zeros.prior.fill(T::zero());
        let (path, [start, drift, prior, sigma]) = run(solver, &batch.problem());
        let (of_zeros, [start_of_zeros, drift_of_zeros, prior_of_zeros, sigma_of_zeros]) =
            run(solver, &zeros.problem());
        assert_eq!(bits(&of_zeros.states), bits(&path.states), "{solver:?}");
        assert_eq!(bits(&of_zeros.kl), bits(&path.kl), "{solver:?}");
        for (of_zeros, driftless) in
            [(&start_of_zeros, &start), (&drift_of_zeros, &drift), (&sigma_of_zeros, &sigma)]
        {
            assert_eq!(bits(of_zeros), bits(driftless), "{solver:?}");
        }
        assert!(prior.is_empty());
        assert_eq!(prior_of_zeros.len(), zeros.prior.len());
        assert!(prior_of_zeros.iter().any(|g| *g != T::zero()));
    }
}

#[test]
fn a_prior_of_zeros_is_driftless() {
    a_prior_of_zeros_is_driftless_to_the_last_bit::<f32>();
    a_prior_of_zeros_is_driftless_to_the_last_bit::<f64>();
}

fn a_drift_is_no_further_than_itself<T: PathReal>() {
    for space in [Space::Sphere, Space::GeneralLinear] {
        let batch = Batch::<T>::chebyshev(space, 5, 21, 2, 9);
        let Drift::Chebyshev(Chebyshev { terms, interval, coefficients }) = batch.problem().drift else {
            unreachable!()
        };
        let prior = Prior::Drift(Drift::Chebyshev(Chebyshev { terms, interval, coefficients }));
        let problem = PathProblem { prior, ..batch.problem() };
        for solver in solvers() {
            let (path, [_, _, of_prior, _]) = run(solver, &problem);
            assert!(path.kl.iter().all(|kl| *kl == T::zero()), "{solver:?}: {:?}", path.kl);
            assert!(of_prior.iter().all(|g| *g == T::zero()), "{solver:?}");
            // The prior moves nothing.
            let driftless = solver.forward(&batch.problem()).unwrap();
            assert_eq!(bits(&path.states), bits(&driftless.states), "{solver:?}");
        }
    }
}

#[test]
fn the_divergence_from_the_drift_itself_is_exactly_zero() {
    a_drift_is_no_further_than_itself::<f32>();
    a_drift_is_no_further_than_itself::<f64>();
}

/// On `S^1` with constant drifts `k` and `p` every path has `|D z| = |k - p|`, whatever the noise.
#[test]
fn constant_drifts_on_the_circle() {
    let (k, p, sigma) = ([3.0, -1.0], [0.5, 2.0], 0.3);
    let times: Vec<f64> = (0..=40).map(|j| (j as f64 / 40.0).powi(2) * 1.7).collect();
    let noise: Vec<f64> = (0..2 * 40).map(|i| problems::scatter(8, i) * 2.0).collect();
    let problem = PathProblem {
        space: Space::Sphere,
        dim: 2,
        samples: 1,
        grid: Grid::Shared(&times),
        drift: Drift::Chebyshev(Chebyshev { terms: 1, interval: (0.0, 1.0), coefficients: &k }),
        prior: Prior::Drift(Drift::Chebyshev(Chebyshev { terms: 1, interval: (0.0, 1.0), coefficients: &p })),
        sigma,
        start: &[1.0, 0.0, 0.6, 0.8],
        noise: Noise::Given(&noise),
        requests: Requests::All,
    };
    for solver in solvers() {
        let path = solver.forward(&problem).unwrap();
        let expected: Vec<f64> =
            k.iter().zip(p).map(|(k, p)| 1.7 * (k - p) * (k - p) / (2.0 * sigma * sigma)).collect();
        assert_close("kl", &path.kl, &expected, 1e-12);
        let of_states = vec![0.0; path.states.len()];
        let gradients = solver.backward(&problem, &path.tape, &of_states, &[1.0, 1.0]).unwrap();
        let slope: Vec<f64> = k.iter().zip(p).map(|(k, p)| 1.7 * (k - p) / (sigma * sigma)).collect();
        assert_close("drift", &gradients.drift, &slope, 1e-12);
        let negative: Vec<f64> = slope.iter().map(|g| -g).collect();
        assert_close("prior", &gradients.prior, &negative, 1e-12);
    }
}

/// A turn of speed `k` along the equator of `S^2`, against a prior that turns with speed `p` around the first
/// axis: `|D z|^2 = k^2 + p^2 sin^2(k t)`, whose sum over the steps of one turn is `T (k^2 + p^2 / 2)`.
#[test]
fn a_turn_against_a_prior_around_another_axis() {
    let (k, p, sigma, steps) = (2.0 * PI, 1.5, 0.4, 12);
    let times: Vec<f64> = (0..=steps).map(|j| j as f64 / steps as f64).collect();
    let problem = PathProblem {
        space: Space::Sphere,
        dim: 3,
        samples: 1,
        grid: Grid::Shared(&times),
        drift: Drift::Chebyshev(Chebyshev { terms: 1, interval: (0.0, 1.0), coefficients: &[k, 0.0, 0.0] }),
        prior: Prior::Drift(Drift::Chebyshev(Chebyshev {
            terms: 1,
            interval: (0.0, 2.0),
            coefficients: &[0.0, 0.0, p],
        })),
        sigma,
        start: &[1.0, 0.0, 0.0],
        noise: Noise::Given(&vec![0.0; steps * 3]),
        requests: Requests::All,
    };
    for solver in solvers() {
        let path = solver.forward(&problem).unwrap();
        assert_close("kl", &path.kl, &[(k * k + p * p / 2.0) / (2.0 * sigma * sigma)], 1e-12);
    }
}

/// The sum of the definition over the states that the kernel returns, in double precision.
fn by_definition(batch: &Batch<f64>, states: &[f64]) -> Vec<f64> {
    let problem = batch.problem();
    let (n, m, series) = (batch.dim, batch.space.algebra_dim(batch.dim), batch.series());
    let chebyshev =
        |terms: usize, (a, b): (f64, f64), coefficients: &[f64], b_index: usize, t: f64, i: usize| {
            let s = (t - a) / (b - a);
            let degree = |d: usize| match s.abs() <= 1.0 {
                true => (d as f64 * s.acos()).cos(),
                false => s.signum().powi(d as i32) * (d as f64 * s.abs().acosh()).cosh(),
            };
            (0..terms).map(|d| coefficients[(b_index * m + i) * terms + d] * degree(d)).sum::<f64>()
        };
    let Prior::Drift(Drift::Chebyshev(Chebyshev { terms: prior_terms, interval: prior_interval, .. })) =
        problem.prior
    else {
        panic!("a prior with a drift")
    };
    let mut divergences = Vec::new();
    let mut states = states;
    for _ in 0..batch.samples {
        let mut step = 0;
        for b in 0..series {
            let times = match &batch.time_offsets {
                None => &batch.times[..],
                Some(offsets) => &batch.times[offsets[b]..offsets[b + 1]],
            };
            let mut sum = 0.0;
            for j in 0..times.len() - 1 {
                let z = &states[j * n..(j + 1) * n];
                let excess: Vec<f64> = (0..m)
                    .map(|i| {
                        let drift = match problem.drift {
                            Drift::PerStep(PerStep(values)) => values[step * m + i],
                            Drift::Chebyshev(Chebyshev { terms, interval, coefficients }) => {
                                chebyshev(terms, interval, coefficients, b, times[j], i)
                            }
                            ref other => panic!("no closed form here for {other:?}"),
                        };
                        drift - chebyshev(prior_terms, prior_interval, &batch.prior, b, times[j], i)
                    })
                    .collect();
                let mut velocity = vec![0.0; n];
                let mut k = 0;
                for row in 0..n {
                    for column in 0..if batch.space == Space::Sphere { row } else { n } {
                        velocity[row] += excess[k] * z[column];
                        if batch.space == Space::Sphere {
                            velocity[column] -= excess[k] * z[row];
                        }
                        k += 1;
                    }
                }
                let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
                sum += (times[j + 1] - times[j]) * square(&velocity) / square(z);
                step += 1;
            }
            divergences.push(0.5 * sum / (batch.sigma * batch.sigma));
            states = &states[times.len() * n..];
        }
    }
    divergences
}

#[test]
fn the_divergence_is_the_sum_of_its_definition() {
    for batch in batches::<f64>() {
        // The grid of the ragged batch runs past the interval of the prior.
        let mut batch = batch.with_prior(4);
        (batch.request_offsets, batch.requests) = (None, Vec::new());
        for solver in solvers() {
            let path = solver.forward(&batch.problem()).unwrap();
            assert_close("kl", &path.kl, &by_definition(&batch, &path.states), 1e-11);
        }
    }
}
