//! Paths and their divergence.

use burn::tensor::{DType, Device, Tensor};
use stroock::latent::{self, PathDrift, PathGrid, PathNoise, PathPlan, PathRequests, PathStates};
use stroock::plain;
use stroock_kernels::argument::ArgumentError;
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::{PathError, PathSolver, Scheme, Space};

use crate::agreement::assert_agreement;
use crate::numbers::{doubles, tensor, uniform, unit_vectors};

const SAMPLES: usize = 3;
const SERIES: usize = 4;
const TERMS: usize = 3;

/// One grid for all, its last time without a request.
fn shared() -> (PathGrid, PathRequests) {
    let times = (0..=9).map(|j| 0.1 * f64::from(j) + 0.03 * f64::from(j % 2)).collect();
    let requests = PathRequests { offsets: vec![0, 3, 4, 4, 8], indices: vec![0, 4, 8, 3, 1, 1, 5, 8] };
    (PathGrid::Shared(times), requests)
}

/// Grids of 6, 1, 12 and 2 times: one series stays where it starts.
fn ragged() -> (PathGrid, PathRequests) {
    let (mut offsets, mut times) = (vec![0], Vec::new());
    for (b, count) in [6, 1, 12, 2].into_iter().enumerate() {
        times.extend((0..count).map(|j| 0.02 * b as f64 + 0.07 * f64::from(j) + 0.01 * f64::from(j * j % 3)));
        offsets.push(times.len());
    }
    let requests = PathRequests { offsets: vec![0, 2, 3, 7, 8], indices: vec![1, 5, 0, 0, 6, 6, 11, 1] };
    (PathGrid::PerSeries { offsets, times }, requests)
}

fn plan(
    space: Space,
    dim: usize,
    (grid, requests): (PathGrid, PathRequests),
    noise: Option<f64>,
) -> PathPlan {
    let m = space.algebra_dim(dim);
    let steps = match &grid {
        PathGrid::Shared(times) => SERIES * (times.len() - 1),
        PathGrid::PerSeries { times, .. } => times.len() - SERIES,
    };
    let noise = match noise {
        Some(size) => {
            PathNoise::Given(uniform(SAMPLES * steps * m, 5).into_iter().map(|x| size * x).collect())
        }
        None => PathNoise::Counter { key: NoiseKey::new(3, 1), series: vec![4, 0, 9, 2], first_sample: 6 },
    };
    PathPlan {
        space,
        dim,
        samples: SAMPLES,
        grid,
        drift: PathDrift::Chebyshev { terms: TERMS, interval: (-0.1, 2.0) },
        noise,
        requests,
        solver: PathSolver::default(),
    }
}

/// The shape of the drift coefficients.
fn shape(plan: &PathPlan, m: usize) -> [usize; 3] {
    let count = |grid: &PathGrid| match grid {
        PathGrid::Shared(times) => [SERIES, times.len()],
        PathGrid::PerSeries { times, .. } => [1, times.len()],
    };
    match (&plan.drift, &plan.grid) {
        (PathDrift::PerStep, PathGrid::Shared(times)) => [SERIES, times.len() - 1, m],
        (PathDrift::PerStep, PathGrid::PerSeries { times, .. }) => [1, times.len() - SERIES, m],
        (PathDrift::PiecewiseLinear { knots }, _) => {
            let [rows, knots] = count(knots);
            [rows, knots, m]
        }
        _ => [SERIES, m, TERMS],
    }
}

