//! From a loss to better parameters: optimiser, schedule, and runs that can be stopped and resumed.

mod adam;
mod epoch;
mod error;
mod schedule;
mod trainer;

pub use adam::{Adam, AdamConfig, Moments};
pub use epoch::EpochMeans;
pub use error::TrainingError;
pub use schedule::Schedule;
pub use trainer::{Outcome, Scores, Trained, Trainer, TrainingConfig, Validation};
