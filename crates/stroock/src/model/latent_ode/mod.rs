//! A latent ordinary differential equation: a random start point, and a path without noise from there.
//!
//! With the representation `h` of a series,
//!
//! ```text
//! z_0 ~ N(m(h), diag e^v(h)),   z' = f(z),
//! ```
//!
//! where `m` and `v` are linear and `f` is a network with ELU between its layers, the same at all times. The prior is the
//! same equation from `N(0, I)`, so that the divergence is that of the start points alone. Paths are those of the scheme of
//! Euler on the grid of the batch, and gradients those of the scheme. With an encoder that attends over time, or reads
//! one frame, it is the mTAND-ODE or the CNN-ODE that the paper compares itself with; the generative part is that of
//! Rubanova, Chen and Duvenaud (Latent ODEs for irregularly-sampled time series, 2019).

mod config;
mod process;

pub use config::{LatentOdeConfig, OdeConfig, StandardLatentOde};
pub use process::OdeProcess;
