//! Malformed arguments give an error that names them; nothing panics.

mod problems;

use problems::Batch;
use proptest::prelude::*;
use stroock_kernels::argument::ArgumentError;
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::{
    Chebyshev, Drift, Grid, Memory, Noise, PathError, PathProblem, PathSolver, Prior, Requests, Scheme, Space,
};
use stroock_kernels::start::{
    Draws, PowerSphericalStart, StartDistribution, StartError, WrappedNormalStart, uniform,
};

fn good() -> Batch<f32> {
    Batch::chebyshev(Space::Sphere, 3, 2, 1, 4)
}

fn error(change: impl FnOnce(&mut Batch<f32>)) -> PathError {
    let mut batch = good();
    change(&mut batch);
    PathSolver::default().forward(&batch.problem()).map(|_| ()).unwrap_err()
}

fn with_prior(change: impl FnOnce(&mut Batch<f32>)) -> PathError {
    error(|batch| {
        *batch = batch.clone().with_prior(2);
        change(batch);
    })
}

#[test]
fn arguments_are_named() {
    let cases = [
        (error(|b| b.dim = 1), "dim"),
        (error(|b| b.samples = 0), "samples"),
        (error(|b| b.samples = usize::MAX), "start"),
        (error(|b| (b.samples, b.dim) = (1 << 62, 4)), "start"),
        (error(|b| b.sigma = 0.0), "sigma"),
        (error(|b| b.sigma = -1.0), "sigma"),
        (error(|b| b.sigma = f32::NAN), "sigma"),
        (error(|b| b.start.clear()), "start"),
        (error(|b| _ = b.start.pop()), "start"),
        (error(|b| b.start[1] = f32::NAN), "start"),
        (error(|b| b.start[0] += 0.1), "start"),
        (error(|b| b.times[2] = b.times[1]), "grid"),
        (error(|b| b.times[0] = f32::NEG_INFINITY), "grid"),
        (error(|b| b.times.clear()), "grid"),
        (error(|b| b.time_offsets = Some(vec![0, 2])), "grid.offsets"),
        (error(|b| b.time_offsets = Some(vec![0, 4, 2])), "grid.offsets"),
        (error(|b| b.time_offsets = Some(vec![0, 2, 4])), "grid.times"),
        (error(|b| b.drift[5] = f32::INFINITY), "drift.coefficients"),
        (error(|b| _ = b.drift.pop()), "drift.coefficients"),
        (error(|b| b.terms = Some(0)), "drift.terms"),
        (error(|b| b.terms = None), "drift"),
        (with_prior(|b| b.prior_terms = Some(0)), "prior.terms"),
        (with_prior(|b| b.prior_terms = Some(3)), "prior.coefficients"),
        (with_prior(|b| _ = b.prior.pop()), "prior.coefficients"),
        (with_prior(|b| b.prior[7] = f32::NAN), "prior.coefficients"),
        (with_prior(|b| b.prior[7] = 1e30), "prior"),
        (error(|b| _ = b.numbers.pop()), "noise.series"),
        (error(|b| b.requests[0] = 5), "requests"),
        (error(|b| b.requests.swap(0, 1)), "requests"),
        (error(|b| b.request_offsets = Some(vec![1, 2, 3])), "requests.offsets"),
        (error(|b| _ = b.requests.pop()), "requests.indices"),
    ];
    for (error, argument) in cases {
        let message = error.to_string();
        assert!(message.contains(&format!("`{argument}")), "`{message}` does not name `{argument}`");
    }
}

#[test]
fn a_diverged_drift_stops() {
    for scale in [1e9, 1e30, f32::MAX] {
        let error = error(|b| b.drift[18..].iter_mut().for_each(|c| *c = scale));
        assert!(matches!(error, PathError::StepTooLarge { series: 1, .. }), "{error}");
    }
}

#[test]
fn a_diverged_prior_stops() {
    for scale in [1e25, f32::MAX] {
        let error = with_prior(|b| b.prior[6..].iter_mut().for_each(|c| *c = scale));
        assert_eq!(error, PathError::DivergenceNotFinite { series: 1 });
    }
}

