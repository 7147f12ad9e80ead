//! A latent SDE whose posterior follows the observations: its encoder has a state at every knot of a series, from which
//! paths are [steered](SteeredProcess), or their [marginals](MarginalProcess) are known without any simulation.
//!
//! [`SteeredProcess`]: crate::latent::SteeredProcess
//! [`MarginalProcess`]: crate::latent::MarginalProcess

mod codes;
mod config;
mod process;

pub use config::{KnotLatentConfig, KnotSdeConfig, StandardKnotSde};
pub use process::KnotProcess;
