//! From a loss to better parameters: optimiser, schedule, averages, and runs that can be stopped and resumed.

mod adam;
mod average;
mod checkpoint;
mod epoch;
mod error;
mod schedule;
mod trainer;
mod validation;

pub use adam::{Adam, AdamConfig, Moments};
pub use average::Average;
pub use epoch::EpochMeans;
pub use error::TrainingError;
pub use schedule::Schedule;
pub use trainer::{Outcome, Trained, Trainer, TrainingConfig};
pub use validation::{Scores, Validation};
