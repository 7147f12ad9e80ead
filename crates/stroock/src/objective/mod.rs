//! What is minimised: the weighted negative evidence lower bound.

mod elbo;
mod importance;

pub use elbo::{ElboParts, ElboWeights, Objective};
pub use importance::importance_weighted_loss;
