//! The hand-written adjoint of the path against finite differences in double precision.

mod problems;

use problems::{Batch, on_space};
use stroock_kernels::path::{Memory, PathSolver, Scheme, Space};
use stroock_testing::finite_difference::{assert_close, gradient};

/// A smooth loss of everything a path returns, with its gradients.
fn loss(states: &[f64], kl: &[f64]) -> f64 {
    let of_states: f64 =
        states.iter().enumerate().map(|(i, x)| (i as f64 * 0.7).sin() * x + 0.3 * x * x).sum();
    let of_kl: f64 = kl.iter().enumerate().map(|(i, k)| (1.0 + i as f64 * 0.1) * (1.0 + k).ln()).sum();
    of_states + of_kl
}

fn loss_gradients(states: &[f64], kl: &[f64]) -> (Vec<f64>, Vec<f64>) {
    (
        states.iter().enumerate().map(|(i, x)| (i as f64 * 0.7).sin() + 0.6 * x).collect(),
        kl.iter().enumerate().map(|(i, k)| (1.0 + i as f64 * 0.1) / (1.0 + k)).collect(),
    )
}

fn check(batch: &Batch<f64>, memory: Memory) {
    check_with(batch, PathSolver { memory, ..PathSolver::default() });
}

fn check_with(batch: &Batch<f64>, solver: PathSolver) {
    let value = |batch: &Batch<f64>| {
        let path = solver.forward(&batch.problem()).unwrap();
        loss(&path.states, &path.kl)
    };
    let path = solver.forward(&batch.problem()).unwrap();
    let (of_states, of_kl) = loss_gradients(&path.states, &path.kl);
    let gradients = solver.backward(&batch.problem(), &path.tape, &of_states, &of_kl).unwrap();

    let of_drift =
        gradient(&batch.drift, 2e-3, |drift| value(&Batch { drift: drift.to_vec(), ..batch.clone() }));
    assert_close("drift", &gradients.drift, &of_drift, 1e-7);
    let of_prior =
        gradient(&batch.prior, 2e-3, |prior| value(&Batch { prior: prior.to_vec(), ..batch.clone() }));
    assert_close("prior", &gradients.prior, &of_prior, 1e-7);
    let of_sigma = gradient(&[batch.sigma], 1e-3, |sigma| value(&Batch { sigma: sigma[0], ..batch.clone() }));
    assert_close("sigma", &[gradients.sigma.iter().sum()], &of_sigma, 1e-7);

    // The start point moves along the space, and the gradient is compared along it too.
    let along = |start: &[f64]| {
        start.chunks(batch.dim).flat_map(|z| on_space(batch.space, z.to_vec())).collect::<Vec<_>>()
    };
    let of_start =
        gradient(&batch.start, 1e-3, |start| value(&Batch { start: along(start), ..batch.clone() }));
    let tangential: Vec<f64> = gradients
        .start
        .chunks(batch.dim)
        .zip(batch.start.chunks(batch.dim))
        .flat_map(|(g, z)| match batch.space {
            Space::Sphere => {
                let normal: f64 = g.iter().zip(z).map(|(g, z)| g * z).sum();
                g.iter().zip(z).map(|(g, z)| g - normal * z).collect::<Vec<_>>()
            }
            Space::GeneralLinear => g.to_vec(),
            // The first coordinate follows the others.
            Space::Hyperbolic => {
                let followed = g[1..].iter().zip(&z[1..]).map(|(of_x, x)| of_x + g[0] * x / z[0]);
                std::iter::once(0.0).chain(followed).collect()
            }
        })
        .collect();
    assert_close("start", &tangential, &of_start, 1e-7);
}

#[test]
fn chebyshev_drift_on_a_shared_grid() {
    check(&Batch::chebyshev(Space::Sphere, 4, 5, 1, 6), Memory::Stored);
    check(&Batch::chebyshev(Space::Sphere, 3, 3, 2, 9), Memory::Reversible);
}

#[test]
fn every_remainder_of_the_row_blocks() {
    for n in 2..=9 {
        check(&Batch::chebyshev(Space::Sphere, n, 2, 1, 3), Memory::Stored);
    }
}

#[test]
fn drift_per_step_on_grids_of_their_own() {
    check(&Batch::ragged(Space::Sphere, 3, 6, 2), Memory::Stored);
    check(&Batch::ragged(Space::Sphere, 5, 3, 1), Memory::Reversible);
}

#[test]
fn the_general_linear_group() {
    check(&Batch::chebyshev(Space::GeneralLinear, 3, 3, 2, 5), Memory::Stored);
    check(&Batch::ragged(Space::GeneralLinear, 2, 3, 1), Memory::Reversible);
}

#[test]
fn hyperbolic_space() {
    for memory in [Memory::Stored, Memory::Reversible] {
        check(&Batch::chebyshev(Space::Hyperbolic, 4, 5, 1, 6), memory);
        check(&Batch::chebyshev(Space::Hyperbolic, 3, 3, 2, 9).with_prior(3), memory);
        check(&Batch::ragged(Space::Hyperbolic, 2, 6, 2).with_prior(2), memory);
        check(&Batch::ragged(Space::Hyperbolic, 7, 2, 1), memory);
    }
    // At the origin of the space, where the direction of x is lost.
    let mut batch = Batch::chebyshev(Space::Hyperbolic, 3, 2, 1, 3);
    batch.start = [1.0, 0.0, 0.0].repeat(2);
    check(&batch, Memory::Stored);
}

