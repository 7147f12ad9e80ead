//! How good predictions are: scores of values that were held back, and the baselines they are set beside.
//!
//! [`withhold`] hides observed entries from the encoder; [`HeldOutScores`] scores draws of a model at them, by
//! [`ScoreSums`] for each variable, beside the plain interpolation of [`VisibleSeries`]; [`ClassSums`] scores classes.
//! [`VariableLook`] and [`EnergyTest`] compare series with others, such as sampled ones with observed ones.
//! [`squared_errors`] and [`hits`] are the metrics over the targets of a batch.

mod baseline;
mod classification;
mod crps;
mod energy;
mod error;
mod held_out;
mod hold_out;
mod likeness;
mod mixture;
mod sums;
mod targets;

pub use baseline::{VisibleSeries, carried_forward, linear};
pub use classification::{ClassScore, ClassScores, ClassSums, Confusion, brier, log_loss};
pub use crps::crps;
pub use energy::EnergyTest;
pub use error::ScoreError;
pub use held_out::{HeldOutScores, held_times};
pub(crate) use hold_out::hold_back;
pub use hold_out::{HoldOut, withhold, withhold_of};
pub use likeness::{VariableLook, series_features};
pub use mixture::gaussian_mixture_nll;
pub use sums::{BaselineScore, Prediction, ScoreSums, Scores};
pub use targets::{hits, squared_errors};
