//! How good predictions are: scores of values that were held back, and the baselines they are set beside.
//!
//! [`withhold`] hides observed entries from the encoder; [`ScoreSums`] judges predictions of them, one
//! variable each; [`VisibleSeries`] gives what plain interpolation would have said; [`ClassSums`] judges
//! classes.

mod baseline;
mod classification;
mod crps;
mod error;
mod hold_out;
mod mixture;
mod sums;

pub use baseline::{VisibleSeries, carried_forward, linear};
pub use classification::{ClassScore, ClassScores, ClassSums, Confusion, brier, log_loss};
pub use crps::{crps, quantile};
pub use error::ScoreError;
pub use hold_out::{HoldOut, withhold};
pub use mixture::gaussian_mixture_nll;
pub use sums::{BaselineScore, Prediction, ScoreSums, Scores};
