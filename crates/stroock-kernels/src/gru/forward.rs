//! The forward pass: the last hidden state of every series.

use rayon::prelude::*;

use super::cell::Activate;
use super::gates::Gates;
use super::problem::GruProblem;
use super::{GROUP, GruError, GruReal, GruSolver};
use crate::product::{Left, Panels, Product};
use crate::simd::Level;

/// What a recurrent unit has made of a batch.
#[derive(Clone, Debug)]
pub struct Recurrence<T> {
    /// The last hidden state of every series, `[B, H]`.
    pub last: Vec<T>,
    /// What the backward pass needs.
    pub tape: Tape<T>,
}

/// What a forward pass keeps for the backward pass.
#[derive(Clone, Debug)]
pub struct Tape<T> {
    pub(super) level: Level,
    pub(super) groups: Vec<GroupTape<T>>,
}

/// The gates and states of a group of series.
#[derive(Clone, Debug)]
pub(super) struct GroupTape<T> {
    /// `[R, rows, n | r | z | m]`.
    pub gates: Vec<T>,
    /// `[R + 1, rows, H']`, from the zero state on.
    pub states: Vec<T>,
}

impl<T> Tape<T> {
    /// How many numbers are kept.
    pub fn len(&self) -> usize {
        self.groups.iter().map(|group| group.gates.len() + group.states.len()).sum()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl GruSolver {
    /// Runs over the sequences of a batch, each from the zero state.
    ///
    /// # Errors
    /// When an argument is malformed, or when the sums in front of the gates overflow.
    pub fn forward<T: GruReal>(&self, problem: &GruProblem<'_, T>) -> Result<Recurrence<T>, GruError> {
        let series = problem.series()?;
        let hidden = problem.hidden;
        let gates = Gates::new::<T>(self.level, hidden);
        let run = Run {
            level: self.level,
            problem,
            gates,
            from_input: gates.input_to_gates(self.level, problem),
            from_hidden: gates.hidden_to_gates(self.level, problem),
            biases: gates.biases(problem),
        };
        let mut last = vec![T::zero(); series * hidden];
        let groups = problem
            .inputs
            .par_chunks(GROUP * problem.steps * problem.width)
            .zip(last.par_chunks_mut(GROUP * hidden))
            .map(|(inputs, last)| run.group(inputs, last))
            .collect();
        // A state that is not a number stays so to the last step.
        if let Some(index) = last.iter().position(|h| !h.is_finite()) {
            return Err(GruError::Overflow { series: index / hidden });
        }
        Ok(Recurrence { last, tape: Tape { level: self.level, groups } })
    }
}

/// What all groups share.
struct Run<'a, T> {
    level: Level,
    problem: &'a GruProblem<'a, T>,
    gates: Gates,
    from_input: Panels<T>,
    from_hidden: Panels<T>,
    biases: Vec<T>,
}

impl<T: GruReal> Run<'_, T> {
    /// All steps of a group of series.
    fn group(&self, inputs: &[T], last: &mut [T]) -> GroupTape<T> {
        let (steps, width, hidden) = (self.problem.steps, self.problem.width, self.problem.hidden);
        let (units, extent) = (self.gates.padded, self.gates.extent());
        let rows = last.len() / hidden;
        let mut gates = self.biases.repeat(steps * rows);
        let mut states = vec![T::zero(); (steps + 1) * rows * units];
        for (i, sequence) in inputs.chunks_exact(steps * width).enumerate() {
            let product = Product {
                left: Left::Rows { entries: sequence, stride: width },
                right: &self.from_input,
                rows: steps,
                out: &mut gates[i * extent..],
                stride: rows * extent,
            };
            T::multiply(self.level, product);
        }
        for (t, gates) in gates.chunks_exact_mut(rows * extent).enumerate() {
            let (before, after) = states.split_at_mut((t + 1) * rows * units);
            let (state, next) = (&before[t * rows * units..], &mut after[..rows * units]);
            let product = Product {
                left: Left::Rows { entries: state, stride: units },
                right: &self.from_hidden,
                rows,
                out: &mut gates[units..],
                stride: extent,
            };
            T::multiply(self.level, product);
            T::activate(self.level, Activate { gates, state, next, units });
        }
        let final_states = states[steps * rows * units..].chunks_exact(units);
        for (last, state) in last.chunks_exact_mut(hidden).zip(final_states) {
            last.copy_from_slice(&state[..hidden]);
        }
        GroupTape { gates, states }
    }
}
