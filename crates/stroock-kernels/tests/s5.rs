//! Diagonal complex recurrences: values against a plain reference implementation, gradients against differences, bits
//! whatever stands beside.

use stroock_kernels::s5::{S5Error, S5Problem, S5Solver};
use stroock_kernels::simd::Level;
use stroock_testing::finite_difference::{assert_close, gradient};

/// Three states, one of them slow; series of different lengths, one without rows, gaps that repeat.
const STATES: usize = 3;
const OFFSETS: [usize; 5] = [0, 4, 4, 5, 11];
const GAPS: [f64; 11] = [1.0, 2.0, 1.0, 0.0, 3.5, 1.0, 1e-9, 2.0, 7.0, 2.0, 1.0];

fn numbers(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 7919 + seed * 104_729) % 1009) as f64 / 504.5 - 1.0).collect()
}

fn parameters() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let lambda = vec![-0.5, -1e-7, -0.2, -0.9, 1e-8, 2.5];
    (lambda, vec![-0.3, -2.0, 0.4], numbers(11 * 2 * STATES, 1))
}

fn problem<'a, T>(lambda: &'a [T], ln_delta: &'a [T], inputs: &'a [T]) -> S5Problem<'a, T> {
    S5Problem { states: STATES, offsets: &OFFSETS, gaps: &GAPS, lambda, ln_delta, inputs }
}

/// The recurrence as it is written down, with the quotient where it is no quotient of rounding errors.
fn plain(lambda: &[f64], ln_delta: &[f64], inputs: &[f64]) -> Vec<f64> {
    let multiply = |a: [f64; 2], b: [f64; 2]| [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];
    let mut states = vec![0.0; inputs.len()];
    for rows in OFFSETS.windows(2) {
        for p in 0..STATES {
            let mut x = [0.0; 2];
            for row in rows[0]..rows[1] {
                let step = ln_delta[p].exp() * GAPS[row];
                let l = [lambda[p], lambda[STATES + p]];
                let z = [l[0] * step, l[1] * step];
                let a = [z[0].exp() * z[1].cos(), z[0].exp() * z[1].sin()];
                let c = if z[0].hypot(z[1]) < 1e-3 {
                    // 1 + z/2 + z^2/6 + z^3/24
                    let (z2, z3) = (multiply(z, z), multiply(z, multiply(z, z)));
                    [0, 1].map(|i| step * (f64::from(i == 0) + z[i] / 2.0 + z2[i] / 6.0 + z3[i] / 24.0))
                } else {
                    let square = l[0] * l[0] + l[1] * l[1];
                    multiply([a[0] - 1.0, a[1]], [l[0] / square, -l[1] / square])
                };
                let w = [inputs[row * 2 * STATES + p], inputs[row * 2 * STATES + STATES + p]];
                let (old, new) = (multiply(a, x), multiply(c, w));
                x = [old[0] + new[0], old[1] + new[1]];
                states[row * 2 * STATES + p] = x[0];
                states[row * 2 * STATES + STATES + p] = x[1];
            }
        }
    }
    states
}

fn levels() -> impl Iterator<Item = S5Solver> {
    Level::ALL.into_iter().filter(|level| level.is_available()).map(|level| S5Solver { level })
}

#[test]
fn states_are_those_of_the_plain_recurrence() {
    let (lambda, ln_delta, inputs) = parameters();
    let expected = plain(&lambda, &ln_delta, &inputs);
    let single = |list: &[f64]| -> Vec<f32> { list.iter().map(|&x| x as f32).collect() };
    for solver in levels() {
        let states = solver.forward(&problem(&lambda, &ln_delta, &inputs)).unwrap();
        assert_close("states", &states, &expected, 1e-12);
        let [l, d, w] = [&lambda, &ln_delta, &inputs].map(|list| single(list));
        let states = solver.forward(&problem(&l, &d, &w)).unwrap();
        let states: Vec<f64> = states.into_iter().map(f64::from).collect();
        assert_close("single precision", &states, &expected, 3e-6);
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let (lambda, ln_delta, inputs) = parameters();
    let weights = numbers(inputs.len(), 5);
    for solver in levels() {
        let loss = |lambda: &[f64], ln_delta: &[f64], inputs: &[f64]| -> f64 {
            let states = solver.forward(&problem(lambda, ln_delta, inputs)).unwrap();
            // Not linear, so that gradients depend on the states.
            states.iter().zip(&weights).map(|(x, w)| w * x + 0.3 * x * x).sum()
        };
        let problem = problem(&lambda, &ln_delta, &inputs);
        let states = solver.forward(&problem).unwrap();
        let of_states: Vec<f64> = states.iter().zip(&weights).map(|(x, w)| w + 0.6 * x).collect();
        let gradients = solver.backward(&problem, &states, &of_states).unwrap();
        let of_lambda = gradient(&lambda, 1e-3, |lambda| loss(lambda, &ln_delta, &inputs));
        assert_close("lambda", &gradients.lambda, &of_lambda, 1e-8);
        let of_delta = gradient(&ln_delta, 1e-3, |ln_delta| loss(&lambda, ln_delta, &inputs));
        assert_close("ln_delta", &gradients.ln_delta, &of_delta, 1e-8);
        let of_inputs = gradient(&inputs, 1e-3, |inputs| loss(&lambda, &ln_delta, inputs));
        assert_close("inputs", &gradients.inputs, &of_inputs, 1e-8);
    }
}

#[test]
fn a_series_has_the_same_bits_alone() {
    let (lambda, ln_delta, inputs) = parameters();
    let together = S5Solver::default().forward(&problem(&lambda, &ln_delta, &inputs)).unwrap();
    let alone = S5Problem {
        states: STATES,
        offsets: &[0, 6],
        gaps: &GAPS[5..],
        lambda: &lambda,
        ln_delta: &ln_delta,
        inputs: &inputs[5 * 2 * STATES..],
    };
    assert_eq!(S5Solver::default().forward(&alone).unwrap(), together[5 * 2 * STATES..]);
}

#[test]
fn malformed_arguments_are_errors() {
    let (lambda, ln_delta, inputs) = parameters();
    let good = problem(&lambda, &ln_delta, &inputs);
    let fails = |problem: S5Problem<'_, f64>| S5Solver::default().forward(&problem).unwrap_err().to_string();
    assert!(fails(S5Problem { states: 0, ..good }).contains("`states`"));
    assert!(fails(S5Problem { offsets: &[], ..good }).contains("`offsets`"));
    assert!(fails(S5Problem { offsets: &[0, 4, 3, 5, 11], ..good }).contains("`offsets`"));
    assert!(fails(S5Problem { lambda: &lambda[1..], ..good }).contains("`lambda`"));
    assert!(fails(S5Problem { inputs: &inputs[1..], ..good }).contains("`inputs`"));
    let mut gaps = GAPS;
    gaps[3] = -1.0;
    assert!(fails(S5Problem { gaps: &gaps, ..good }).contains("`gaps` is -1 at row 3"));
    let growing = [1e3, -1e-7, -0.2, -0.9, 1e-8, 2.5];
    let error = S5Solver::default().forward(&problem(&growing, &ln_delta, &inputs)).unwrap_err();
    assert!(matches!(error, S5Error::Overflow { state: 0, .. }), "{error}");
    assert!(S5Solver::default().backward(&good, &inputs, &[1.0]).is_err());
}