fn compare(name: &str, plan: &PathPlan, sigma: f64, drift: f64, with_prior: bool) {
    let (n, m) = (plan.dim, plan.solver.scheme.drift_len(plan.space, plan.dim));
    let mut start = unit_vectors(SAMPLES * SERIES, n, 1);
    match plan.space {
        Space::Sphere => {}
        Space::GeneralLinear => start.iter_mut().for_each(|x| *x *= 1.3),
        Space::Hyperbolic => {
            for z in start.chunks_mut(n) {
                z[0] = (1.0 + z[1..].iter().map(|x| x * x).sum::<f64>()).sqrt();
            }
        }
    }
    let shape = shape(plan, m);
    let count = shape.iter().product();
    let coefficients =
        |size: f64, seed| -> Vec<f64> { uniform(count, seed).into_iter().map(|x| size * x).collect() };
    let mut leaves = vec![("start", start), ("drift", coefficients(drift, 2)), ("sigma", vec![sigma])];
    let prior_shape = match plan.solver.scheme.is_steered() {
        true => [SERIES, n + 2 * (n / 2), 1],
        false => shape,
    };
    if with_prior {
        let count = prior_shape.iter().product();
        leaves.push(("prior", uniform(count, 3).into_iter().map(|x| 0.5 * drift * x).collect()));
    }
    type Simulate =
        fn(PathPlan, Tensor<3>, Tensor<3>, Tensor<1>, Option<Tensor<3>>) -> Result<PathStates, PathError>;
    let run = |simulate: Simulate| {
        move |leaves: &[Tensor<1>]| {
            let start = leaves[0].clone().reshape([SAMPLES, SERIES, n]);
            let prior = leaves.get(3).map(|leaf| leaf.clone().reshape(prior_shape));
            let drift = leaves[1].clone().reshape(shape);
            let path = simulate(plan.clone(), start, drift, leaves[2].clone(), prior);
            let PathStates { states, kl } = path.unwrap();
            Tensor::cat(vec![states.flatten(0, 2), kl.flatten(0, 1)], 0)
        }
    };
    assert_agreement(name, &leaves, run(latent::simulate), run(plain::simulate));
}

#[test]
fn on_both_spaces_and_both_grids_with_and_without_a_prior() {
    for (space, dim) in [(Space::Sphere, 2), (Space::Sphere, 5), (Space::GeneralLinear, 3)] {
        for (kind, grid) in [("shared", shared()), ("ragged", ragged())] {
            for with_prior in [false, true] {
                let name = format!("{space:?} {dim}, {kind} grid, prior {with_prior}");
                compare(&name, &plan(space, dim, grid.clone(), Some(1.7)), 0.4, 1.0, with_prior);
            }
        }
    }
}

#[test]
fn on_hyperbolic_space_with_every_drift_and_scheme() {
    let shared_knots = PathGrid::Shared(vec![-0.2, 0.15, 0.3, 0.7]);
    let own_knots =
        PathGrid::PerSeries { offsets: vec![0, 1, 3, 4, 7], times: vec![0.2, 0.0, 0.5, 0.1, 0.05, 0.1, 0.3] };
    let drifts = [
        PathDrift::Chebyshev { terms: TERMS, interval: (-0.1, 2.0) },
        PathDrift::PerStep,
        PathDrift::PiecewiseLinear { knots: shared_knots },
        PathDrift::PiecewiseLinear { knots: own_knots },
    ];
    for space in [Space::Sphere, Space::Hyperbolic, Space::GeneralLinear] {
        for drift in &drifts {
            for (kind, grid) in [("shared", shared()), ("ragged", ragged())] {
                for scheme in [Scheme::GeometricEuler, Scheme::TangentNoise] {
                    // The noise of a key has as many numbers as the scheme asks for.
                    let mut plan = plan(space, 3, grid.clone(), None);
                    plan.drift = drift.clone();
                    plan.solver.scheme = scheme;
                    compare(&format!("{space:?}, {drift:?}, {kind}, {scheme:?}"), &plan, 0.4, 1.0, true);
                }
            }
        }
    }
}

#[test]
fn steered_paths_with_every_drift() {
    let own_knots =
        PathGrid::PerSeries { offsets: vec![0, 1, 3, 4, 7], times: vec![0.2, 0.0, 0.5, 0.1, 0.05, 0.1, 0.3] };
    for drift in [
        PathDrift::Chebyshev { terms: TERMS, interval: (-0.1, 2.0) },
        PathDrift::PerStep,
        PathDrift::PiecewiseLinear { knots: own_knots },
    ] {
        for (kind, grid) in [("shared", shared()), ("ragged", ragged())] {
            for strength in [1.0, 50.0] {
                let mut plan = plan(Space::Sphere, 5, grid.clone(), None);
                plan.drift = drift.clone();
                plan.solver.scheme = Scheme::Steered;
                for attracted in [false, true] {
                    let name = format!("steered by {strength}, {drift:?}, {kind}, attracted: {attracted}");
                    compare(&name, &plan, 0.4, strength, attracted);
                }
            }
        }
    }
}

