//! From a loss to better parameters.

mod adam;
mod schedule;

pub use adam::{Adam, AdamConfig, Moments};
pub use schedule::Schedule;
