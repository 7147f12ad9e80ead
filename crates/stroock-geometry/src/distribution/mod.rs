//! Distributions on the unit sphere S^{n-1} in R^n: where a path on the sphere starts.
//!
//! - [`UniformSphere`]: the invariant distribution, the prior of the start.
//! - [`PowerSpherical`]: concentrated about a direction `mu`, the posterior of the start, with a divergence
//!   from the uniform distribution in closed form and samples that can be differentiated.
//!
//! Numbers enter and leave in the caller's precision; in between everything is computed in `f64` and rounded
//! once.

mod error;
mod marginal;
mod power_spherical;
mod uniform_sphere;

pub use error::DistributionError;
pub use marginal::PolarAngle;
pub use power_spherical::{Coupling, PowerSpherical, PowerSphericalTape};
pub use uniform_sphere::UniformSphere;
