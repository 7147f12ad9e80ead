//! What a model says about series: draws from the posterior predictive law, and their summaries.

mod draws;
mod summary;

pub use draws::{Draws, PredictionError, Predictor};
pub use summary::{Summary, quantile};
