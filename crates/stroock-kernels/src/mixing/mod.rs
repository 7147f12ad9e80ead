//! Mixtures of the rows of matrices, ragged, forward and backward.
//!
//! Every series `b` has queries of its own, each with a weight for every one of `R` rows, and in every sample `s` a matrix
//! of these rows:
//!
//! ```text
//! out_{s q} = sum_r w_{q r} v_{s b(q) r},      w: [Q, R],   v: [S, B, R, C],   out: [S, Q, C].
//! ```
//!
//! This is attention without a mask whose scores are the same for all samples, as a decoder has it that looks from asked
//! times to reference points. Only the queries of a series meet its rows; nothing is padded.
//!
//! An output depends on the weights and rows of its series and sample alone, to the last bit; so do gradients of rows.
//! Those of weights are sums over samples in their order.

mod error;
mod problem;

pub use error::MixError;
pub use problem::MixProblem;

use rayon::prelude::*;

use crate::argument::{check_finite, check_length};
use crate::precision::kernels;
use crate::product::{Left, Panels, Product, ProductReal};
use crate::simd::Level;

kernels! {
    /// A real number that mixtures can be computed in: `f32` or `f64`.
    trait MixReal: ProductReal {}
}

/// Gradients of a loss.
#[derive(Clone, Debug, PartialEq)]
pub struct MixGradients<T> {
    /// By the weights, `[Q, R]`.
    pub weights: Vec<T>,
    /// By the rows, `[S, B, R, C]`.
    pub values: Vec<T>,
}

/// How mixtures are computed: the instruction set.
///
/// ```
/// use stroock_kernels::mixing::{MixProblem, MixSolver};
///
/// // Two series with two rows of one number each; the first has one query, the second has two.
/// let problem = MixProblem {
///     samples: 1,
///     rows: 2,
///     width: 1,
///     offsets: &[0, 1, 3],
///     weights: &[0.5, 0.5, 1.0, 0.0, 0.25, 0.75],
///     values: &[2.0, 4.0, 10.0, 20.0],
/// };
/// let solver = MixSolver::default();
/// assert_eq!(solver.forward(&problem)?, [3.0, 10.0, 17.5]);
/// let gradients = solver.backward(&problem, &[1.0, 1.0, 0.0])?;
/// assert_eq!(gradients.values, [0.5, 0.5, 1.0, 0.0]);
/// assert_eq!(gradients.weights, [2.0, 4.0, 10.0, 20.0, 0.0, 0.0]);
/// # Ok::<(), stroock_kernels::mixing::MixError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MixSolver {
    /// Instruction set; the default is the widest of the running processor.
    pub level: Level,
}

impl Default for MixSolver {
    fn default() -> Self {
        Self { level: Level::detect() }
    }
}

impl MixSolver {
    /// The mixtures, `[S, Q, C]`.
    ///
    /// # Errors
    /// When an argument is malformed.
    pub fn forward<T: MixReal>(&self, problem: &MixProblem<'_, T>) -> Result<Vec<T>, MixError> {
        problem.check()?;
        let &MixProblem { samples, rows, width, offsets, weights, .. } = problem;
        let mut output = vec![T::zero(); samples * problem.queries() * width];
        let runs: Vec<&mut [T]> = problem.runs(&mut output);
        runs.into_par_iter().enumerate().for_each(|(task, out)| {
            let b = task % problem.series();
            let mut right = Panels::zeros(self.level, rows, width);
            for (r, row) in problem.matrix(task).chunks_exact(width).enumerate() {
                right.set_row(r, row);
            }
            let left =
                Left::Rows { entries: &weights[offsets[b] * rows..offsets[b + 1] * rows], stride: rows };
            let queries = offsets[b + 1] - offsets[b];
            T::multiply(self.level, Product { left, right: &right, rows: queries, out, stride: width });
        });
        Ok(output)
    }

    /// The gradients of a loss whose gradient by the mixtures is `of_output`, `[S, Q, C]`.
    ///
    /// # Errors
    /// When an argument is malformed.
    pub fn backward<T: MixReal>(
        &self,
        problem: &MixProblem<'_, T>,
        of_output: &[T],
    ) -> Result<MixGradients<T>, MixError> {
        problem.check()?;
        let &MixProblem { samples, rows, width, offsets, weights, .. } = problem;
        let (series, queries) = (problem.series(), problem.queries());
        check_length("of_output", "[samples, queries, width]", samples * queries * width, of_output.len())?;
        check_finite("of_output", of_output)?;
        let of_task = |task: usize| {
            let (s, b) = (task / series, task % series);
            &of_output[(s * queries + offsets[b]) * width..(s * queries + offsets[b + 1]) * width]
        };
        let mut of_values = vec![T::zero(); problem.values.len()];
        of_values.par_chunks_exact_mut(rows * width).enumerate().for_each(|(task, out)| {
            let b = task % series;
            let of_output = of_task(task);
            let mut right = Panels::zeros(self.level, offsets[b + 1] - offsets[b], width);
            for (q, row) in of_output.chunks_exact(width).enumerate() {
                right.set_row(q, row);
            }
            let left =
                Left::Columns { entries: &weights[offsets[b] * rows..offsets[b + 1] * rows], stride: rows };
            T::multiply(self.level, Product { left, right: &right, rows, out, stride: width });
        });
        let mut of_weights = vec![T::zero(); weights.len()];
        let mut rest = &mut of_weights[..];
        let mut tasks = Vec::with_capacity(series);
        for pair in offsets.windows(2) {
            let (run, tail) = rest.split_at_mut((pair[1] - pair[0]) * rows);
            tasks.push(run);
            rest = tail;
        }
        tasks.into_par_iter().enumerate().for_each(|(b, out)| {
            for s in 0..samples {
                let task = s * series + b;
                let mut right = Panels::zeros(self.level, width, rows);
                for (r, row) in problem.matrix(task).chunks_exact(width).enumerate() {
                    right.set_column(r, row);
                }
                let left = Left::Rows { entries: of_task(task), stride: width };
                let queries = offsets[b + 1] - offsets[b];
                T::multiply(self.level, Product { left, right: &right, rows: queries, out, stride: rows });
            }
        });
        Ok(MixGradients { weights: of_weights, values: of_values })
    }
}
