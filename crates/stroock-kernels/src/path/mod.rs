//! Paths of one-point motions, forward and backward.
//!
//! A path starts at `z_0` and moves by `z_{j+1} = exp(Omega_j) z_j`, with
//!
//! ```text
//! Omega_j = K(t_j, z_j) dt_j + sigma sum_k sqrt(dt_j) xi_jk E_k
//! ```
//!
//! for the scheme of geometric Euler-Maruyama, where `E_k` is the basis of the Lie algebra, `K` the drift in it and `xi`
//! standard normal noise. The same pass gives the divergence of the path from the prior, which has the same diffusion
//! and the drift `P(t, z)`, possibly none. With `D_j = K(t_j, z_j) - P(t_j, z_j)`,
//!
//! ```text
//! KL = 1/2 sum_j dt_j (D_j z_j)^T Sigma(z_j)^+ (D_j z_j),
//! ```
//!
//! which is `1/(2 sigma^2) sum_j dt_j |D_j z_j|^2 / |z_j|^2` on all spaces here. The prior does not move the path: the
//! gradient with respect to `P` is minus the divergence's part of the gradient with respect to `K`.
//!
//! [`Space`], [`Drift`] and [`Scheme`] list what there is; each is one file behind an interface, and the loops over a
//! path know none of them by name.
//!
//! The exponential is never built: `exp(Omega) z` is a Taylor series of matrix-vector products, with as
//! many terms as a bound of the norm asks for, `O(n^2)` a step. Series and samples stand in the lanes of
//! vector registers, groups of them on threads; noise is regenerated, not stored. A row (one sample of one
//! series) gives the same bits for any number of threads and any split of the batch.
//!
//! # Schemes
//!
//! | scheme | normals a step | taken back | strong order | weak order |
//! |---|---|---|---|---|
//! | [`Scheme::GeometricEuler`] | `m` | yes | 1/2, 1 for commuting noise | 1 |
//! | [`Scheme::TangentNoise`] | `n` | no | 1/2 | 1 |
//! | [`Scheme::Steered`] | `n` | no | 1/2 | 1 |
//!
//! Measured in `tests/convergence`: slopes of the error over `dt = 2^-3 .. 2^-8`, strong errors against a
//! grid of `2^-12` with the same Brownian motion, weak errors without sampling.
//!
//! | scheme, problem | error | order |
//! |---|---|---|
//! | geometric, `S^2`, sigma = 1, constant drift: noise does not commute | strong | 0.53 |
//! | geometric, `S^4`, sigma = 0.6, constant drift: noise does not commute | strong | 0.52 |
//! | geometric, `S^1`, sigma = 1, drift in time: noise commutes | strong | 1.02 |
//! | geometric, `S^2`, sigma = 0.1, drift in time | strong | 1.01 |
//! | geometric, `H^2`, sigma = 0.5, constant drift: noise does not commute | strong | 0.54 |
//! | geometric, `H^1`, sigma = 0.5, drift in time: noise commutes | strong | 1.03 |
//! | geometric, `S^2`, sigma = 1, constant drift: mean of `z_T` | weak | 0.99 |
//! | geometric, `S^2`, sigma = 1, constant drift: mean of the divergence | weak | 1.03 |
//! | geometric, `H^2`, sigma = 0.7, constant drift: mean of `z_T` | weak | 1.01 |
//! | tangent, `S^2`, sigma = 1, constant drift | strong | 0.52 |
//! | tangent, `R^3` under `GL(3)`, sigma = 0.5, constant drift | strong | 0.55 |
//! | tangent, `H^2`, sigma = 0.5, constant drift | strong | 0.55 |
//! | tangent, `S^2`, sigma = 1, no drift: mean of `z_T` | weak | 1.01 |
//! | tangent, `S^2`, sigma = 1, no drift: second moment of `z_T` | weak | 1.00 |
//! | steered, `S^2`, sigma = 1, constant drift | strong | 0.49 |
//! | steered, `S^1`, sigma = 1, constant drift: mean of `z_T` | weak | 0.91, 1.00 between the last two steps |
//!
//! The strong order is 1/2 in general, not the 1 that the paper cites: for non-commuting noise the missing
//! Levy areas leave an error of `sigma^2 sqrt((n-1)(n-2) T dt / 4)` on the sphere. For small `sigma` that constant is so
//! small that the error of the drift, of order 1, is what is seen on the usual grids. The weak order is 1.
//!
//! Strong errors of tangent noise are those against the equation that `n` Wiener processes drive through the lift at
//! the state. It has the same distribution as the equation with noise in the whole algebra, but its paths are others: the
//! two schemes have no common Brownian motion to be compared on.

