//! Filters: against their formulas, against finite differences, in both precisions, for any number of threads.

mod batch;
mod reference;

use batch::{Batch, Mixed, by_leaf, loss};
use stroock_kernels::argument::ArgumentError;
use stroock_kernels::kalman::{KalmanError, KalmanSolver, Transition};
use stroock_kernels::simd::Level;
use stroock_testing::finite_difference::{assert_close, gradient};

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_available())
}

/// Every kind of batch, small. Series of no points are among them.
fn batches() -> Vec<(&'static str, Batch<f64>)> {
    let mut alike = Batch::eigenvalues(3, &[6, 3], 1.0);
    alike.coefficients.fill(1e-5);
    let mut still = Batch::banded(3, 2, &[6, 3], 1.0);
    still.coefficients.fill(0.0);
    let mut together = Batch::banded(2, 1, &[5, 6], 1.0);
    together.gaps.fill(0.0);
    vec![
        ("eigenvalues", Batch::eigenvalues(3, &[5, 0, 1, 7, 4, 6], 1.5)),
        ("eigenvalues, long gaps", Batch::eigenvalues(2, &[5, 4], 8.0)),
        ("eigenvalues at their published start", alike),
        ("bands", Batch::banded(4, 1, &[5, 0, 1, 7, 4, 6], 0.4)),
        ("full blocks", Batch::banded(3, 3, &[4, 5], 1.0)),
        ("bands, long gaps", Batch::banded(3, 1, &[4, 3], 4.0)),
        ("bands at their published start", still),
        ("one dimension", Batch::banded(1, 0, &[4, 5], 1.0)),
        ("no time between the points", together),
    ]
}

#[test]
fn beliefs_are_those_of_the_formulas() {
    for (name, batch) in batches() {
        let expected = reference::filter(&batch);
        for level in levels() {
            assert_close(name, &batch.forward(KalmanSolver { level }).unwrap(), &expected, 1e-11);
        }
    }
}

#[test]
fn gradients_of_every_input_are_those_of_finite_differences() {
    for (name, mut batch) in batches() {
        let (_, gradients) = batch.both(KalmanSolver::default());
        let gradients = by_leaf(&gradients);
        assert_eq!(batch.leaves().len(), gradients.len(), "{name}");
        for (i, exact) in gradients.iter().enumerate() {
            let (leaf, at) = {
                let leaves = batch.leaves();
                (leaves[i].0, leaves[i].1.clone())
            };
            let numeric = gradient(&at, 1e-3, |x| {
                batch.leaves()[i].1.copy_from_slice(x);
                loss(&batch.forward(KalmanSolver::default()).unwrap())
            });
            batch.leaves()[i].1.copy_from_slice(&at);
            let scale = exact.iter().fold(1f64, |largest, x| largest.max(x.abs()));
            for (place, (exact, numeric)) in exact.iter().zip(&numeric).enumerate() {
                let difference = (exact - numeric).abs();
                assert!(difference < 1e-8 * scale, "{name}, {leaf}[{place}]: {exact} {numeric}");
            }
            // Sets that are alike have a mixture without effect, and no time moves nothing.
            let vanishes = (name.contains("start") && ["weights", "biases", "basis"].contains(&leaf))
                || (name.contains("no time") && !["observations", "initial"].contains(&leaf));
            assert!(vanishes || exact.iter().any(|g| g.abs() > 1e-4), "{name}: nothing flows to {leaf}");
        }
    }
}

/// Batches of the sizes of the published experiments.
fn large() -> Vec<(&'static str, Batch<f64>)> {
    let points: Vec<usize> = (0..13).map(|b| (b * 5) % 17).collect();
    let mut banded = Batch::banded(15, 3, &points, 1.0);
    let mut full = Batch::banded(10, 10, &points, 1.0);
    let mut eigenvalues = Batch::eigenvalues(15, &points, 1.0);
    for (batch, factor) in [(&mut banded, 0.4), (&mut full, 0.3), (&mut eigenvalues, 1.0)] {
        batch.coefficients.iter_mut().for_each(|x| *x *= factor);
    }
    vec![("bands", banded), ("full blocks", full), ("eigenvalues", eigenvalues)]
}

