//! Flows: against their formulas, against finite differences, in both precisions, for any number of threads.

mod batch;
mod reference;

use batch::{Batch, Contexts, Driven, by_leaf, loss, numbers};
use stroock_kernels::argument::ArgumentError;
use stroock_kernels::flow::{Activation, FlowError, FlowSolver, Network};
use stroock_kernels::path::PathError;
use stroock_kernels::simd::Level;
use stroock_testing::finite_difference::{assert_close, gradient};

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_available())
}

/// Every kind of batch, small.
fn batches() -> Vec<(&'static str, Batch<f64>)> {
    let without_prior = |mut batch: Batch<f64>| {
        batch.driven = batch.driven.map(|driven| Driven { prior: None, ..driven });
        batch
    };
    let linear = |mut batch: Batch<f64>| {
        batch.hidden = Vec::new();
        batch.drift = numbers(Network::<f64>::parameters(batch.dim, &[], batch.dim), 3, 0.8);
        batch
    };
    let mut bare = without_prior(Batch::sde(2, 3, 1, 5));
    (bare.contexts, bare.width) = (Contexts::None, 0);
    bare.drift = numbers(Network::<f64>::parameters(2, &bare.hidden, 2), 9, 0.8);
    vec![
        ("an equation without noise", Batch::ode(3, 4, 2, 11)),
        ("of softplus", Batch { activation: Activation::Softplus, ..Batch::ode(3, 4, 1, 9) }),
        ("of hyperbolic tangents", Batch { activation: Activation::Tanh, ..Batch::ode(3, 4, 1, 9) }),
        ("of one dimension, ragged", Batch::ode(1, 5, 1, 9).ragged()),
        ("linear", linear(Batch::ode(4, 3, 1, 8))),
        ("driven", Batch::sde(3, 4, 2, 9)),
        ("driven, ragged, by given noise", Batch::sde(2, 5, 2, 7).ragged().with_given_noise()),
        ("with the next context", Batch::sde(3, 5, 2, 9).with_next_contexts()),
        ("with the next context, ragged", Batch::sde(2, 6, 1, 12).ragged().with_next_contexts()),
        ("driven without a prior", without_prior(Batch::sde(3, 4, 1, 6))),
        ("of the prior", bare),
    ]
}

#[test]
fn paths_and_divergences_are_those_of_the_formulas() {
    for (name, batch) in batches() {
        let (states, divergences) = reference::simulate(&batch);
        for level in levels() {
            let flow = batch.forward(FlowSolver { level }).unwrap();
            assert_close(&format!("{name}, states"), &flow.states, &states, 1e-12);
            assert_close(&format!("{name}, divergences"), &flow.kl, &divergences, 1e-12);
        }
    }
}

#[test]
fn divergences_divide_by_no_less_than_the_floor() {
    let mut batch = Batch::<f64>::sde(2, 3, 1, 5);
    let driven = batch.driven.as_mut().unwrap();
    let units = driven.hidden;
    driven.diffusion[3 * 2 * units] = -40.0;
    let flow = batch.forward(FlowSolver::default()).unwrap();
    assert_close("divergences", &flow.kl, &reference::simulate(&batch).1, 1e-12);
    assert!(flow.kl.iter().all(|kl| *kl > 1e10));
    // What is below the floor does not divide, and has no gradient from there.
    let gradients = batch.both(FlowSolver::default()).1;
    assert!(gradients.diffusion[3 * 2 * units].abs() < 1e-3, "{}", gradients.diffusion[3 * 2 * units]);
}

#[test]
fn gradients_of_every_input_are_those_of_finite_differences() {
    for (name, mut batch) in batches() {
        let (_, gradients) = batch.both(FlowSolver::default());
        let gradients = by_leaf(&gradients);
        let count = batch.leaves().len();
        assert_eq!(count, gradients.len(), "{name}");
        for (i, exact) in gradients.iter().enumerate() {
            let (leaf, at) = {
                let leaves = batch.leaves();
                (leaves[i].0, leaves[i].1.clone())
            };
            // The second derivative of ELU jumps: the step must not reach across.
            let (h, tolerance) = match batch.activation {
                Activation::Elu => (1e-5, 1e-7),
                Activation::Softplus | Activation::Tanh => (1e-3, 1e-8),
            };
            let numeric = gradient(&at, h, |x| {
                batch.leaves()[i].1.copy_from_slice(x);
                loss(&batch.forward(FlowSolver::default()).unwrap())
            });
            batch.leaves()[i].1.copy_from_slice(&at);
            assert_close(&format!("{name}, {leaf}"), exact, &numeric, tolerance);
            assert!(exact.iter().any(|g| g.abs() > 1e-4), "{name}: nothing flows to {leaf}");
        }
    }
}

