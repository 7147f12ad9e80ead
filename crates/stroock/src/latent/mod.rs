//! From a representation to random paths: the law of a path, its start points and its states.

mod bound;
mod config;
mod law;
mod path;
mod start;

pub use bound::frobenius_bound;
pub use config::{
    DivergenceKind, DriftKind, LatentConfig, LatentConfigError, MemoryKind, PriorKind, SpaceKind,
};
pub use law::{PathLaw, PathParameters};
pub use path::{PathGrid, PathNoise, PathPlan, PathRequests, PathStates, simulate};
pub use start::{StartPlan, StartPoints, power_spherical};
