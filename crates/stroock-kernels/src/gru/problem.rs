//! What a recurrent unit is computed from, and the checks that it makes sense.

use stroock_geometry::Real;

use super::GruError;
use crate::argument::{ArgumentError, check_finite, check_length, check_not_empty, check_offsets};

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

/// Which way a sequence is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the first row to the last.
    #[default]
    Forward,
    /// From the last row to the first.
    Backward,
}

/// Which states are returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Requested {
    /// The state of every sequence after all of its rows, `[B, H]`; 0 for a sequence without rows.
    #[default]
    Last,
    /// The state after every row, at that row's place, `[N, H]`.
    All,
}

/// A batch of `B` sequences of any lengths, of `N` rows in all.
#[derive(Clone, Copy, Debug)]
pub struct GruProblem<'a, T> {
    /// Sequence `b` has the rows `offsets[b] .. offsets[b + 1]` of `inputs`, `[B + 1]`. It may have none.
    pub offsets: &'a [usize],
    /// Which way the sequences are read.
    pub direction: Direction,
    /// Which states are returned.
    pub requested: Requested,
    /// Width `D` of the input.
    pub width: usize,
    /// Hidden units `H`.
    pub hidden: usize,
    /// `[N, D]`.
    pub inputs: &'a [T],
    /// Weights.
    pub weights: Weights<'a, T>,
}

impl<T: Real> GruProblem<'_, T> {
    /// Checks every argument.
    pub(super) fn check(&self) -> Result<(), GruError> {
        let (offsets, width, hidden, weights) = (self.offsets, self.width, self.hidden, self.weights);
        check_not_empty([
            ("offsets", offsets.len().saturating_sub(1)),
            ("width", width),
            ("hidden", hidden),
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
        let rows = offsets[offsets.len() - 1];
        check_offsets("offsets", offsets, rows, "inputs")?;
        check("inputs", "[last offset, width]", rows.saturating_mul(width), self.inputs)?;
        Ok(())
    }

    /// How many states are returned of every sequence.
    pub(super) fn outputs(&self) -> impl Iterator<Item = usize> {
        self.offsets.windows(2).map(|rows| match self.requested {
            Requested::Last => 1,
            Requested::All => rows[1] - rows[0],
        })
    }

    /// The sequence that a returned state belongs to.
    pub(super) fn series_of(&self, output: usize) -> usize {
        match self.requested {
            Requested::Last => output,
            Requested::All => self.offsets.partition_point(|&first| first <= output) - 1,
        }
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