#[test]
fn single_precision_is_double_precision_rounded() {
    for (name, batch) in batches().into_iter().chain(large()) {
        let (exact, exact_gradients) = batch.both(KalmanSolver::default());
        for level in levels() {
            let (beliefs, gradients) = batch.single().both(KalmanSolver { level });
            let largest = |values: &[f64]| values.iter().fold(1f64, |largest, x| largest.max(x.abs()));
            let scale = largest(&exact);
            for (single, exact) in beliefs.iter().zip(&exact) {
                assert!((f64::from(*single) - exact).abs() < 2e-5 * scale, "{name}, {level:?}");
            }
            for (single, exact) in by_leaf(&gradients).iter().zip(by_leaf(&exact_gradients)) {
                let scale = largest(&exact);
                for (single, exact) in single.iter().zip(exact) {
                    assert!((single - exact).abs() < 1e-4 * scale, "{name}, {level:?}: {single} {exact}");
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
    for (name, batch) in large() {
        let batch = batch.single();
        let with_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (beliefs, gradients) = pool.install(|| batch.both(KalmanSolver::default()));
            let s = gradients.shared;
            let all = [beliefs, gradients.observations, s.initial, s.noise, s.weights, s.biases];
            let all = all.into_iter().chain([s.coefficients, s.basis]);
            all.map(|values| bits(&values)).collect::<Vec<_>>()
        };
        let one = with_threads(1);
        for threads in [2, 3, 5] {
            assert!(one == with_threads(threads), "{name}, {threads} threads");
        }
    }
}

#[test]
fn a_series_has_the_same_bits_whatever_stands_beside_it() {
    for (name, batch) in large() {
        let batch = batch.single();
        for level in levels() {
            let solver = KalmanSolver { level };
            // The loss of a series by itself has other factors: only what is linear in them is compared.
            let whole = batch.forward(solver).unwrap();
            let ones = vec![1.0; whole.len()];
            let of_whole = solver.backward(&batch.problem(), &whole, &ones).unwrap().observations;
            let (mut joined, mut of_joined) = (Vec::new(), Vec::new());
            for b in 0..batch.offsets.len() - 1 {
                let alone = batch.alone(b);
                let beliefs = alone.forward(solver).unwrap();
                let ones = vec![1.0; beliefs.len()];
                let gradients = solver.backward(&alone.problem(), &beliefs, &ones).unwrap();
                joined.extend(bits(&beliefs));
                of_joined.extend(bits(&gradients.observations));
            }
            assert!(bits(&whole) == joined && bits(&of_whole) == of_joined, "{name}, {level:?}");
        }
    }
}

#[test]
fn the_future_does_not_change_the_past() {
    for (name, batch) in batches() {
        let mut other = batch.clone();
        let last = other.observations.len() - 1;
        other.observations[last] += 1.0;
        let solver = KalmanSolver::default();
        let [one, two] = [&batch, &other].map(|batch| batch.forward(solver).unwrap());
        let width = 5 * batch.half;
        let point = batch.observed.iter().rposition(|&observed| observed).expect("an observation");
        assert_eq!(one[..point * width], two[..point * width], "{name}");
        assert_ne!(one[point * width..], two[point * width..], "{name}");
    }
}

#[test]
fn a_batch_without_series_has_gradients() {
    let batch = Batch::eigenvalues(2, &[], 1.0);
    let (beliefs, gradients) = batch.both(KalmanSolver::default());
    assert!(beliefs.is_empty() && gradients.shared.basis == [0.0; 16]);
}

#[test]
fn what_does_not_fit_is_an_error_that_names_it() {
    let error = |change: &dyn Fn(&mut Batch<f64>)| {
        let mut batch = Batch::eigenvalues(2, &[4, 5], 1.0);
        change(&mut batch);
        batch.forward(KalmanSolver::default()).unwrap_err()
    };
    let argument = |error: KalmanError| match error {
        KalmanError::Argument(
            ArgumentError::Length { argument, .. }
            | ArgumentError::Empty { argument }
            | ArgumentError::NotFinite { argument, .. }
            | ArgumentError::Offsets { argument, .. },
        ) => argument,
        other => panic!("{other:?}"),
    };
    type Change<'a> = (&'static str, &'a dyn Fn(&mut Batch<f64>));
    let changes: [Change<'_>; 15] = [
        ("half", &|batch| batch.half = 0),
        ("observations", &|batch| batch.half = 3),
        ("observations", &|batch| batch.half = usize::MAX / 2),
        ("offsets", &|batch| batch.offsets.clear()),
        ("offsets", &|batch| batch.offsets[1] = 99),
        ("gaps", &|batch| batch.gaps[3] = f64::NAN),
        ("observed", &|batch| _ = batch.observed.pop()),
        ("observations", &|batch| _ = batch.observations.pop()),
        ("initial", &|batch| _ = batch.initial.pop()),
        ("noise", &|batch| batch.noise[1] = f64::INFINITY),
        ("weights", &|batch| _ = batch.weights.pop()),
        ("biases", &|batch| batch.biases.clear()),
        ("coefficients", &|batch| _ = batch.coefficients.pop()),
        ("coefficients", &|batch| batch.mixed = Mixed::Banded { bandwidth: 1 }),
        ("basis", &|batch| batch.mixed = Mixed::Eigenvalues { basis: vec![1.0] }),
    ];
    for (name, change) in changes {
        assert_eq!(argument(error(change)), name);
    }
    assert_eq!(error(&|batch| batch.gaps[5] = -0.1), KalmanError::NegativeGap { index: 5 });
    // The gap before the first point of a series has no meaning.
    let mut batch = Batch::eigenvalues(2, &[4, 5], 1.0);
    batch.gaps[4] = -0.1;
    assert!(batch.forward(KalmanSolver::default()).is_ok());
    let wild = error(&|batch| batch.coefficients.fill(1e5));
    assert_eq!(wild, KalmanError::NotFinite { series: 0 });
    let solver = KalmanSolver::default();
    let beliefs = batch.forward(solver).unwrap();
    let short = solver.backward(&batch.problem(), &beliefs, &beliefs[1..]).unwrap_err();
    assert_eq!(argument(short), "of_beliefs");
}

#[test]
fn bands_have_as_many_entries_as_places() {
    for half in 1..6 {
        for bandwidth in 0..8 {
            let places = Transition::<f64>::banded_places(half, bandwidth).count();
            assert_eq!(Transition::<f64>::banded_entries(half, bandwidth), places, "{half} {bandwidth}");
        }
    }
    // Sizes from a configuration are counted before they are checked.
    assert!(Transition::<f64>::banded_entries(usize::MAX / 8, usize::MAX) > 0);
}
