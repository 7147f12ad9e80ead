//! Commands that are killed, resumed, and compared with ones that were not.
//!
//! 1. [`Job`]: a command that trains in a run folder, and the command that goes on with it;
//! 2. [`Campaign`]: the job once without interruption, and then killed at calls and at instants;
//! 3. [`Tally`]: what was killed where, and everything that went wrong.

mod campaign;
mod job;
mod tally;

pub use campaign::Campaign;
pub use job::{Finished, Job};
pub use tally::Tally;
