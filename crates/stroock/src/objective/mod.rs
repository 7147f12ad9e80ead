//! What is minimised: the weighted negative evidence lower bound.

mod elbo;

pub use elbo::{ElboParts, ElboWeights, Objective};
