//! The backward pass: gradients of a function of the last hidden states.

use rayon::prelude::*;
use stroock_geometry::Real;

use super::cell::PullBackCell;
use super::forward::{GroupTape, Tape};
use super::gates::Gates;
use super::problem::{GruProblem, check};
use super::{GROUP, GruError, GruReal, GruSolver};
use crate::product::{Left, Panels, Product};
use crate::simd::Level;

/// Gradients of a loss with respect to the inputs and the weights of a recurrent unit.
#[derive(Clone, Debug)]
pub struct Gradients<T> {
    /// With respect to the inputs, `[B, R, D]`.
    pub inputs: Vec<T>,
    /// With respect to the weights of the input, `[3 H, D]`.
    pub w_ih: Vec<T>,
    /// With respect to the weights of the hidden state, `[3 H, H]`.
    pub w_hh: Vec<T>,
    /// With respect to the bias beside the input, `[3 H]`.
    pub b_ih: Vec<T>,
    /// With respect to the bias beside the hidden state, `[3 H]`.
    pub b_hh: Vec<T>,
}

impl GruSolver {
    /// Pulls gradients back through the sequences of a batch.
    ///
    /// `of_last` (`[B, H]`) is the gradient of the loss with respect to the last states that
    /// [`forward`](Self::forward) returned with `tape` for the same problem.
    ///
    /// # Errors
    /// When an argument is malformed or the tape does not fit.
    pub fn backward<T: GruReal>(
        &self,
        problem: &GruProblem<'_, T>,
        tape: &Tape<T>,
        of_last: &[T],
    ) -> Result<Gradients<T>, GruError> {
        let series = problem.series()?;
        let (steps, width, hidden) = (problem.steps, problem.width, problem.hidden);
        check("of_last", "[series, hidden]", series * hidden, of_last)?;
        let gates = Gates::new::<T>(self.level, hidden);
        let rows = |group: usize| GROUP.min(series - group * GROUP);
        let fits = tape.level == self.level
            && tape.groups.len() == series.div_ceil(GROUP)
            && tape.groups.iter().enumerate().all(|(i, group)| {
                group.gates.len() == steps * rows(i) * gates.extent()
                    && group.states.len() == (steps + 1) * rows(i) * gates.padded
            });
        if !fits {
            return Err(GruError::ForeignTape);
        }

        let run = Run {
            level: self.level,
            problem,
            gates,
            to_input: gates.gates_to_input(self.level, problem),
            to_hidden: gates.gates_to_hidden(self.level, problem),
        };
        let mut of_inputs = vec![T::zero(); problem.inputs.len()];
        let parts: Vec<OfWeights<T>> = tape
            .groups
            .par_iter()
            .zip(problem.inputs.par_chunks(GROUP * steps * width))
            .zip(of_last.par_chunks(GROUP * hidden))
            .zip(of_inputs.par_chunks_mut(GROUP * steps * width))
            .map(|(((tape, inputs), of_last), of_inputs)| run.group(tape, inputs, of_last, of_inputs))
            .collect();
        let sum = OfWeights::sum(parts);
        Ok(Gradients {
            inputs: of_inputs,
            w_ih: gates.of_input(&sum.input, width),
            w_hh: gates.of_hidden(&sum.hidden, hidden),
            b_ih: gates.of_input(&sum.biases, 1),
            b_hh: gates.of_hidden(&sum.biases[gates.padded..], 1),
        })
    }
}

/// Gradients of the weights in the order of the runs.
struct OfWeights<T> {
    /// `[n | r | z, D]`.
    input: Vec<T>,
    /// `[r | z | m, H]`.
    hidden: Vec<T>,
    /// `[n | r | z | m]`.
    biases: Vec<T>,
}

impl<T: Real> OfWeights<T> {
    /// In the order of the groups, whatever the threads did.
    fn sum(parts: Vec<Self>) -> Self {
        let add = |mut sum: Vec<T>, part: Vec<T>| {
            sum.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
            sum
        };
        let sum = parts.into_iter().reduce(|sum, part| Self {
            input: add(sum.input, part.input),
            hidden: add(sum.hidden, part.hidden),
            biases: add(sum.biases, part.biases),
        });
        sum.unwrap_or(Self { input: Vec::new(), hidden: Vec::new(), biases: Vec::new() })
    }
}

