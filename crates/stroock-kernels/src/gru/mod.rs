//! The gated recurrent unit over sequences of any lengths, in either direction, forward and backward.
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
//! in the conventions and the gate order (r, z, n) of PyTorch. The result is the last
//! hidden state of every sequence, or the one after every row. A sequence is read from its first row to its
//! last, or from its last to its first.
//!
//! A thread takes a few series from the first step to the last, so that nothing waits for other threads
//! between the steps. They are of similar lengths, and at every step only those that have not ended are
//! computed. Their states are the rows of a product with the weights, whose columns, the units,
//! stand in the lanes of vector registers. Backward, the gradients of the weights are products over some
//! steps at a time, while these are in the cache.
//!
//! The states of a series and the gradients of its inputs give the same bits for any number of threads and
//! whatever series, of whatever lengths, stand beside it; the gradients of the weights, for any number of
//! threads.

mod backward;
mod cell;
mod error;
mod forward;
mod gates;
mod groups;
mod problem;

pub use backward::Gradients;
pub use error::GruError;
pub use forward::{Recurrence, Tape};
pub use problem::{Direction, GruProblem, Requested, Weights};

use crate::precision::kernels;
use crate::product::ProductReal;
use crate::simd::Level;
use cell::{Activate, PullBackCell};

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
/// use stroock_kernels::gru::{Direction, GruProblem, GruSolver, Requested, Weights};
///
/// // One unit with one input, whose gates do not look at the input or at the state: r = z = 1/2.
/// let weights = Weights {
///     w_ih: &[0.0, 0.0, 1.0],
///     w_hh: &[0.0; 3],
///     b_ih: &[0.0; 3],
///     b_hh: &[0.0; 3],
/// };
/// // A sequence of two rows and one of a single row.
/// let problem = GruProblem {
///     offsets: &[0, 2, 3],
///     direction: Direction::Forward,
///     requested: Requested::All,
///     width: 1,
///     hidden: 1,
///     inputs: &[0.3, 0.7, 0.1],
///     weights,
/// };
/// let solver = GruSolver::default();
/// let recurrence = solver.forward(&problem)?;
/// let [first, second, other] = [0.3_f64, 0.7, 0.1].map(|x| 0.5 * x.tanh());
/// let expected = [first, 0.5 * first + second, other];
/// assert!(recurrence.states.iter().zip(expected).all(|(h, e)| (h - e).abs() < 1e-15));
///
/// // The gradient of the state after the second row.
/// let gradients = solver.backward(&problem, &recurrence.tape, &[0.0, 1.0, 0.0])?;
/// assert!((gradients.inputs[1] - 0.5 / 0.7_f64.cosh().powi(2)).abs() < 1e-15);
///
/// let last = solver.forward(&GruProblem { requested: Requested::Last, ..problem })?;
/// assert_eq!(last.states, recurrence.states[1..]);
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
