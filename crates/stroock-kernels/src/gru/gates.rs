//! Where the gates stand in memory, and the weights in that order.
//!
//! A step keeps four numbers per hidden unit, in four runs `[n | r | z | m]`: the gates and
//! `m = W_hn h + b_hn`. In this order both products write to neighbouring runs: the input to `n, r, z`, the
//! hidden state to `r, z, m`, each on top of what is there. Runs are filled up with zeros to whole vectors
//! (`H'` units): such a unit stays 0 and touches nothing. Backward, where the units are rows or the inner
//! dimension of a product, each run has a product of its own, which leaves them out.

use super::problem::GruProblem;
use crate::product::Panels;
use crate::simd::{Level, SimdReal};

/// Runs of a step.
pub(super) const RUNS: usize = 4;

/// For the runs `n, r, z`: the gate's place in the order `r, z, n` of the weights.
const FROM_INPUT: [usize; 3] = [2, 0, 1];
/// For the runs `r, z, m`.
const FROM_HIDDEN: [usize; 3] = [0, 1, 2];

/// How units are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gates {
    /// Hidden units `H`.
    pub hidden: usize,
    /// `H'`.
    pub padded: usize,
}

impl Gates {
    pub fn new<T: SimdReal>(level: Level, hidden: usize) -> Self {
        Self { hidden, padded: hidden.next_multiple_of(T::width(level)) }
    }

    /// Numbers of a step of one series.
    pub fn extent(&self) -> usize {
        RUNS * self.padded
    }

    /// The row of the weights for each place in three runs.
    fn rows(&self, gates: [usize; 3]) -> impl Iterator<Item = (usize, usize)> + use<> {
        let Gates { hidden, padded } = *self;
        gates.into_iter().enumerate().flat_map(move |(run, gate)| {
            (0..hidden).map(move |unit| (run * padded + unit, gate * hidden + unit))
        })
    }

    /// `W_ih^T`, `[D, n | r | z]`.
    pub fn input_to_gates<T: SimdReal>(&self, level: Level, problem: &GruProblem<'_, T>) -> Panels<T> {
        let mut panels = Panels::zeros(level, problem.width, 3 * self.padded);
        for (place, row) in self.rows(FROM_INPUT) {
            panels.set_column(place, &problem.weights.w_ih[row * problem.width..][..problem.width]);
        }
        panels
    }

    /// `W_hh^T`, `[H, r | z | m]`.
    pub fn hidden_to_gates<T: SimdReal>(&self, level: Level, problem: &GruProblem<'_, T>) -> Panels<T> {
        let mut panels = Panels::zeros(level, self.hidden, 3 * self.padded);
        for (place, row) in self.rows(FROM_HIDDEN) {
            panels.set_column(place, &problem.weights.w_hh[row * self.hidden..][..self.hidden]);
        }
        panels
    }

    /// `W_ih`, `[H, D]` for each of the runs `n, r, z`.
    pub fn gates_to_input<T: SimdReal>(&self, level: Level, problem: &GruProblem<'_, T>) -> [Panels<T>; 3] {
        FROM_INPUT.map(|gate| self.gate_panels(level, gate, problem.weights.w_ih, problem.width))
    }

    /// `W_hh`, `[H, H]` for each of the runs `r, z, m`.
    pub fn gates_to_hidden<T: SimdReal>(&self, level: Level, problem: &GruProblem<'_, T>) -> [Panels<T>; 3] {
        FROM_HIDDEN.map(|gate| self.gate_panels(level, gate, problem.weights.w_hh, self.hidden))
    }

    /// The rows of one gate of `weights`, `[3 H, columns]`.
    fn gate_panels<T: SimdReal>(
        &self,
        level: Level,
        gate: usize,
        weights: &[T],
        columns: usize,
    ) -> Panels<T> {
        let mut panels = Panels::zeros(level, self.hidden, columns);
        for unit in 0..self.hidden {
            panels.set_row(unit, &weights[(gate * self.hidden + unit) * columns..][..columns]);
        }
        panels
    }

    /// What a step starts from, `[n | r | z | m]`: the biases of the input and of the hidden state, summed
    /// where both go to the same run.
    pub fn biases<T: SimdReal>(&self, problem: &GruProblem<'_, T>) -> Vec<T> {
        let mut biases = vec![T::zero(); self.extent()];
        for (place, row) in self.rows(FROM_INPUT) {
            biases[place] += problem.weights.b_ih[row];
        }
        for (place, row) in self.rows(FROM_HIDDEN) {
            biases[self.padded + place] += problem.weights.b_hh[row];
        }
        biases
    }

    /// `[n | r | z, columns]`, whose runs have `rows` rows, of which the first `H` are units, in the order
    /// `[3 H, columns]` of the weights of the input.
    pub fn of_input<T: SimdReal>(&self, runs: &[T], rows: usize, columns: usize) -> Vec<T> {
        self.reorder(FROM_INPUT, runs, rows, columns)
    }

    /// `[r | z | m, columns]`, as [`of_input`](Self::of_input), in the order of the weights of the hidden state.
    pub fn of_hidden<T: SimdReal>(&self, runs: &[T], rows: usize, columns: usize) -> Vec<T> {
        self.reorder(FROM_HIDDEN, runs, rows, columns)
    }

    fn reorder<T: SimdReal>(&self, gates: [usize; 3], runs: &[T], rows: usize, columns: usize) -> Vec<T> {
        let extent = self.hidden * columns;
        let mut weights = vec![T::zero(); 3 * extent];
        for (run, gate) in runs.chunks(rows * columns).zip(gates) {
            weights[gate * extent..][..extent].copy_from_slice(&run[..extent]);
        }
        weights
    }
}
