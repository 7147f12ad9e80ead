//! What is mixed.

use super::MixError;
use crate::argument::{check_finite, check_length, check_not_empty, check_offsets};
use stroock_geometry::Real;

/// The weights of queries and the rows that they mix.
#[derive(Clone, Copy, Debug)]
pub struct MixProblem<'a, T> {
    /// Samples `S`.
    pub samples: usize,
    /// Rows `R` of a matrix.
    pub rows: usize,
    /// Numbers `C` of a row.
    pub width: usize,
    /// `[B + 1]`: where the queries of a series begin.
    pub offsets: &'a [usize],
    /// `[Q, R]`.
    pub weights: &'a [T],
    /// `[S, B, R, C]`.
    pub values: &'a [T],
}

impl<'a, T: Real> MixProblem<'a, T> {
    /// Series `B`.
    pub(super) fn series(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Queries `Q`.
    pub(super) fn queries(&self) -> usize {
        self.offsets[self.series()]
    }

    /// The rows `[R, C]` of task `s B + b`.
    pub(super) fn matrix(&self, task: usize) -> &'a [T] {
        let extent = self.rows * self.width;
        &self.values[task * extent..(task + 1) * extent]
    }

    /// `[S, Q, C]` numbers cut into one run for every task.
    pub(super) fn runs<'b>(&self, mut rest: &'b mut [T]) -> Vec<&'b mut [T]> {
        let mut runs = Vec::with_capacity(self.samples * self.series());
        for _ in 0..self.samples {
            for pair in self.offsets.windows(2) {
                let (run, tail) = rest.split_at_mut((pair[1] - pair[0]) * self.width);
                runs.push(run);
                rest = tail;
            }
        }
        runs
    }

    pub(super) fn check(&self) -> Result<(), MixError> {
        let &Self { samples, rows, width, offsets, weights, values } = self;
        let series = offsets.len().saturating_sub(1);
        check_not_empty([("samples", samples), ("rows", rows), ("width", width), ("offsets", series)])?;
        check_offsets("offsets", offsets, offsets[series], "queries")?;
        let of_weights = offsets[series].saturating_mul(rows);
        check_length("weights", "[queries, rows]", of_weights, weights.len())?;
        let of_values = [series, rows, width].iter().fold(samples, |all, &extent| all.saturating_mul(extent));
        check_length("values", "[samples, series, rows, width]", of_values, values.len())?;
        check_finite("weights", weights)?;
        check_finite("values", values)?;
        Ok(())
    }
}
