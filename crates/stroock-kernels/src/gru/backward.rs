//! The backward pass: gradients of a function of the hidden states.

use std::ops::Range;

use rayon::prelude::*;
use stroock_geometry::Real;

use super::cell::PullBackCell;
use super::forward::{GroupTape, Tape};
use super::gates::Gates;
use super::groups::{Group, deal, groups};
use super::problem::{GruProblem, Requested, check};
use super::{GruError, GruReal, GruSolver};
use crate::product::{Left, Panels, Product};
use crate::simd::Level;

/// Gradients of a loss with respect to the inputs and the weights of a recurrent unit.
#[derive(Clone, Debug)]
pub struct Gradients<T> {
    /// With respect to the inputs, `[N, D]`.
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
    /// `of_states` (`[B, H]` or `[N, H]`) is the gradient of the loss with respect to the states that
    /// [`forward`](Self::forward) returned with `tape` for the same problem.
    ///
    /// # Errors
    /// When an argument is malformed or the tape does not fit.
    pub fn backward<T: GruReal>(
        &self,
        problem: &GruProblem<'_, T>,
        tape: &Tape<T>,
        of_states: &[T],
    ) -> Result<Gradients<T>, GruError> {
        problem.check()?;
        let (width, hidden) = (problem.width, problem.hidden);
        let shape = match problem.requested {
            Requested::Last => "[series, hidden]",
            Requested::All => "[last offset, hidden]",
        };
        check("of_states", shape, problem.outputs().sum::<usize>() * hidden, of_states)?;
        if !tape.fits(self.level, problem) {
            return Err(GruError::ForeignTape);
        }

        let gates = Gates::new::<T>(self.level, hidden);
        let run = Run {
            level: self.level,
            problem,
            of_states,
            gates,
            to_input: gates.gates_to_input(self.level, problem),
            to_hidden: gates.gates_to_hidden(self.level, problem),
        };
        let groups = groups(problem);
        let mut of_inputs = vec![T::zero(); problem.inputs.len()];
        let lengths = problem.offsets.windows(2).map(|rows| (rows[1] - rows[0]) * width);
        let parts: Vec<OfWeights<T>> = groups
            .par_iter()
            .zip(&tape.groups)
            .zip(deal(&groups, &mut of_inputs, lengths))
            .map(|((group, tape), of_inputs)| run.group(group, tape, of_inputs))
            .collect();
        let sum = parts.into_iter().reduce(OfWeights::add);
        let sum = sum.unwrap_or_else(|| OfWeights::zeros(&gates, width));
        Ok(Gradients {
            inputs: of_inputs,
            w_ih: gates.of_input(&sum.input, hidden, width),
            w_hh: gates.of_hidden(&sum.hidden, hidden, hidden),
            b_ih: gates.of_input(&sum.biases, gates.padded, 1),
            b_hh: gates.of_hidden(&sum.biases[gates.padded..], gates.padded, 1),
        })
    }
}

/// Gradients of the weights in the order of the runs.
struct OfWeights<T> {
    /// `[n | r | z, D]`, runs of `H` rows.
    input: Vec<T>,
    /// `[r | z | m, H]`, runs of `H` rows.
    hidden: Vec<T>,
    /// `[n | r | z | m]`, runs of `H'`.
    biases: Vec<T>,
}

impl<T: Real> OfWeights<T> {
    fn zeros(gates: &Gates, width: usize) -> Self {
        Self {
            input: vec![T::zero(); 3 * gates.hidden * width],
            hidden: vec![T::zero(); 3 * gates.hidden * gates.hidden],
            biases: vec![T::zero(); gates.extent()],
        }
    }

    /// Groups are added in their order, whatever the threads did.
    fn add(self, other: Self) -> Self {
        let add = |mut sum: Vec<T>, part: Vec<T>| {
            sum.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
            sum
        };
        Self {
            input: add(self.input, other.input),
            hidden: add(self.hidden, other.hidden),
            biases: add(self.biases, other.biases),
        }
    }
}

/// What all groups share.
struct Run<'a, T> {
    level: Level,
    problem: &'a GruProblem<'a, T>,
    of_states: &'a [T],
    gates: Gates,
    to_input: [Panels<T>; 3],
    to_hidden: [Panels<T>; 3],
}

