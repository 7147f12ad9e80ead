//! From a loss to better parameters: optimiser, schedule, averages, and runs that can be stopped and resumed, in one
//! process or in several that train together.

mod adam;
mod average;
mod buffers;
mod checkpoint;
mod divergence;
mod epoch;
mod error;
mod gradient;
mod pairwise;
mod schedule;
mod step;
mod trainer;
mod validation;
mod world;

pub use adam::{Adam, AdamConfig, Moments};
pub use average::Average;
pub use epoch::EpochMeans;
pub use error::TrainingError;
pub use gradient::Gradient;
pub use schedule::Schedule;
pub use trainer::{Outcome, Trained, Trainer, TrainingConfig};
pub use validation::{Scores, Validation};
pub use world::{Alone, World, WorldError, share};
