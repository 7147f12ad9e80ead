//! The gated recurrent unit beside plain loops.

use arbitrary::{Result, Unstructured};
use stroock_kernels::gru::{Direction, GruProblem, GruSolver, Requested, Weights};
use stroock_kernels::simd::Level;

use super::numbers::{LARGEST_SUM, compare, extent, largest_sum, length, numbers, offsets, single};

/// The input chooses a problem.
pub fn run(data: &[u8]) {
    let _ = tried(&mut Unstructured::new(data));
}

fn tried(source: &mut Unstructured<'_>) -> Result<()> {
    let (width, hidden) = (extent(source, 1, 5)?, extent(source, 1, 9)?);
    // What is given has the size of a small unit, whatever is said.
    let (given_width, units) = (width.min(5), hidden.min(9));
    let count = usize::from(source.arbitrary::<u8>()? % 5);
    let offsets = offsets(source, count, 6)?;
    let rows = offsets.iter().copied().filter(|&rows| rows < 64).max().unwrap_or(0);
    let strange = source.arbitrary::<u8>()? < 64;
    let mut given = |entries: usize| -> Result<Vec<f64>> {
        let count = length(source, entries)?;
        numbers(source, count, strange)
    };
    let [w_ih, w_hh] = [given(3 * units * given_width)?, given(3 * units * units)?];
    let [b_ih, b_hh] = [given(3 * units)?, given(3 * units)?];
    let inputs = given(rows * given_width)?;
    let direction = if source.arbitrary()? { Direction::Forward } else { Direction::Backward };
    let requested = if source.arbitrary()? { Requested::All } else { Requested::Last };
    let problem = GruProblem {
        offsets: &offsets,
        direction,
        requested,
        width,
        hidden,
        inputs: &inputs,
        weights: Weights { w_ih: &w_ih, w_hh: &w_hh, b_ih: &b_ih, b_hh: &b_hh },
    };
    let solver = GruSolver { level: *source.choose(&Level::ALL)? };
    let found = match solver.forward(&problem) {
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Ok(());
        }
        Ok(found) => found,
    };
    // States are at most 1.
    let sums = largest_sum(width, &w_ih, &inputs)
        + largest_sum(hidden, &w_hh, &[])
        + largest_sum(1, &b_ih, &[])
        + largest_sum(1, &b_hh, &[]);
    if sums <= LARGEST_SUM {
        compare("states", &found.states, &by_definition(&problem), 1e-9);
    }
    let of_states = vec![1.0; found.states.len()];
    let gradients = solver.backward(&problem, &found.tape, &of_states);
    if let Ok(gradients) = gradients {
        assert_eq!(gradients.inputs.len(), inputs.len());
    }
    let _ = solver.backward(&problem, &found.tape, &of_states[1.min(of_states.len())..]);

    let [w_ih, w_hh, b_ih, b_hh, inputs] = [&w_ih, &w_hh, &b_ih, &b_hh, &inputs].map(|values| single(values));
    let weights = Weights { w_ih: &w_ih[..], w_hh: &w_hh, b_ih: &b_ih, b_hh: &b_hh };
    let problem =
        GruProblem { offsets: &offsets, direction, requested, width, hidden, inputs: &inputs, weights };
    if let Ok(found) = solver.forward(&problem) {
        let _ = solver.backward(&problem, &found.tape, &vec![1.0; found.states.len()]);
    }
    Ok(())
}

/// The states in plain loops.
fn by_definition(problem: &GruProblem<'_, f64>) -> Vec<f64> {
    let (width, hidden, weights) = (problem.width, problem.hidden, problem.weights);
    let mut all = vec![0.0; problem.inputs.len() / width * hidden];
    let mut last = Vec::new();
    for run in problem.offsets.windows(2) {
        let mut state = vec![0.0; hidden];
        let mut rows: Vec<usize> = (run[0]..run[1]).collect();
        if problem.direction == Direction::Backward {
            rows.reverse();
        }
        for row in rows {
            let input = &problem.inputs[row * width..(row + 1) * width];
            let affine = |matrix: &[f64], bias: &[f64], gate: usize, values: &[f64]| -> f64 {
                let columns = values.len();
                let row = &matrix[gate * columns..(gate + 1) * columns];
                bias[gate] + row.iter().zip(values).map(|(w, x)| w * x).sum::<f64>()
            };
            let next = (0..hidden).map(|unit| {
                let of_input = |gate: usize| affine(weights.w_ih, weights.b_ih, gate * hidden + unit, input);
                let of_state = |gate: usize| affine(weights.w_hh, weights.b_hh, gate * hidden + unit, &state);
                let reset = sigmoid(of_input(0) + of_state(0));
                let update = sigmoid(of_input(1) + of_state(1));
                let new = (of_input(2) + reset * of_state(2)).tanh();
                (1.0 - update) * new + update * state[unit]
            });
            state = next.collect();
            all[row * hidden..(row + 1) * hidden].copy_from_slice(&state);
        }
        last.extend(state);
    }
    match problem.requested {
        Requested::All => all,
        Requested::Last => last,
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
