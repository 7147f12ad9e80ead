//! How observations scatter around the output of a decoder.
//!
//! A likelihood turns decoder outputs `[S, Q, C]` at the points of the evidence into the negative log
//! likelihood of each series, averaged over the samples. Only observed entries are visited.

mod bernoulli;
mod continuous_bernoulli;
mod entrywise;
mod gaussian;

pub use bernoulli::Bernoulli;
pub use continuous_bernoulli::ContinuousBernoulli;
pub use entrywise::{EntryLoss, LossAt, entrywise_loss};
pub use gaussian::{Gaussian, GaussianConfig, ScaleKind};