/// What all groups share.
struct Run<'a, T> {
    level: Level,
    problem: &'a GruProblem<'a, T>,
    gates: Gates,
    to_input: Panels<T>,
    to_hidden: Panels<T>,
}

/// Steps whose gradients in front of the gates are kept, in the cache, for the products that need them all.
const WINDOW: usize = 16;

impl<T: GruReal> Run<'_, T> {
    /// All steps of a group of series, the last first.
    fn group(&self, tape: &GroupTape<T>, inputs: &[T], of_last: &[T], of_inputs: &mut [T]) -> OfWeights<T> {
        let GruProblem { steps, width, hidden, .. } = *self.problem;
        let (units, extent) = (self.gates.padded, self.gates.extent());
        let rows = of_last.len() / hidden;
        let mut of_weights = OfWeights {
            input: vec![T::zero(); 3 * units * width],
            hidden: vec![T::zero(); 3 * units * hidden],
            biases: vec![T::zero(); extent],
        };
        let mut of_state = vec![T::zero(); rows * units];
        for (of_state, of_last) in of_state.chunks_exact_mut(units).zip(of_last.chunks_exact(hidden)) {
            of_state[..hidden].copy_from_slice(of_last);
        }
        let mut window = vec![T::zero(); WINDOW.min(steps) * rows * extent];
        for first in (0..steps).step_by(WINDOW).rev() {
            let count = WINDOW.min(steps - first);
            let of_gates = &mut window[..count * rows * extent];
            for (t, of_gates) in of_gates.chunks_exact_mut(rows * extent).enumerate().rev() {
                let t = first + t;
                let cell = PullBackCell {
                    gates: &tape.gates[t * rows * extent..][..rows * extent],
                    state: &tape.states[t * rows * units..][..rows * units],
                    of_state: &mut of_state,
                    of_gates: &mut *of_gates,
                    of_biases: &mut of_weights.biases,
                    units,
                };
                T::pull_back_cell(self.level, cell);
                let left = Left::Rows { entries: &of_gates[units..], stride: extent };
                let right = &self.to_hidden;
                T::multiply(self.level, Product { left, right, rows, out: &mut of_state, stride: units });
            }
            self.add_weights(first, of_gates, inputs, &tape.states, rows, &mut of_weights);
            for (i, of_sequence) in of_inputs.chunks_exact_mut(steps * width).enumerate() {
                let product = Product {
                    left: Left::Rows { entries: &of_gates[i * extent..], stride: rows * extent },
                    right: &self.to_input,
                    rows: count,
                    out: &mut of_sequence[first * width..],
                    stride: width,
                };
                T::multiply(self.level, product);
            }
        }
        of_weights
    }

    /// Adds `sum dG^T x` and `sum dG^T h` over the rows of a window that starts at step `first`.
    fn add_weights(
        &self,
        first: usize,
        of_gates: &[T],
        inputs: &[T],
        states: &[T],
        rows: usize,
        of_weights: &mut OfWeights<T>,
    ) {
        let GruProblem { steps, width, hidden, .. } = *self.problem;
        let (units, extent) = (self.gates.padded, self.gates.extent());
        let depth = of_gates.len() / extent;
        let mut x = Panels::zeros(self.level, depth, width);
        let mut h = Panels::zeros(self.level, depth, hidden);
        for k in 0..depth {
            let (t, i) = (first + k / rows, k % rows);
            x.set_row(k, &inputs[(i * steps + t) * width..][..width]);
            h.set_row(k, &states[(t * rows + i) * units..][..hidden]);
        }
        let input = Product {
            left: Left::Columns { entries: of_gates, stride: extent },
            right: &x,
            rows: 3 * units,
            out: &mut of_weights.input,
            stride: width,
        };
        T::multiply(self.level, input);
        let hidden = Product {
            left: Left::Columns { entries: &of_gates[units..], stride: extent },
            right: &h,
            rows: 3 * units,
            out: &mut of_weights.hidden,
            stride: hidden,
        };
        T::multiply(self.level, hidden);
    }
}
