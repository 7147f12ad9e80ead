//! Batches: what the encoder sees and what the likelihood is scored on, without padding.

mod assemble;
mod at_times;
mod choice;
mod input;
mod place;
mod targets;
mod time;

pub use assemble::{Batch, Batcher};
pub use choice::{InputChoice, TargetChoice};
pub(crate) use input::target_points;
pub use input::{EncoderInput, InputEntries, InputPoints};
pub use place::Place;
pub use targets::{Observed, Targets, TargetsError};
pub use time::{GridKind, TimeAxis};
