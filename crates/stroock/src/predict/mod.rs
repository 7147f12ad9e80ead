//! What a model says about series: draws from the posterior predictive distribution, and their summaries.

mod draws;
mod observe;
mod predictor;
mod summary;

pub use draws::{Draws, PredictionError};
pub(crate) use observe::normal;
pub use predictor::Predictor;
pub use summary::Summary;
