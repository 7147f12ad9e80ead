//! Processes on the sphere with marginals in closed form, trained without simulation.
//!
//! A uniform point of the sphere pushed through a Möbius map has a spherical Cauchy distribution (Kato and McCullagh
//! 2020), which a point `psi` of the open unit ball describes. A curve `psi(t)` through the ball therefore prescribes a
//! marginal for every time, and a drift that has these marginals follows from it. States at any times are drawn
//! directly, and the divergence of the process from a prior is an expectation over a random time and a state at this
//! time: costs are proportional to the requested times, not to the steps of a path. This is the idea of SDE matching
//! (Bartosh et al. 2025), on a manifold.
//!
//! - [`MoebiusProcess`]: the curves of a batch, their drift, and paths [step by step](MoebiusProcess::simulate);
//! - [`MoebiusProblem`]: states and divergences [forward](MoebiusProblem::forward), gradients
//!   [backward](MoebiusProblem::backward);
//! - [`Attractor`](crate::path::Attractor): a prior with a drift of its own.
//!
//! Numbers enter and leave in the caller's precision; in between everything is double precision and rounded once,
//! because narrow marginals lie close to the boundary of the ball. Random numbers are a function of (seed, epoch, series,
//! sample, place), where the place counts the requests, strata or steps of a series.
//!
//! ```
//! use stroock_kernels::moebius::{MoebiusProblem, MoebiusProcess, SeriesTimes};
//! use stroock_kernels::noise::NoiseKey;
//! use stroock_kernels::start::Draws;
//! let problem = MoebiusProblem {
//!     process: MoebiusProcess {
//!         dim: 3,
//!         knots: SeriesTimes { offsets: &[0, 2], times: &[0.0, 1.0] },
//!         positions: &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
//!         widths: &[0.2f32, 0.4],
//!         sigma: 0.5,
//!     },
//!     prior: None,
//!     requests: SeriesTimes { offsets: &[0, 3], times: &[0.0, 0.5, 1.0] },
//!     spans: &[[0.0, 1.0]],
//!     strata: 4,
//!     draws: Draws { key: NoiseKey::new(1, 0), series: &[0], samples: 2, first_sample: 0 },
//! };
//! let drawn = problem.forward()?;
//! assert_eq!((drawn.states.len(), drawn.kl_start.len(), drawn.kl_path.len()), (2 * 3 * 3, 1, 2));
//! let gradients = problem.backward(&drawn.states, &[1.0], &[0.5, 0.5])?;
//! assert_eq!((gradients.positions.len(), gradients.widths.len(), gradients.sigma.len()), (6, 2, 1));
//! # Ok::<(), stroock_kernels::moebius::MoebiusError>(())
//! ```

mod backward;
mod curve;
mod energy;
mod error;
mod forward;
mod map;
mod prior;
mod problem;
mod simulate;
mod uniform;

pub use backward::MoebiusGradients;
pub use curve::{SOFTENING, SeriesTimes};
pub use error::MoebiusError;
pub use forward::MoebiusDraws;
pub use problem::{MoebiusProblem, MoebiusProcess};
pub use simulate::StepLengths;
