//! Paths in `R^n` whose drift is a small network, with or without noise, forward and backward.
//!
//! A path starts at `z_0` and moves by the scheme of Euler,
//!
//! ```text
//! z_{j+1} = z_j + f(z_j) dt_j,
//! ```
//!
//! for the ordinary differential equation `z' = f(z)`, or of Euler and Maruyama,
//!
//! ```text
//! z_{j+1} = z_j + f(z_j, c_j) dt_j + g(z_j) sqrt(dt_j) xi_j,
//! ```
//!
//! for `dz = f(z, c(t)) dt + g(z) dW` with the diagonal diffusion `g` and standard normal noise `xi`: the latent SDE of Li,
//! Wong, Chen and Duvenaud (Scalable gradients for stochastic differential equations, 2020). The same pass gives the
//! divergence of the path from the prior `dz = h(z) dt + g(z) dW`,
//!
//! ```text
//! KL = 1/2 sum_j dt_j |(f(z_j, c_j) - h(z_j)) / g(z_j)|^2,
//! ```
//!
//! where `g` is at least 1e-7. Drift `f` and prior `h` are [networks](Network); `g_i` reads the coordinate `z_i` alone
//! ([`Diffusion`]); the [context](Context) `c` is constant, or that of the next observation. A path of the prior has `h` as
//! its drift and no prior of its own. Schemes of Euler have strong order 1 without noise and 1/2 with it.
//!
//! Series and samples stand in the lanes of vector registers, groups of them on threads. The states of all steps are kept;
//! the backward pass computes hidden layers again and regenerates the noise. Gradients of weights are products over some
//! steps at a time, summed over lanes and groups in their order. What belongs to a row, one sample of one series, gives the
//! same bits for any number of threads and whatever rows stand beside it; the gradients of parameters, for any number of
//! threads.

mod activation;
mod backward;
mod context;
mod diffusion;
mod error;
mod forward;
mod matrix;
mod network;
mod problem;

pub use activation::Activation;
pub use backward::Gradients;
pub use error::FlowError;
pub use forward::{Flow, Tape};
pub use problem::{Context, Diffusion, Driving, FlowProblem, Network};

use crate::simd::{Level, SimdReal, dispatch};
use backward::{OfParameters, Return};
use forward::Advance;

/// A real number that flows can be computed in: `f32` or `f64`.
///
/// The kernels are compiled in this crate, once per precision and instruction set.
pub trait FlowReal: SimdReal {
    #[doc(hidden)]
    fn advance(level: Level, group: Advance<'_, '_, Self>) -> Result<Vec<Self>, FlowError>;
    #[doc(hidden)]
    fn pull_back_flow(level: Level, group: Return<'_, '_, Self>) -> OfParameters<Self>;
}

macro_rules! flow_real {
    ($real:ty) => {
        impl FlowReal for $real {
            fn advance(level: Level, group: Advance<'_, '_, Self>) -> Result<Vec<Self>, FlowError> {
                dispatch(level, group)
            }

            fn pull_back_flow(level: Level, group: Return<'_, '_, Self>) -> OfParameters<Self> {
                dispatch(level, group)
            }
        }
    };
}

flow_real!(f32);
flow_real!(f64);

/// How flows are computed: the instruction set.
///
/// ```
/// use stroock_kernels::flow::{Activation, Context, FlowProblem, FlowSolver, Network};
/// use stroock_kernels::path::{Grid, Requests};
///
/// // z' = 1 - 2 z on the line, by a network without hidden layers, from 0 and from 1.
/// let times: Vec<f64> = (0..=1000).map(|j| f64::from(j) / 1000.0).collect();
/// let problem = FlowProblem {
///     dim: 1,
///     samples: 1,
///     grid: Grid::Shared(&times),
///     start: &[0.0, 1.0],
///     drift: Network { hidden: &[], activation: Activation::Elu, parameters: &[-2.0, 1.0] },
///     context: Context::None,
///     driving: None,
///     requests: Requests::At { offsets: &[0, 1, 2], indices: &[1000, 1000] },
/// };
/// let solver = FlowSolver::default();
/// let flow = solver.forward(&problem)?;
/// for (z, start) in flow.states.iter().zip([0.0, 1.0]) {
///     assert!((z - (0.5 + (start - 0.5) * (-2.0_f64).exp())).abs() < 1e-3);
/// }
///
/// // The gradient of the first of these states.
/// let gradients = solver.backward(&problem, &flow.tape, &[1.0, 0.0], &[0.0, 0.0])?;
/// assert!((gradients.start[0] - (-2.0_f64).exp()).abs() < 1e-3 && gradients.start[1] == 0.0);
/// # Ok::<(), stroock_kernels::flow::FlowError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FlowSolver {
    /// Instruction set; the default is the widest of the running processor.
    pub level: Level,
}

impl Default for FlowSolver {
    fn default() -> Self {
        Self { level: Level::detect() }
    }
}