#[test]
fn gradients_and_tapes_are_checked() {
    let (batch, other) = (good(), Batch::<f32>::chebyshev(Space::Sphere, 3, 2, 1, 5));
    let solver = PathSolver::default();
    let path = solver.forward(&batch.problem()).unwrap();
    let (of_states, of_kl) = (vec![1.0; path.states.len()], vec![1.0; 2]);
    let backward = |solver: PathSolver, batch: &Batch<f32>, of_states: &[f32], of_kl: &[f32]| {
        solver.backward(&batch.problem(), &path.tape, of_states, of_kl).map(|_| ())
    };
    assert_eq!(backward(solver, &batch, &of_states, &of_kl), Ok(()));
    let short = backward(solver, &batch, &of_states[1..], &of_kl).unwrap_err();
    assert!(matches!(short, PathError::Argument(ArgumentError::Length { argument: "of_states", .. })));
    let poisoned = backward(solver, &batch, &of_states, &[1.0, f32::NAN]).unwrap_err();
    assert!(matches!(
        poisoned,
        PathError::Argument(ArgumentError::NotFinite { argument: "of_kl", index: 1 })
    ));
    let reversible = PathSolver { memory: Memory::Reversible, ..solver };
    assert_eq!(backward(reversible, &batch, &of_states, &of_kl), Err(PathError::ForeignTape));
    let of_others = vec![1.0; solver.forward(&other.problem()).unwrap().states.len()];
    assert_eq!(backward(solver, &other, &of_others, &of_kl), Err(PathError::ForeignTape));
}

#[test]
fn an_interval_needs_a_length() {
    let problem = PathProblem {
        space: Space::Sphere,
        dim: 2,
        samples: 1,
        grid: Grid::Shared(&[0.0, 1.0]),
        drift: Drift::Chebyshev(Chebyshev { terms: 1, interval: (1.0, 1.0), coefficients: &[0.0] }),
        prior: Prior::Driftless,
        sigma: 1.0,
        start: &[1.0, 0.0],
        noise: Noise::Given(&[0.0]),
        requests: Requests::All,
    };
    let error = |problem| PathSolver::default().forward(&problem).map(|_| ()).unwrap_err();
    let argument = "drift.interval";
    assert_eq!(error(problem), PathError::Interval { argument, start: 1.0, end: 1.0 });
    let drift = Drift::Chebyshev(Chebyshev { terms: 1, interval: (0.0, 1.0), coefficients: &[0.0] });
    let prior =
        Prior::Drift(Drift::Chebyshev(Chebyshev { terms: 1, interval: (2.0, 1.0), coefficients: &[0.0] }));
    let argument = "prior.interval";
    assert_eq!(
        error(PathProblem { drift, prior, ..problem }),
        PathError::Interval { argument, start: 2.0, end: 1.0 }
    );
}

#[test]
fn a_scheme_that_does_not_reverse_stores_its_states() {
    let scheme = Scheme::TangentNoise;
    let solver = PathSolver { scheme, memory: Memory::Reversible, ..PathSolver::default() };
    let error = solver.forward(&good().problem()).map(|_| ()).unwrap_err();
    assert_eq!(error, PathError::SchemeDoesNotReverse { scheme });
    let stored = PathSolver { memory: Memory::Stored, ..solver };
    let path = stored.forward(&good().problem()).unwrap();
    let [of_states, of_kl] = [vec![1.0; path.states.len()], vec![1.0; 2]];
    let other = PathSolver::default().backward(&good().problem(), &path.tape, &of_states, &of_kl);
    assert_eq!(other.map(|_| ()), Err(PathError::ForeignTape));
}