#[test]
fn with_the_noise_of_a_key() {
    compare("counter", &plan(Space::Sphere, 4, ragged(), None), 0.4, 1.0, true);
}

#[test]
fn with_steps_that_turn_several_times() {
    // Steps of up to about ten radians are taken in parts.
    compare("long steps", &plan(Space::Sphere, 3, shared(), Some(1.0)), 4.0, 40.0, false);
}

#[test]
fn paths_stay_on_the_sphere_and_waiting_series_stay_where_they_are() {
    let device = Device::flex();
    let plan = plan(Space::Sphere, 5, ragged(), Some(1.7));
    let start = tensor(&unit_vectors(SAMPLES * SERIES, 5, 1), [SAMPLES, SERIES, 5], &device);
    let drift = tensor(&uniform(SERIES * 10 * TERMS, 2), [SERIES, 10, TERMS], &device);
    let path = plain::simulate(plan, start.clone(), drift, tensor(&[0.4], [1], &device), None).unwrap();
    let states = doubles(path.states);
    for state in states.chunks(5) {
        assert!((state.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-14);
    }
    // The only request of the series with one time is its start.
    let start = doubles(start);
    for s in 0..SAMPLES {
        let of_series = (s * SERIES + 1) * 5..(s * SERIES + 2) * 5;
        assert_eq!(states[(s * 8 + 2) * 5..(s * 8 + 3) * 5], start[of_series]);
        assert_eq!(doubles(path.kl.clone())[s * SERIES + 1], 0.0);
    }
}

#[test]
fn plans_that_do_not_fit_are_errors() {
    let run = |change: &dyn Fn(&mut PathPlan), drift: [usize; 3], size: f64| {
        let mut plan = plan(Space::Sphere, 3, ragged(), Some(1.0));
        change(&mut plan);
        let options = (&Device::flex(), DType::F64);
        let start = tensor(&unit_vectors(SAMPLES * SERIES, 3, 1), [SAMPLES, SERIES, 3], &Device::flex());
        let drift = Tensor::full(drift, size, options);
        plain::simulate(plan, start, drift, Tensor::full([1], 0.3, options), None)
    };
    let fits = [SERIES, 3, TERMS];
    let path = run(&|_| (), fits, 1.0).expect("the plan fits");
    assert_eq!(path.kl.dims(), [SAMPLES, SERIES]);
    assert!(matches!(
        run(&|_| (), [SERIES, 3, 2], 1.0),
        Err(PathError::Argument(ArgumentError::Length { .. }))
    ));
    assert!(matches!(run(&|_| (), fits, 1e9), Err(PathError::StepTooLarge { .. })));
    assert!(matches!(run(&|_| (), fits, f64::NAN), Err(PathError::StepTooLarge { .. })));
    let changes: [&dyn Fn(&mut PathPlan); 8] = [
        &|plan| plan.samples = 2,
        &|plan| plan.dim = 4,
        &|plan| plan.drift = PathDrift::Chebyshev { terms: 0, interval: (0.0, 1.0) },
        &|plan| plan.drift = PathDrift::Chebyshev { terms: TERMS, interval: (1.0, 1.0) },
        &|plan| plan.noise = PathNoise::Given(vec![0.0; 5]),
        &|plan| plan.requests.indices[7] = 2,
        &|plan| plan.requests.offsets = vec![0, 1],
        &|plan| plan.grid = PathGrid::Shared(vec![0.0, 0.0]),
    ];
    for (i, change) in changes.into_iter().enumerate() {
        assert!(run(change, fits, 1.0).is_err(), "change {i}");
    }
}
