//! Mixtures of rows: values by definition, gradients by differences, bits whatever stands beside.

use stroock_kernels::mixing::{MixError, MixProblem, MixSolver};
use stroock_kernels::simd::Level;

const OFFSETS: [usize; 5] = [0, 3, 3, 4, 11];
const SAMPLES: usize = 3;
const ROWS: usize = 7;
const WIDTH: usize = 5;

fn numbers(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 7919 + seed * 104_729) % 1009) as f64 / 504.5 - 1.0).collect()
}

fn problem<'a, T>(weights: &'a [T], values: &'a [T]) -> MixProblem<'a, T> {
    MixProblem { samples: SAMPLES, rows: ROWS, width: WIDTH, offsets: &OFFSETS, weights, values }
}

/// By the definition.
fn mixed(weights: &[f64], values: &[f64]) -> Vec<f64> {
    let series = OFFSETS.len() - 1;
    let mut output = Vec::new();
    for s in 0..SAMPLES {
        for b in 0..series {
            for q in OFFSETS[b]..OFFSETS[b + 1] {
                for c in 0..WIDTH {
                    let of_row =
                        |r: usize| weights[q * ROWS + r] * values[((s * series + b) * ROWS + r) * WIDTH + c];
                    output.push((0..ROWS).map(of_row).sum());
                }
            }
        }
    }
    output
}

#[test]
fn mixtures_and_gradients_are_those_of_the_definition() {
    let (weights, values) = (numbers(11 * ROWS, 1), numbers(SAMPLES * 4 * ROWS * WIDTH, 2));
    let of_output = numbers(SAMPLES * 11 * WIDTH, 3);
    let loss = |weights: &[f64], values: &[f64]| -> f64 {
        mixed(weights, values).iter().zip(&of_output).map(|(a, b)| a * b).sum()
    };
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        let solver = MixSolver { level };
        let output = solver.forward(&problem(&weights, &values)).unwrap();
        for (a, b) in output.iter().zip(mixed(&weights, &values)) {
            assert!((a - b).abs() < 1e-13, "{level:?}: {a} is not {b}");
        }
        let gradients = solver.backward(&problem(&weights, &values), &of_output).unwrap();
        // The loss is linear in each of them: differences are exact but for rounding.
        let nudged = |list: &[f64], i: usize, step: f64| {
            let mut list = list.to_vec();
            list[i] += step;
            list
        };
        for (i, gradient) in gradients.weights.iter().enumerate() {
            let at = |step| loss(&nudged(&weights, i, step), &values);
            assert!((gradient - (at(0.5) - at(-0.5))).abs() < 1e-12, "weight {i}");
        }
        for (i, gradient) in gradients.values.iter().enumerate() {
            let at = |step| loss(&weights, &nudged(&values, i, step));
            assert!((gradient - (at(0.5) - at(-0.5))).abs() < 1e-12, "value {i}");
        }
    }
}

#[test]
fn a_series_has_the_same_bits_alone() {
    let single = |list: Vec<f64>| -> Vec<f32> { list.into_iter().map(|x| x as f32).collect() };
    let (weights, values) = (single(numbers(11 * ROWS, 1)), single(numbers(SAMPLES * 4 * ROWS * WIDTH, 2)));
    let together = MixSolver::default().forward(&problem(&weights, &values)).unwrap();
    let extent = ROWS * WIDTH;
    for s in 0..SAMPLES {
        let alone = MixProblem {
            samples: 1,
            rows: ROWS,
            width: WIDTH,
            offsets: &[0, 7],
            weights: &weights[4 * ROWS..],
            values: &values[(s * 4 + 3) * extent..(s * 4 + 4) * extent],
        };
        let alone = MixSolver::default().forward(&alone).unwrap();
        assert_eq!(alone, together[(s * 11 + 4) * WIDTH..(s + 1) * 11 * WIDTH]);
    }
}

#[test]
fn malformed_arguments_are_errors() {
    let (weights, values) = (numbers(11 * ROWS, 1), numbers(SAMPLES * 4 * ROWS * WIDTH, 2));
    let solver = MixSolver::default();
    let good = problem(&weights, &values);
    let fails = |problem: MixProblem<'_, f64>| {
        let MixError::Argument(error) = solver.forward(&problem).unwrap_err() else { return String::new() };
        error.to_string()
    };
    assert!(fails(MixProblem { samples: 0, ..good }).contains("`samples`"));
    assert!(fails(MixProblem { offsets: &[], ..good }).contains("`offsets`"));
    assert!(fails(MixProblem { offsets: &[0, 3, 2, 4, 11], ..good }).contains("`offsets`"));
    assert!(fails(MixProblem { weights: &weights[1..], ..good }).contains("`weights`"));
    assert!(fails(MixProblem { values: &values[1..], ..good }).contains("`values`"));
    let mut holed = values.clone();
    holed[5] = f64::NAN;
    assert!(fails(MixProblem { values: &holed, ..good }).contains("`values`"));
    assert!(solver.backward(&good, &[1.0]).is_err());
}
