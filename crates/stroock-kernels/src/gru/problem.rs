//! What a recurrent unit is computed from, and the checks that it makes sense.

use stroock_geometry::Real;

use super::GruError;
use crate::argument::{ArgumentError, check_finite, check_length, check_not_empty};

/// Weights of a gated recurrent unit with `D` inputs and `H` hidden units. The rows of the three gates
/// stand in the order reset `r`, update `z`, new `n`.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a, T> {
    /// Of the input, `[3 H, D]`.
    pub w_ih: &'a [T],
    /// Of the hidden state, `[3 H, H]`.
    pub w_hh: &'a [T],
    /// Bias beside the input, `[3 H]`.
    pub b_ih: &'a [T],
    /// Bias beside the hidden state, `[3 H]`.
    pub b_hh: &'a [T],
}

/// A batch of `B` sequences of `R` steps.
#[derive(Clone, Copy, Debug)]
pub struct GruProblem<'a, T> {
    /// Steps `R`.
    pub steps: usize,
    /// Width `D` of the input.
    pub width: usize,
    /// Hidden units `H`.
    pub hidden: usize,
    /// `[B, R, D]`.
    pub inputs: &'a [T],
    /// Weights.
    pub weights: Weights<'a, T>,
}

impl<T: Real> GruProblem<'_, T> {
    /// Checks every argument and counts the series.
    pub(super) fn series(&self) -> Result<usize, GruError> {
        let (steps, width, hidden, weights) = (self.steps, self.width, self.hidden, self.weights);
        check_not_empty([
            ("steps", steps),
            ("width", width),
            ("hidden", hidden),
            ("inputs", self.inputs.len()),
        ])?;
        let gates = hidden.saturating_mul(3);
        for (argument, shape, columns, values) in [
            ("weights.w_ih", "[3 hidden, width]", width, weights.w_ih),
            ("weights.w_hh", "[3 hidden, hidden]", hidden, weights.w_hh),
            ("weights.b_ih", "[3 hidden]", 1, weights.b_ih),
            ("weights.b_hh", "[3 hidden]", 1, weights.b_hh),
        ] {
            check(argument, shape, gates.saturating_mul(columns), values)?;
        }
        let sequence = steps.saturating_mul(width);
        let series = (self.inputs.len() / sequence).max(1);
        check("inputs", "[series, steps, width]", series.saturating_mul(sequence), self.inputs)?;
        Ok(series)
    }
}

/// Checks that an argument has as many entries as it should and that they are finite.
pub(super) fn check<T: Real>(
    argument: &'static str,
    shape: &'static str,
    expected: usize,
    values: &[T],
) -> Result<(), ArgumentError> {
    check_length(argument, shape, expected, values.len())?;
    check_finite(argument, values)
}
