//! From a representation to random paths: the process of a path, its start points and its states.

mod attractor;
mod bound;
mod config;
mod field;
mod filter;
mod flow;
mod marginal;
mod moebius;
mod normal_start;
mod path;
mod process;
mod start;
mod steered;
mod steering;

pub use attractor::LearnedAttractor;
pub use bound::frobenius_bound;
pub use config::{DivergenceKind, DriftKind, LatentConfig, LatentConfigError, PriorKind};
pub use field::{DiagonalDiffusion, VectorField};
pub use filter::{FilterParameters, FilterPlan, KalmanError, TransitionKind, filter};
pub use flow::{
    Activation, ContextTimes, DrivenPlan, FlowError, FlowPlan, driven_flow, flow, posterior_flow,
};
pub use marginal::{MarginalConfig, MarginalProcess};
pub use moebius::{
    AttractorPrior, MoebiusError, MoebiusPlan, MoebiusStates, RaggedTimes, moebius, moebius_paths,
};
pub use normal_start::NormalStart;
pub use path::{PathDrift, PathGrid, PathNoise, PathPlan, PathRequests, PathStates, simulate};
pub(crate) use process::{KAPPA_SCALE, power_spherical};
pub use process::{PathParameters, PathProcess};
pub(crate) use start::prior_start;
pub use start::{StartPlan, StartPoints, start_points};
pub use steered::{KnotPrior, SteeredConfig, SteeredParameters, SteeredProcess};
pub use steering::Steering;
pub(crate) use steering::linear_between;

pub use stroock_kernels::moebius::StepLengths;
pub use stroock_kernels::path::{Memory, Scheme, Space};
