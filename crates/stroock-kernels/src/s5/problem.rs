//! What a recurrence runs over.

use stroock_geometry::Real;

use super::S5Error;
use super::factors::Complex;
use crate::argument::{check_finite, check_length, check_not_empty, check_offsets};

/// Sequences of complex inputs with a gap before every row.
#[derive(Clone, Copy, Debug)]
pub struct S5Problem<'a, T> {
    /// Complex states `P`.
    pub states: usize,
    /// `[B + 1]`: where the rows of a series begin.
    pub offsets: &'a [usize],
    /// Gap before every row, `[N]`.
    pub gaps: &'a [f64],
    /// Eigenvalues, `[2 P]`: real parts, then imaginary parts.
    pub lambda: &'a [T],
    /// Logarithms of the steps, `[P]`.
    pub ln_delta: &'a [T],
    /// Inputs `w`, `[N, 2 P]`: real parts of a row, then its imaginary parts.
    pub inputs: &'a [T],
}

impl<'a, T: Real> S5Problem<'a, T> {
    /// The eigenvalue of a state.
    pub(super) fn eigenvalue(&self, p: usize) -> Complex {
        Complex { re: self.lambda[p].as_f64(), im: self.lambda[self.states + p].as_f64() }
    }

    /// `[N, width]` numbers cut into one run for every series.
    pub(super) fn per_series<'b>(&self, mut rest: &'b mut [T], width: usize) -> Vec<&'b mut [T]> {
        let mut runs = Vec::with_capacity(self.offsets.len());
        for pair in self.offsets.windows(2) {
            let (run, tail) = rest.split_at_mut((pair[1] - pair[0]) * width);
            runs.push(run);
            rest = tail;
        }
        runs
    }

    pub(super) fn check(&self) -> Result<(), S5Error> {
        let &Self { states, offsets, gaps, lambda, ln_delta, inputs } = self;
        check_not_empty([("states", states), ("offsets", offsets.len().saturating_sub(1))])?;
        check_offsets("offsets", offsets, gaps.len(), "gaps")?;
        let width = states.saturating_mul(2);
        check_length("lambda", "[2 states]", width, lambda.len())?;
        check_length("ln_delta", "[states]", states, ln_delta.len())?;
        check_length("inputs", "[rows, 2 states]", gaps.len().saturating_mul(width), inputs.len())?;
        check_finite("lambda", lambda)?;
        check_finite("ln_delta", ln_delta)?;
        check_finite("inputs", inputs)?;
        match gaps.iter().position(|gap| !(0.0..f64::INFINITY).contains(gap)) {
            Some(row) => Err(S5Error::Gap { row, gap: gaps[row] }),
            None => Ok(()),
        }
    }
}
