//! Batches: what the encoder sees and what the likelihood is scored on, without padding.

mod assemble;
mod choice;
mod evidence;
mod input;
mod question;
mod time;

pub use assemble::{Batch, Batcher};
pub use choice::{EvidenceChoice, InputChoice};
pub use evidence::{Evidence, EvidenceError, Observed};
pub use input::{EncoderInput, InputEntries, InputPoints};
pub use time::{GridKind, TimeAxis};
