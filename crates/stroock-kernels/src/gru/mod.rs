//! The gated recurrent unit over short sequences, forward and backward.
//!
//! From `h_0 = 0`, with `x` the input of a step and `h` the state before it,
//!
//! ```text
//! r  = sigmoid(W_ir x + b_ir + W_hr h + b_hr)
//! z  = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
//! n  = tanh(W_in x + b_in + r * (W_hn h + b_hn))
//! h' = (1 - z) n + z h,
//! ```
//!
//! in the conventions and the gate order (r, z, n) of PyTorch. The result is the last hidden state.
//!
//! A thread takes a few series from the first step to the last, so that nothing waits for other threads
//! between the steps. Their states are the rows of a product with the weights, whose columns, the units,
//! stand in the lanes of vector registers. Backward, the gradients of the weights are products over some
//! steps at a time, while these are in the cache.
//!
//! The state of a series gives the same bits for any number of threads and any split of the batch; so do
//! the gradients for any number of threads.

mod backward;
mod cell;
mod error;
mod forward;
mod gates;
mod problem;

pub use backward::Gradients;
pub use error::GruError;
pub use forward::{Recurrence, Tape};
pub use problem::{GruProblem, Weights};

use crate::precision::kernels;
use crate::product::ProductReal;
use crate::simd::Level;
use cell::{Activate, PullBackCell};

/// Series that a thread runs side by side. Sums over the batch are made within a group first, so the number
/// must not depend on the threads.
const GROUP: usize = 5;

kernels! {
    /// A real number that a recurrent unit can be computed in: `f32` or `f64`.
    trait GruReal: ProductReal {
        fn activate(Activate);
        fn pull_back_cell(PullBackCell);
    }
}

/// How a recurrent unit is computed: the instruction set.
///
/// ```
/// use stroock_kernels::gru::{GruProblem, GruSolver, Weights};
///
/// // One unit with one input, whose gates do not look at the input or at the state: r = z = 1/2.
/// let weights = Weights {
///     w_ih: &[0.0, 0.0, 1.0],
///     w_hh: &[0.0; 3],
///     b_ih: &[0.0; 3],
///     b_hh: &[0.0; 3],
/// };
/// let problem = GruProblem { steps: 2, width: 1, hidden: 1, inputs: &[0.3, 0.7], weights };
/// let solver = GruSolver::default();
/// let recurrence = solver.forward(&problem)?;
/// let expected = 0.25 * 0.3_f64.tanh() + 0.5 * 0.7_f64.tanh();
/// assert!((recurrence.last[0] - expected).abs() < 1e-15);
///
/// let gradients = solver.backward(&problem, &recurrence.tape, &[1.0])?;
/// assert!((gradients.inputs[1] - 0.5 / 0.7_f64.cosh().powi(2)).abs() < 1e-15);
/// # Ok::<(), stroock_kernels::gru::GruError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GruSolver {
    /// Instruction set; the default is the widest of the running processor.
    pub level: Level,
}

impl Default for GruSolver {
    fn default() -> Self {
        Self { level: Level::detect() }
    }
}