#[test]
fn start_points_off_the_space_are_told_why() {
    for (space, start, word) in [
        (Space::Sphere, [2.0, 0.0, 0.0], "norm is 2"),
        (Space::GeneralLinear, [0.0; 3], "origin"),
        (Space::Hyperbolic, [1.0, 1.0, 0.0], "first coordinate is 1"),
        (Space::Hyperbolic, [-1.0, 0.0, 0.0], "first coordinate is -1"),
    ] {
        let mut batch = Batch::<f32>::chebyshev(space, 3, 2, 1, 4);
        batch.start[3..].copy_from_slice(&start);
        let error = PathSolver::default().forward(&batch.problem()).map(|_| ()).unwrap_err();
        assert!(matches!(error, PathError::StartOffSpace { row: 1, .. }), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn a_path_that_leaves_the_range_of_the_numbers_stops() {
    let mut batch = Batch::<f32>::chebyshev(Space::Hyperbolic, 3, 2, 1, 4);
    batch.drift[18..].iter_mut().for_each(|c| *c = 90.0);
    let error = PathSolver::default().forward(&batch.problem()).map(|_| ()).unwrap_err();
    assert_eq!(error, PathError::StateNotFinite { series: 1 });
}

#[test]
fn knots_are_named() {
    let knots = |change: fn(&mut Batch<f32>)| {
        let mut batch = good().with_knots(true);
        change(&mut batch);
        PathSolver::default().forward(&batch.problem()).map(|_| ()).unwrap_err().to_string()
    };
    for (message, argument) in [
        (knots(|b| b.knots.as_mut().unwrap().1[2] = -9.0), "drift.knots"),
        (knots(|b| b.knots.as_mut().unwrap().0 = Some(vec![0, 0, 3])), "drift.knots"),
        (knots(|b| b.knots.as_mut().unwrap().0 = Some(vec![0, 2])), "drift.knots.offsets"),
        (knots(|b| _ = b.knots.as_mut().unwrap().1.pop()), "drift.knots.times"),
        (knots(|b| _ = b.drift.pop()), "drift.coefficients"),
    ] {
        assert!(message.contains(&format!("`{argument}`")), "`{message}` does not name `{argument}`");
    }
}

#[test]
fn a_grid_of_one_time_is_a_path_without_steps() {
    let mut batch = good().with_prior(2);
    batch.times.truncate(1);
    batch.requests = vec![0, 0];
    batch.request_offsets = Some(vec![0, 1, 2]);
    let path = PathSolver::default().forward(&batch.problem()).unwrap();
    assert_eq!(path.states, batch.start);
    assert_eq!(path.kl, [0.0, 0.0]);
    let gradients =
        PathSolver::default().backward(&batch.problem(), &path.tape, &batch.start, &[1.0, 1.0]).unwrap();
    assert_eq!(gradients.start, batch.start);
    assert_eq!(gradients.prior, vec![0.0; batch.prior.len()]);
}

#[test]
fn start_parameters_are_named() {
    let draws = Draws { key: NoiseKey::new(0, 0), series: &[0, 1], samples: 1, first_sample: 0 };
    let sample =
        |dim, mu: &[f32], kappa: &[f32]| PowerSphericalStart { dim, mu, kappa }.sample(draws).unwrap_err();
    for (error, word) in [
        (sample(3, &[1., 0., 0., 0., 1., 0.], &[1.0, -1.0]), "kappa"),
        (sample(3, &[1., 0., 0., 0., 1., 0.], &[1.0, f32::NAN]), "kappa"),
        (sample(3, &[1., 0., 0., 0., 2., 0.], &[1.0, 1.0]), "mu"),
        (sample(3, &[1., 0., 0., 0., 1.], &[1.0, 1.0]), "mu"),
        (sample(1, &[1., 1.], &[1.0, 1.0]), "dimension"),
        (sample(0, &[], &[1.0, 1.0]), "dimension"),
        (uniform::<f32>(1, draws).unwrap_err(), "dimension"),
    ] {
        assert!(error.to_string().contains(word), "{error} does not name {word}");
    }
    let distribution = PowerSphericalStart { dim: 2, mu: &[1.0, 0.0, 1.0, 0.0], kappa: &[1.0, 1.0] };
    let error = distribution.pull_back(draws, &[1.0; 3], &[1.0; 2]).map(|_| ()).unwrap_err();
    assert_eq!(
        error,
        ArgumentError::Length {
            argument: "of_points",
            shape: "[samples, series, dim]",
            expected: 4,
            actual: 3
        }
        .into()
    );
}

proptest! {
    /// Whatever the numbers, a problem gives finite states on the sphere or an error.
    #[test]
    fn random_problems_never_panic(
        dim in 0usize..6,
        samples in 0usize..3,
        series in 0usize..4,
        terms in 0usize..4,
        prior_terms in 0usize..4,
        times in prop::collection::vec(-2f32..2.0, 0..6),
        scale in prop::sample::select(vec![0.0f32, 1e-20, 1.0, 1e3, 1e20, f32::NAN]),
        sigma in prop::sample::select(vec![-1.0f32, 0.0, 1e-6, 1.0, 50.0]),
        sorted in any::<bool>(),
        indices in prop::collection::vec(0usize..7, 0..6),
    ) {
        let mut times = times;
        if sorted {
            times.sort_by(f32::total_cmp);
            times.dedup();
        }
        let m = dim * dim.saturating_sub(1) / 2;
        let coefficients: Vec<f32> = (0..series * m * terms).map(|i| scale * (i as f32).sin()).collect();
        let of_prior: Vec<f32> = (0..series * m * prior_terms).map(|i| scale * (i as f32).cos()).collect();
        let start: Vec<f32> =
            (0..samples * series * dim).map(|i| if i % dim.max(1) == 0 { 1.0 } else { 0.0 }).collect();
        let numbers: Vec<u32> = (0..series as u32).collect();
        let offsets: Vec<usize> = (0..=series).map(|b| b * indices.len() / series.max(1)).collect();
        let problem = PathProblem {
            space: Space::Sphere,
            dim,
            samples,
            grid: Grid::Shared(&times),
            drift: Drift::Chebyshev(Chebyshev { terms, interval: (-2.0, 2.0), coefficients: &coefficients }),
            prior: match prior_terms {
                0 => Prior::Driftless,
                terms => Prior::Drift(Drift::Chebyshev(Chebyshev { terms, interval: (-1.0, 3.0), coefficients: &of_prior })),
            },
            sigma,
            start: &start,
            noise: Noise::Counter { key: NoiseKey::new(1, 1), series: &numbers, first_sample: 0 },
            requests: Requests::At { offsets: &offsets, indices: &indices },
        };
        if let Ok(path) = PathSolver::default().forward(&problem) {
            for z in path.states.chunks(dim) {
                let norm = z.iter().map(|x| x * x).sum::<f32>().sqrt();
                prop_assert!((norm - 1.0).abs() < 1e-5, "norm {norm}");
            }
            prop_assert!(path.kl.iter().all(|kl| *kl >= 0.0));
            prop_assert!(prior_terms == 0 || path.kl.iter().all(|kl| kl.is_finite()));
        }
    }
}

#[test]
fn start_points_of_no_dimension_or_beyond_memory() {
    let draws = |samples| Draws { key: NoiseKey::new(1, 0), series: &[], samples, first_sample: 0 };
    // One distribution without numbers is none, whatever the number of series.
    let start = PowerSphericalStart { dim: 0, mu: &[], kappa: &[1.0_f64] };
    assert!(matches!(start.sample(draws(1)), Err(StartError::Dimension { dim: 0, .. })));
    let draws = |samples| Draws { key: NoiseKey::new(1, 0), series: &[0], samples, first_sample: 0 };
    let start = PowerSphericalStart { dim: 2, mu: &[1.0_f64, 0.0], kappa: &[1.0] };
    let too_many = |error: StartError| matches!(error, StartError::Argument(ArgumentError::TooMany { .. }));
    assert!(too_many(start.sample(draws(usize::MAX)).unwrap_err()));
    assert!(too_many(start.pull_back(draws(usize::MAX), &[], &[0.0]).err().unwrap()));
    assert!(too_many(uniform::<f64>(3, draws(usize::MAX)).unwrap_err()));
    let start = WrappedNormalStart { dim: usize::MAX, mean: &[0.0_f64], scale: &[1.0, 1.0] };
    assert!(start.sample(draws(1)).is_err());
}
