//! Attention of reference points over the observed entries of ragged series, forward and backward.
//!
//! Reference point `r` with query `q_r` looks at the points of a series through the keys `k_u` of their
//! times. Every channel has a softmax of its own, over the points `p` where it is observed:
//!
//! ```text
//! s_{u r} = <k_u, q_r> / sqrt(E),      out_{b r c} = sum_p w_p x_{p c},      w_p = exp(s_{u(p) r}) / sum_p' exp(s_{u(p') r}),
//! ```
//!
//! with both sums over the entries of series `b` in channel `c`; a channel without entries gives 0. This is
//! the attention of multi-time attention networks (mTAND) with one head.
//!
//! Real data observe a small part of the `points * channels` entries. The exponentials are computed once per
//! point, relative to the largest score of the series, and shared by the channels; what is done per channel
//! runs over its entries alone. Reference points stand in the lanes of vector registers. Where a channel is
//! observed only far below the largest score of its series, so that its weights vanish in the precision,
//! they are computed again relative to the channel's own largest score.
//!
//! The output of a series gives the same bits for any number of threads and any split of the batch; so do
//! the gradients for any number of threads.

mod backward;
mod error;
mod forward;
mod problem;
mod steep;

pub use backward::{Gradients, ValueGradient};
pub use error::AttentionError;
pub use forward::{Attended, Tape};
pub use problem::{AttentionProblem, Entries};

use crate::precision::kernels;
use crate::product::ProductReal;
use crate::simd::{Lanes, Level};
use backward::PullBack;
use forward::Attend;
use steep::Steep;

/// Vectors of reference points whose sums stay in registers while the entries of a channel pass by.
const BLOCK: usize = 4;

/// Rows of a product that one task computes.
const ROWS_PER_TASK: usize = 24;

kernels! {
    /// A real number that attention can be computed in: `f32` or `f64`.
    trait AttentionReal: ProductReal {
        fn attend(Attend) -> Vec<Steep<Self>>;
        fn pull_back(PullBack);
    }
}

/// How attention is computed: the instruction set.
///
/// ```
/// use stroock_kernels::attention::{AttentionProblem, AttentionSolver, Entries, ValueGradient};
///
/// // One series of three points and two channels: channel 0 is observed at points 0 and 2, channel 1 at
/// // point 1. One reference point.
/// let problem = AttentionProblem {
///     width: 2,
///     channels: 2,
///     queries: &[1.0, 0.0],
///     keys: &[0.0, 0.0, 0.5, 0.5, 0.0, 1.0],
///     values: &[1.0, 0.0, 0.0, 7.0, 3.0, 0.0],
///     entries: Entries { offsets: &[0, 2, 3], points: &[0, 2, 1], times: &[0, 1, 2], point_offsets: &[0, 3] },
/// };
/// let solver = AttentionSolver::default();
/// let attended = solver.forward(&problem)?;
/// // Both keys of channel 0 have the score 0, so their values are averaged.
/// assert_eq!(attended.output, [2.0, 7.0]);
///
/// let gradients = solver.backward(&problem, &attended.tape, &[1.0, 1.0], ValueGradient::Computed)?;
/// assert_eq!(gradients.values, Some(vec![0.5, 0.0, 0.0, 1.0, 0.5, 0.0]));
/// # Ok::<(), stroock_kernels::attention::AttentionError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AttentionSolver {
    /// Instruction set; the default is the widest of the running processor.
    pub level: Level,
}

impl Default for AttentionSolver {
    fn default() -> Self {
        Self { level: Level::detect() }
    }
}

/// Row of `matrix` with rows of length `width`.
#[inline(always)]
fn row<T>(matrix: &[T], width: usize, index: usize) -> &[T] {
    &matrix[index * width..(index + 1) * width]
}

/// The block of numbers from `first` on.
#[inline(always)]
fn load<V: Lanes>(row: &[V::Real], first: usize) -> [V; BLOCK] {
    let row = &row[first..first + BLOCK * V::WIDTH];
    let mut block = [V::zero(); BLOCK];
    for i in 0..BLOCK {
        block[i] = V::load(&row[i * V::WIDTH..]);
    }
    block
}

/// Writes a block from `first` on.
#[inline(always)]
fn store<V: Lanes>(block: [V; BLOCK], row: &mut [V::Real], first: usize) {
    let row = &mut row[first..first + BLOCK * V::WIDTH];
    for i in 0..BLOCK {
        block[i].store(&mut row[i * V::WIDTH..]);
    }
}
