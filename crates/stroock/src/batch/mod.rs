//! Batches: what the encoder sees and what the likelihood is scored on, without padding.

mod assemble;
mod evidence;
mod input;
mod time;

pub use assemble::{Batch, Batcher, InputChoice};
pub use evidence::{Evidence, EvidenceError, Observed};
pub use input::{EncoderInput, InputPoints};
pub use time::{GridKind, TimeAxis};