#[test]
fn single_precision_is_double_precision_rounded() {
    for (name, batch) in batches() {
        // The noise of the generator is not the same number in both precisions.
        let batch = batch.with_given_noise();
        let (exact, exact_gradients) = batch.both(FlowSolver::default());
        for level in levels() {
            let (flow, gradients) = batch.single().both(FlowSolver { level });
            let doubles = |values: &[f32]| -> Vec<f64> { values.iter().map(|&x| f64::from(x)).collect() };
            assert_close(&format!("{name}, states"), &doubles(&flow.states), &exact.states, 1e-5);
            assert_close(&format!("{name}, divergences"), &doubles(&flow.kl), &exact.kl, 2e-5);
            for (single, exact) in by_leaf(&gradients).iter().zip(by_leaf(&exact_gradients)) {
                let scale = exact.iter().fold(1f64, |largest, x| largest.max(x.abs()));
                for (single, exact) in single.iter().zip(exact) {
                    assert!((single - exact).abs() < 3e-5 * scale, "{name}, {level:?}: {single} {exact}");
                }
            }
        }
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn threads_do_not_change_a_bit() {
    for batch in [
        Batch::<f32>::ode(5, 37, 2, 21),
        Batch::<f32>::sde(4, 37, 2, 19).with_next_contexts(),
        Batch::<f32>::sde(3, 41, 1, 19).ragged().with_next_contexts(),
    ] {
        let with_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (flow, gradients) = pool.install(|| batch.both(FlowSolver::default()));
            let g = gradients;
            [flow.states, flow.kl, g.start, g.drift, g.context, g.diffusion, g.prior]
                .map(|values| bits(&values))
        };
        let one = with_threads(1);
        for threads in [2, 3, 5] {
            assert!(one == with_threads(threads), "{threads} threads");
        }
    }
}

/// One series of a batch by itself.
fn alone(batch: &Batch<f32>, b: usize) -> Batch<f32> {
    let mut one = batch.clone();
    let n = batch.dim;
    one.series = 1;
    one.start = (0..batch.samples)
        .flat_map(|sample| batch.start[(sample * batch.series + b) * n..][..n].to_vec())
        .collect();
    if let Some(offsets) = &batch.time_offsets {
        one.times = batch.times[offsets[b]..offsets[b + 1]].to_vec();
        one.time_offsets = Some(vec![0, one.times.len()]);
    }
    one.requests = batch.requests[batch.request_offsets[b]..batch.request_offsets[b + 1]].to_vec();
    one.request_offsets = vec![0, one.requests.len()];
    one.numbers = vec![batch.numbers[b]];
    one.contexts = match &batch.contexts {
        Contexts::None => Contexts::None,
        Contexts::Constant(values) => {
            Contexts::Constant(values[b * batch.width..(b + 1) * batch.width].to_vec())
        }
        Contexts::Next { offsets, times, values } => Contexts::Next {
            offsets: vec![0, offsets[b + 1] - offsets[b]],
            times: times[offsets[b]..offsets[b + 1]].to_vec(),
            values: values[offsets[b] * batch.width..offsets[b + 1] * batch.width].to_vec(),
        },
    };
    one
}

#[test]
fn a_series_has_the_same_bits_whatever_stands_beside_it() {
    for batch in [
        Batch::<f32>::ode(5, 21, 1, 13),
        Batch::<f32>::sde(4, 21, 1, 13).with_next_contexts(),
        Batch::<f32>::sde(3, 21, 1, 17).ragged().with_next_contexts(),
    ] {
        for level in levels() {
            let solver = FlowSolver { level };
            let (flow, gradients) = batch.both(solver);
            let mut joined: [Vec<u32>; 4] = Default::default();
            for b in 0..batch.series {
                let (flow, gradients) = alone(&batch, b).both(solver);
                let parts = [flow.states, flow.kl, gradients.start, gradients.context];
                joined.iter_mut().zip(parts).for_each(|(all, part)| all.extend(bits(&part)));
            }
            let whole =
                [flow.states, flow.kl, gradients.start, gradients.context].map(|values| bits(&values));
            assert!(whole == joined, "{level:?}");
        }
    }
}

#[test]
fn all_states_can_be_asked_for() {
    let batch = Batch::<f64>::sde(3, 4, 1, 6).ragged();
    let all = stroock_kernels::flow::FlowProblem {
        requests: stroock_kernels::path::Requests::All,
        ..batch.problem()
    };
    let flow = FlowSolver::default().forward(&all).unwrap();
    assert_eq!(flow.states.len(), batch.times.len() * 3);
    assert_eq!(flow.states[..3], batch.start[..3]);
}

#[test]
fn what_does_not_fit_is_an_error_that_names_it() {
    let error = |change: &dyn Fn(&mut Batch<f64>)| {
        let mut batch = Batch::sde(3, 4, 2, 5).with_next_contexts();
        change(&mut batch);
        batch.forward(FlowSolver::default()).unwrap_err()
    };
    let argument = |error: FlowError| match error {
        FlowError::Argument(
            ArgumentError::Length { argument, .. }
            | ArgumentError::Empty { argument }
            | ArgumentError::NotFinite { argument, .. }
            | ArgumentError::Offsets { argument, .. },
        ) => argument,
        other => panic!("{other:?}"),
    };
    fn driven(batch: &mut Batch<f64>) -> &mut Driven<f64> {
        batch.driven.as_mut().unwrap()
    }
    fn next(batch: &mut Batch<f64>) -> (&mut Vec<usize>, &mut Vec<f64>, &mut Vec<f64>) {
        match &mut batch.contexts {
            Contexts::Next { offsets, times, values } => (offsets, times, values),
            _ => panic!("contexts at times"),
        }
    }
    type Change<'a> = (&'static str, &'a dyn Fn(&mut Batch<f64>));
    let changes: [Change<'_>; 19] = [
        ("dim", &|batch| batch.dim = 0),
        ("samples", &|batch| batch.samples = 0),
        ("start", &|batch| batch.start.clear()),
        ("start", &|batch| _ = batch.start.pop()),
        ("start", &|batch| batch.start[5] = f64::NAN),
        ("drift.parameters", &|batch| _ = batch.drift.pop()),
        ("drift.parameters", &|batch| batch.drift[3] = f64::INFINITY),
        ("drift.hidden", &|batch| batch.hidden[1] = 0),
        ("drift.parameters", &|batch| batch.hidden[1] = usize::MAX / 2),
        ("prior.parameters", &|batch| _ = driven(batch).prior.as_mut().unwrap().pop()),
        ("diffusion.parameters", &|batch| _ = driven(batch).diffusion.pop()),
        ("diffusion.hidden", &|batch| driven(batch).hidden = 0),
        ("noise", &|batch| driven(batch).noise = Some(vec![0.0; 7])),
        ("noise.series", &|batch| _ = batch.numbers.pop()),
        ("context.width", &|batch| batch.width = 0),
        ("context.values", &|batch| _ = next(batch).2.pop()),
        ("context.times", &|batch| next(batch).1[0] = f64::NAN),
        ("context.offsets", &|batch| _ = next(batch).0.pop()),
        ("requests.offsets", &|batch| _ = batch.request_offsets.pop()),
    ];
    for (name, change) in changes {
        assert_eq!(argument(error(change)), name);
    }
    let no_context = error(&|batch| next(batch).0[1] = 0);
    assert_eq!(no_context, FlowError::NoContext { series: 0 });
    let order = error(&|batch| {
        let (offsets, times, _) = next(batch);
        let last = offsets[4] - 1;
        times[last] = -9.0;
    });
    assert!(matches!(
        order,
        FlowError::Path(PathError::TimesNotIncreasing { argument: "context.times", .. })
    ));
    let outside = error(&|batch| batch.requests[0] = 77);
    assert!(matches!(outside, FlowError::Path(PathError::RequestOutsideGrid { .. })), "{outside}");
    let grid = error(&|batch| batch.times[2] = -1.0);
    assert!(matches!(grid, FlowError::Path(PathError::TimesNotIncreasing { argument: "grid", .. })));
    // Numbers that grow beyond all bounds are found, whose series they are, too.
    let wild = error(&|batch| {
        let last = batch.drift.len() - 1;
        batch.drift[last] = f64::MAX;
    });
    assert!(
        matches!(wild, FlowError::StateNotFinite { .. } | FlowError::DivergenceNotFinite { .. }),
        "{wild}"
    );
}

#[test]
fn tapes_of_other_problems_are_refused() {
    let (one, other) = (Batch::<f64>::ode(3, 4, 1, 5), Batch::<f64>::ode(3, 4, 1, 6));
    let solver = FlowSolver::default();
    let flow = one.forward(solver).unwrap();
    let of_states = vec![0.0; other.requests.len() * 3];
    let result = solver.backward(&other.problem(), &flow.tape, &of_states, &[0.0; 4]);
    assert!(matches!(result, Err(FlowError::ForeignTape)));
    let result = solver.backward(&one.problem(), &flow.tape, &[1.0], &[0.0; 4]);
    assert!(matches!(result, Err(FlowError::Argument(ArgumentError::Length { argument: "of_states", .. }))));
}