#[test]
fn drift_by_knots() {
    for ragged in [false, true] {
        check(&Batch::chebyshev(Space::Sphere, 3, 5, 2, 9).with_knots(ragged), Memory::Stored);
        check(&Batch::ragged(Space::Sphere, 4, 6, 1).with_knots(ragged).with_prior(2), Memory::Reversible);
        check(&Batch::chebyshev(Space::GeneralLinear, 2, 3, 1, 7).with_knots(ragged), Memory::Stored);
        check(&Batch::ragged(Space::Hyperbolic, 3, 5, 1).with_knots(ragged), Memory::Stored);
    }
}

#[test]
fn noise_along_the_space() {
    let solver = PathSolver { scheme: Scheme::TangentNoise, ..PathSolver::default() };
    for space in [Space::Sphere, Space::GeneralLinear, Space::Hyperbolic] {
        check_with(&Batch::chebyshev(space, 4, 5, 1, 6).with_prior(3), solver);
        check_with(&Batch::ragged(space, 3, 6, 2), solver);
        check_with(&Batch::ragged(space, 2, 3, 1).with_knots(true), solver);
    }
    // Steps that are cut into parts.
    let mut batch = Batch::chebyshev(Space::Sphere, 4, 3, 1, 4);
    batch.drift.iter_mut().for_each(|c| *c *= 5.0);
    check_with(&batch, solver);
}

#[test]
fn steered_paths() {
    let solver = PathSolver { scheme: Scheme::Steered, ..PathSolver::default() };
    // From a drift that hardly moves anything to one that arrives within a step.
    for strength in [0.0, 0.1, 3.0, 40.0] {
        check_with(&Batch::chebyshev(Space::Sphere, 4, 5, 1, 6).steered(strength), solver);
        check_with(&Batch::ragged(Space::Sphere, 3, 6, 2).steered(strength), solver);
        check_with(&Batch::ragged(Space::Sphere, 2, 5, 1).with_knots(true).steered(strength), solver);
        check_with(&Batch::chebyshev(Space::Sphere, 9, 2, 1, 7).with_knots(false).steered(strength), solver);
        // A prior that attracts moves the path, too; so does one that is given over time.
        check_with(&Batch::chebyshev(Space::Sphere, 5, 3, 2, 6).steered(strength).attracted(2.0), solver);
        check_with(
            &Batch::ragged(Space::Sphere, 4, 6, 1).with_knots(true).steered(strength).attracted(1.0),
            solver,
        );
    }
}

#[test]
fn a_prior_with_a_drift() {
    for memory in [Memory::Stored, Memory::Reversible] {
        check(&Batch::chebyshev(Space::Sphere, 4, 5, 1, 6).with_prior(3), memory);
        // More terms than are compiled as constants.
        check(&Batch::chebyshev(Space::Sphere, 3, 3, 2, 9).with_prior(8), memory);
        check(&Batch::ragged(Space::Sphere, 3, 6, 2).with_prior(1), memory);
        check(&Batch::chebyshev(Space::GeneralLinear, 3, 3, 2, 5).with_prior(6), memory);
        check(&Batch::ragged(Space::GeneralLinear, 2, 3, 1).with_prior(4), memory);
    }
}

#[test]
fn steps_that_are_cut_into_parts() {
    let mut batch = Batch::chebyshev(Space::Sphere, 4, 5, 1, 4);
    // Series turn by very different angles, from a fraction of a radian to about fifteen a step.
    for (b, series) in batch.drift.chunks_mut(6 * 6).enumerate() {
        series.iter_mut().for_each(|c| *c *= 3f64.powi(b as i32 - 1));
    }
    for memory in [Memory::Stored, Memory::Reversible] {
        check(&batch, memory);
    }
}

#[test]
fn single_precision_follows_double_precision() {
    let batch = || Batch::<f64>::chebyshev(Space::Sphere, 16, 20, 2, 40);
    let steered = PathSolver { scheme: Scheme::Steered, ..PathSolver::default() };
    let reversible = PathSolver { memory: Memory::Reversible, ..PathSolver::default() };
    for (solver, exact) in [
        (PathSolver::default(), batch().with_prior(4)),
        (reversible, batch().with_prior(4)),
        (steered, batch().steered(10.0)),
    ] {
        let single = exact.single();
        let path = solver.forward(&exact.problem()).unwrap();
        let (of_states, of_kl) = loss_gradients(&path.states, &path.kl);
        let gradients = solver.backward(&exact.problem(), &path.tape, &of_states, &of_kl).unwrap();

        let doubles = |values: &[f32]| values.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
        let singles = |values: &[f64]| values.iter().map(|&x| x as f32).collect::<Vec<_>>();
        let rounded = solver.forward(&single.problem()).unwrap();
        assert_close("states", &doubles(&rounded.states), &path.states, 2e-5);
        assert_close("kl", &doubles(&rounded.kl), &path.kl, 2e-5);
        let (of_states, of_kl) = (singles(&of_states), singles(&of_kl));
        let pulled = solver.backward(&single.problem(), &rounded.tape, &of_states, &of_kl).unwrap();
        assert_close("start", &doubles(&pulled.start), &gradients.start, 2e-4);
        assert_close("drift", &doubles(&pulled.drift), &gradients.drift, 2e-4);
        assert_close("prior", &doubles(&pulled.prior), &gradients.prior, 2e-4);
        assert_close("sigma", &doubles(&pulled.sigma), &gradients.sigma, 2e-4);
    }
}
