//! AVX-512, AVX2 and portable code give the same numbers within rounding: paths, attention, the recurrent unit and
//! convolutions, forward and backward. What is said on standard error are the largest differences, each divided by
//! the largest number of its kind.

mod encoder;
mod layers;
mod problems;

use std::io::Write;

use encoder::Ragged;
use layers::Case;
use problems::Batch;
use stroock_kernels::attention::{AttentionSolver, ValueGradient};
use stroock_kernels::gru::{Direction, GruProblem, GruSolver, Requested, Weights};
use stroock_kernels::network::{Activation, Convolution};
use stroock_kernels::path::{PathSolver, Space};
use stroock_kernels::simd::Level;

/// Portable code rounds a product before it adds it, the other levels do not.
const TOLERANCE: f64 = 1e-5;

type Results = Vec<(&'static str, Vec<f32>)>;

/// Past the harness, which keeps the output of tests that pass.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Compares each level that the processor has with portable code.
fn assert_levels_agree(kernel: &str, run: impl Fn(Level) -> Results) {
    let portable = run(Level::Portable);
    for level in [Level::Avx2, Level::Avx512] {
        if !level.is_available() {
            say(&format!("SKIPPED {kernel}: this processor has no {level:?}"));
            continue;
        }
        for ((name, portable), (_, other)) in portable.iter().zip(run(level)) {
            assert_eq!(portable.len(), other.len());
            assert!(!other.is_empty(), "{kernel}: {name}");
            let scale = portable.iter().fold(0.0, |scale: f64, x| scale.max(f64::from(x.abs())));
            let differences = portable.iter().zip(&other).map(|(x, y)| (f64::from(*x) - f64::from(*y)).abs());
            let largest = differences.fold(0.0, f64::max) / scale.max(f64::MIN_POSITIVE);
            assert!(other.iter().all(|x| x.is_finite()), "{kernel}, {name}, {level:?}");
            assert!(largest <= TOLERANCE, "{kernel}, {name}, {level:?}: {largest:e}");
            say(&format!("{kernel}, {name}: {level:?} differs from portable code by {largest:.1e}"));
        }
    }
}

#[test]
fn paths() {
    let batches = [
        ("path on the sphere", Batch::<f32>::chebyshev(Space::Sphere, 16, 19, 2, 30).with_prior(5)),
        ("ragged paths on the sphere", Batch::ragged(Space::Sphere, 5, 21, 3)),
        ("paths in R^n", Batch::ragged(Space::GeneralLinear, 3, 21, 2)),
        ("hyperbolic paths", Batch::ragged(Space::Hyperbolic, 4, 21, 2).with_knots(true)),
    ];
    for (kernel, batch) in batches {
        assert_levels_agree(kernel, |level| {
            let solver = PathSolver { level, ..PathSolver::default() };
            let path = solver.forward(&batch.problem()).unwrap();
            // The same gradient for all levels: differences must not be carried over.
            let of_states: Vec<f32> = (0..path.states.len()).map(|i| (i as f32).sin()).collect();
            let of_kl = vec![0.5; path.kl.len()];
            let gradients = solver.backward(&batch.problem(), &path.tape, &of_states, &of_kl).unwrap();
            let mut all = vec![
                ("states", path.states),
                ("divergences", path.kl),
                ("gradient of the start", gradients.start),
                ("gradient of the drift", gradients.drift),
                ("gradient of sigma", gradients.sigma),
            ];
            all.retain(|(_, values)| !values.is_empty());
            all
        });
    }
}

#[test]
fn attention() {
    for (series, references, width, channels) in [(5, 33, 6, 3), (9, 128, 7, 41)] {
        let ragged = Ragged::<f32>::new(series, references, width, channels);
        assert_levels_agree("attention", |level| {
            let (solver, problem) = (AttentionSolver { level }, ragged.problem());
            let attended = solver.forward(&problem).unwrap();
            let of_output: Vec<f32> = (0..attended.output.len()).map(|i| (i as f32).sin()).collect();
            let gradients =
                solver.backward(&problem, &attended.tape, &of_output, ValueGradient::Computed).unwrap();
            vec![
                ("output", attended.output),
                ("gradient of the queries", gradients.queries),
                ("gradient of the keys", gradients.keys),
                ("gradient of the values", gradients.values.unwrap()),
            ]
        });
    }
}

#[test]
fn recurrent_unit() {
    let (width, hidden) = (7, 19);
    let offsets = [0, 12, 12, 13, 40, 47, 64];
    let numbers = |seed: u64, count: usize, scale: f64| -> Vec<f32> {
        layers::numbers(seed, count).into_iter().map(|x| (scale * x) as f32).collect()
    };
    let inputs = numbers(1, 64 * width, 2.0);
    let (w_ih, w_hh) = (numbers(2, 3 * hidden * width, 0.5), numbers(3, 3 * hidden * hidden, 0.3));
    let (b_ih, b_hh) = (numbers(4, 3 * hidden, 0.5), numbers(5, 3 * hidden, 0.5));
    for direction in [Direction::Forward, Direction::Backward] {
        let problem = GruProblem {
            offsets: &offsets,
            direction,
            requested: Requested::All,
            width,
            hidden,
            inputs: &inputs,
            weights: Weights { w_ih: &w_ih, w_hh: &w_hh, b_ih: &b_ih, b_hh: &b_hh },
        };
        let of_states = numbers(6, 64 * hidden, 1.0);
        assert_levels_agree("recurrent unit", |level| {
            let solver = GruSolver { level };
            let recurrence = solver.forward(&problem).unwrap();
            let gradients = solver.backward(&problem, &recurrence.tape, &of_states).unwrap();
            vec![
                ("states", recurrence.states),
                ("gradient of the inputs", gradients.inputs),
                ("gradient of w_ih", gradients.w_ih),
                ("gradient of w_hh", gradients.w_hh),
                ("gradient of b_ih", gradients.b_ih),
                ("gradient of b_hh", gradients.b_hh),
            ]
        });
    }
}

#[test]
fn convolutions() {
    let with = |convolution: Convolution| Convolution { activation: Activation::Sigmoid, ..convolution };
    let cases = [
        (with(Convolution::plain([3, 8], [5, 5]).stride(2).padding(2)), [28, 28]),
        (with(Convolution::plain([33, 35], [3, 3]).padding(1)), [6, 5]),
        (with(Convolution::transposed([16, 12], [3, 3]).stride(2).padding(1)), [9, 9]),
    ];
    for (convolution, size) in cases {
        let case = Case::single(convolution, 19, size, 7).cast::<f32>();
        assert_levels_agree("convolution", |level| {
            let [output, of_input, of_parameters] = case.at(level).run();
            vec![
                ("output", output),
                ("gradient of the input", of_input),
                ("gradient of the parameters", of_parameters),
            ]
        });
    }
}
