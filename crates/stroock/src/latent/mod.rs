//! From a representation to random paths: the law of a path, its start points and its states.

mod law;
mod path;
mod start;

pub use law::{PathLaw, PathLawConfig, PathParameters};
pub use path::{PathGrid, PathNoise, PathPlan, PathRequests, PathStates, simulate};
pub use start::{StartPlan, StartPoints, power_spherical};