mod backward;
mod combine;
mod drift;
mod error;
mod forward;
mod incoming;
mod layout;
mod motion;
mod normals;
mod problem;
mod rows;
mod scheme;
mod space;
mod times;

pub use backward::Gradients;
pub use drift::{Attractor, Chebyshev, Drift, PerStep, PiecewiseLinear};
pub use error::PathError;
pub use forward::{Path, Tape};
pub use problem::{Grid, Noise, PathProblem, Prior, Requests};
pub use scheme::Scheme;
pub use space::Space;

pub(crate) use backward::{sum_over_samples, unpack};
pub(crate) use drift::unpack_lane;
pub(crate) use incoming::Incoming;
pub(crate) use layout::check_offsets;
pub(crate) use normals::Normals;
pub(crate) use rows::{Cursor, Row, pack_rows, per_row, rows};
pub(crate) use times::Times;

use crate::simd::{Level, SimdReal, dispatch};
use backward::BackwardGroup;
use forward::ForwardGroup;
use serde::{Deserialize, Serialize};

/// A real number that paths can be simulated in: `f32` or `f64`.
///
/// The kernels are compiled in this crate, once per precision and instruction set; a call through this
/// trait keeps them out of every crate that simulates paths.
pub trait PathReal: SimdReal {
    #[doc(hidden)]
    fn simulate(level: Level, group: ForwardGroup<'_, '_, Self>) -> Result<Vec<Self>, PathError>;
    #[doc(hidden)]
    fn pull_back(level: Level, group: BackwardGroup<'_, '_, '_, Self>) -> Result<(), PathError>;
}

macro_rules! path_real {
    ($real:ty) => {
        impl PathReal for $real {
            fn simulate(level: Level, group: ForwardGroup<'_, '_, Self>) -> Result<Vec<Self>, PathError> {
                dispatch(level, group)
            }

            fn pull_back(level: Level, group: BackwardGroup<'_, '_, '_, Self>) -> Result<(), PathError> {
                dispatch(level, group)
            }
        }
    };
}

path_real!(f32);
path_real!(f64);

/// Whether the backward pass reads the states of the forward pass or recomputes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Memory {
    /// Every state is kept: `steps * n` numbers a row.
    #[default]
    Stored,
    /// Only the last state is kept; the scheme is run backwards, `z_j = exp(-Omega_j) z_{j+1}`. Memory does
    /// not grow with the number of steps, for about a fifth more time. For schemes that [reverse](Scheme::reverses).
    Reversible,
}

/// How paths are computed: the instruction set, what is kept for the backward pass, and the scheme.
///
/// ```
/// use stroock_kernels::noise::NoiseKey;
/// use stroock_kernels::path::{Chebyshev, Grid, Noise, PathProblem, PathSolver, Prior, Requests, Space};
///
/// // Two series on S^2, constant drift around the third axis, states asked for at t = 0.5 and t = 1.
/// let times: Vec<f32> = (0..=100).map(|j| j as f32 / 100.0).collect();
/// let problem = PathProblem {
///     space: Space::Sphere,
///     dim: 3,
///     samples: 1,
///     grid: Grid::Shared(&times),
///     drift: Chebyshev { terms: 1, interval: (0.0, 2.0), coefficients: &[6.28, 0., 0., 3.14, 0., 0.] }.into(),
///     prior: Prior::Driftless,
///     sigma: 0.1,
///     start: &[1., 0., 0., 1., 0., 0.],
///     noise: Noise::Counter { key: NoiseKey::new(1, 0), series: &[0, 1], first_sample: 0 },
///     requests: Requests::At { offsets: &[0, 2, 4], indices: &[50, 100, 50, 100] },
/// };
/// let solver = PathSolver::default();
/// let path = solver.forward(&problem)?;
/// assert_eq!(path.states.len(), 4 * 3);
///
/// // Gradients of the sum of all first coordinates plus the divergences.
/// let of_states: Vec<f32> = [1., 0., 0.].repeat(4);
/// let gradients = solver.backward(&problem, &path.tape, &of_states, &[1., 1.])?;
/// assert_eq!(gradients.drift.len(), 2 * 3);
/// # Ok::<(), stroock_kernels::path::PathError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PathSolver {
    /// Instruction set; the default is the widest of the running processor. One that the processor lacks
    /// stands for [`Level::Portable`].
    pub level: Level,
    /// What is kept for the backward pass.
    pub memory: Memory,
    /// The scheme.
    pub scheme: Scheme,
}

impl Default for PathSolver {
    fn default() -> Self {
        Self { level: Level::detect(), memory: Memory::Stored, scheme: Scheme::default() }
    }
}
