//! Time series as they are: ragged, partly observed, vector- or image-valued.

mod dataset;
mod scaler;
mod split;

pub use dataset::{Dataset, Observation, Series, SeriesError, Target};
pub use scaler::Scaler;
pub use split::{Split, shuffled};
