//! What can be wrong with an attention problem.

use thiserror::Error;

/// Why attention cannot be computed. Every variant names the argument at fault.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttentionError {
    /// Nothing to compute: no width, no channels, no series or no reference points.
    #[error("`{argument}` is empty; at least one is needed")]
    Empty {
        /// Name of the argument.
        argument: &'static str,
    },
    /// A slice has the wrong length.
    #[error("`{argument}` has {actual} entries, but its shape {shape} asks for {expected}")]
    Length {
        /// Name of the argument.
        argument: &'static str,
        /// The shape in words.
        shape: &'static str,
        /// Length by the other arguments.
        expected: usize,
        /// Given length.
        actual: usize,
    },
    /// A number is not finite.
    #[error("`{argument}` is not finite at index {index}")]
    NotFinite {
        /// Name of the argument.
        argument: &'static str,
        /// Place in the flat slice.
        index: usize,
    },
    /// Offsets do not describe consecutive runs.
    #[error("`{argument}` must start at 0 and never decrease, but entry {index} does not")]
    Offsets {
        /// Name of the argument.
        argument: &'static str,
        /// First entry at fault.
        index: usize,
    },
    /// A point has a distinct time that does not exist.
    #[error("`entries.times` of point {point} is {time}, but `keys` has {times} rows")]
    TimeOutsideKeys {
        /// Index of the point.
        point: usize,
        /// Its index of a distinct time.
        time: u32,
        /// Number of distinct times.
        times: usize,
    },
    /// An entry belongs to a point of another series.
    #[error("`entries.points` holds {point} at index {index}, which is not a point of series {series}")]
    PointOutsideSeries {
        /// Place in `entries.points`.
        index: usize,
        /// The point found there.
        point: u32,
        /// The series of the entry.
        series: usize,
    },
    /// Products of queries and keys are too large for the precision.
    #[error("`queries` or `keys` are too large: the scores of distinct time {time} overflow")]
    ScoresOverflow {
        /// Index of the distinct time.
        time: usize,
    },
    /// The tape belongs to another problem or to another solver.
    #[error("`tape` does not belong to this problem and solver")]
    ForeignTape,
}
