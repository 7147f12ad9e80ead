//! The forward pass: the hidden states of every series.

use rayon::prelude::*;

use super::cell::Activate;
use super::gates::Gates;
use super::groups::{Group, deal, groups};
use super::problem::{Direction, GruProblem};
use super::{GruError, GruReal, GruSolver};
use crate::argument::first_not_finite;
use crate::product::{Left, Panels, Product};
use crate::simd::Level;

/// What a recurrent unit has made of a batch.
#[derive(Clone, Debug)]
pub struct Recurrence<T> {
    /// The requested hidden states: the last one of every series, `[B, H]`, or the one after every row, `[N, H]`.
    pub states: Vec<T>,
    /// What the backward pass needs.
    pub tape: Tape<T>,
}

/// What a forward pass keeps for the backward pass.
#[derive(Clone, Debug)]
pub struct Tape<T> {
    level: Level,
    direction: Direction,
    hidden: usize,
    offsets: Vec<usize>,
    pub(super) groups: Vec<GroupTape<T>>,
}

/// The gates and states of a group of series, in the order of its rows.
#[derive(Clone, Debug)]
pub(super) struct GroupTape<T> {
    /// `[rows, n | r | z | m]`.
    pub gates: Vec<T>,
    /// `[series + rows, H']`: the zero state of every series, then the states after the steps.
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

    /// Whether a solver at `level` makes a tape of this form for a problem.
    pub(super) fn fits(&self, level: Level, problem: &GruProblem<'_, T>) -> bool {
        self.level == level
            && self.direction == problem.direction
            && self.hidden == problem.hidden
            && self.offsets == problem.offsets
    }
}

impl GruSolver {
    /// Runs over the sequences of a batch, each from the zero state.
    ///
    /// # Errors
    /// When an argument is malformed, or when the sums in front of the gates overflow.
    pub fn forward<T: GruReal>(&self, problem: &GruProblem<'_, T>) -> Result<Recurrence<T>, GruError> {
        problem.check()?;
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
        let groups = groups(problem);
        let mut states = vec![T::zero(); problem.outputs().sum::<usize>() * hidden];
        let outputs = deal(&groups, &mut states, problem.outputs().map(|count| count * hidden));
        let tapes =
            groups.par_iter().zip(outputs).map(|(group, outputs)| run.group(group, outputs)).collect();
        // A state that is not a number stays so to the last step.
        if let Some(index) = first_not_finite(&states) {
            return Err(GruError::Overflow { series: problem.series_of(index / hidden) });
        }
        let (level, direction, offsets) = (self.level, problem.direction, problem.offsets.to_vec());
        Ok(Recurrence { states, tape: Tape { level, direction, hidden, offsets, groups: tapes } })
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
    fn group(&self, group: &Group, mut outputs: Vec<&mut [T]>) -> GroupTape<T> {
        let GruProblem { width, hidden, inputs, .. } = *self.problem;
        let (units, extent) = (self.gates.padded, self.gates.extent());
        let mut gates = Vec::with_capacity(group.rows() * extent);
        let mut states = vec![T::zero(); (group.series() + group.rows()) * units];
        let mut x = Vec::new();
        for window in group.windows() {
            x.clear();
            for (t, i) in group.places(&window) {
                x.extend_from_slice(&inputs[group.row(t, i) * width..][..width]);
            }
            let span = group.span(&window);
            for _ in span.clone() {
                gates.extend_from_slice(&self.biases);
            }
            let product = Product {
                left: Left::Rows { entries: &x, stride: width },
                right: &self.from_input,
                rows: span.len(),
                out: &mut gates[span.start * extent..],
                stride: extent,
            };
            T::multiply(self.level, product);
            for t in window.clone() {
                let (step, from, to) = (group.step(t), group.before(t), group.after(t));
                let gates = &mut gates[step.start * extent..step.end * extent];
                let (before, after) = states.split_at_mut(to.start * units);
                let (state, next) =
                    (&before[from.start * units..from.end * units], &mut after[..step.len() * units]);
                let product = Product {
                    left: Left::Rows { entries: state, stride: units },
                    right: &self.from_hidden,
                    rows: step.len(),
                    out: &mut gates[units..],
                    stride: extent,
                };
                T::multiply(self.level, product);
                T::activate(self.level, Activate { gates, state, next, units });
            }
            for (t, i) in group.places(&window) {
                if let Some(output) = group.own_output(t, i) {
                    let state = &states[(group.after(t).start + i) * units..][..hidden];
                    outputs[i][output * hidden..][..hidden].copy_from_slice(state);
                }
            }
        }
        GroupTape { gates, states }
    }
}
