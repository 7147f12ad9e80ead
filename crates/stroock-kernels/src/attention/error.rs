//! What can be wrong with an attention problem.

use thiserror::Error;

use crate::argument::ArgumentError;

/// Why attention cannot be computed. Every variant names the argument at fault.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttentionError {
    /// An argument is not as every kernel asks for.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
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