impl<T: GruReal> Run<'_, T> {
    /// All steps of a group of series, the last first.
    fn group(&self, group: &Group, tape: &GroupTape<T>, mut of_inputs: Vec<&mut [T]>) -> OfWeights<T> {
        let width = self.problem.width;
        let (units, extent) = (self.gates.padded, self.gates.extent());
        let mut of_weights = OfWeights::zeros(&self.gates, width);
        // A series that has not been reached yet stands behind those that run, and has the gradient 0.
        let mut of_state = vec![T::zero(); group.series() * units];
        let [mut of_gates, mut of_x] = [(); 2].map(|()| Vec::new());
        for window in group.windows().rev() {
            let span = group.span(&window);
            of_gates.resize(span.len() * extent, T::zero());
            for t in window.clone().rev() {
                let (step, before) = (group.step(t), group.before(t));
                let rows = step.len();
                self.add_of_states(group, t, &mut of_state);
                let of_gates = &mut of_gates[(step.start - span.start) * extent..][..rows * extent];
                let cell = PullBackCell {
                    gates: &tape.gates[step.start * extent..step.end * extent],
                    state: &tape.states[before.start * units..before.end * units],
                    of_state: &mut of_state[..rows * units],
                    of_gates: &mut *of_gates,
                    of_biases: &mut of_weights.biases,
                    units,
                };
                T::pull_back_cell(self.level, cell);
                self.add_pulled_back(&of_gates[units..], &self.to_hidden, rows, &mut of_state, units);
            }
            self.add_weights(group, &window, &of_gates, &tape.states, &mut of_weights);
            of_x.clear();
            of_x.resize(span.len() * width, T::zero());
            self.add_pulled_back(&of_gates, &self.to_input, span.len(), &mut of_x, width);
            for ((t, i), of_x) in group.places(&window).zip(of_x.chunks_exact(width)) {
                of_inputs[i][group.own_row(t, i) * width..][..width].copy_from_slice(of_x);
            }
        }
        of_weights
    }

    /// Adds the gradients of the states after step `t` that were returned.
    fn add_of_states(&self, group: &Group, t: usize, of_state: &mut [T]) {
        let hidden = self.problem.hidden;
        let rows = of_state.chunks_exact_mut(self.gates.padded).take(group.step(t).len());
        for (i, of_state) in rows.enumerate() {
            if let Some(output) = group.output(t, i) {
                let of_output = &self.of_states[output * hidden..][..hidden];
                of_state.iter_mut().zip(of_output).for_each(|(sum, &g)| *sum += g);
            }
        }
    }

    /// Adds `sum dG^T x` and `sum dG^T h` over the rows of a window.
    fn add_weights(
        &self,
        group: &Group,
        window: &Range<usize>,
        of_gates: &[T],
        states: &[T],
        of_weights: &mut OfWeights<T>,
    ) {
        let GruProblem { width, hidden, inputs, .. } = *self.problem;
        let units = self.gates.padded;
        let depth = group.span(window).len();
        let mut x = Panels::zeros(self.level, depth, width);
        let mut h = Panels::zeros(self.level, depth, hidden);
        for (k, (t, i)) in group.places(window).enumerate() {
            x.set_row(k, &inputs[group.row(t, i) * width..][..width]);
            h.set_row(k, &states[(group.before(t).start + i) * units..][..hidden]);
        }
        self.add_outer(of_gates, &x, &mut of_weights.input, width);
        self.add_outer(&of_gates[units..], &h, &mut of_weights.hidden, hidden);
    }

    /// Adds `dG W` of three runs, of which `of_gates` starts with the first, to rows of `out`.
    fn add_pulled_back(
        &self,
        of_gates: &[T],
        weights: &[Panels<T>; 3],
        rows: usize,
        out: &mut [T],
        stride: usize,
    ) {
        for (run, right) in weights.iter().enumerate() {
            let entries = &of_gates[run * self.gates.padded..];
            let left = Left::Rows { entries, stride: self.gates.extent() };
            T::multiply(self.level, Product { left, right, rows, out: &mut *out, stride });
        }
    }

    /// Adds `dG^T right` of three runs, of which `of_gates` starts with the first, to `out`, `[3 H, columns]`.
    fn add_outer(&self, of_gates: &[T], right: &Panels<T>, out: &mut [T], columns: usize) {
        let rows = self.gates.hidden;
        for (run, out) in out.chunks_exact_mut(rows * columns).enumerate() {
            let entries = &of_gates[run * self.gates.padded..];
            let left = Left::Columns { entries, stride: self.gates.extent() };
            T::multiply(self.level, Product { left, right, rows, out, stride: columns });
        }
    }
}
