//! What can be wrong with a filter problem.

use thiserror::Error;

use crate::argument::ArgumentError;

/// Why series cannot be filtered. Every variant names the argument at fault.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum KalmanError {
    /// An argument is not as every kernel asks for.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// Time runs backwards.
    #[error("`gaps` is negative at index {index}; points must be in the order of time")]
    NegativeGap {
        /// The point, counted over the batch.
        index: usize,
    },
    /// A belief has left the range of the numbers.
    #[error(
        "the belief of series {series} is not finite: the transition grows too fast over the gaps, or an \
         observation has no variance"
    )]
    NotFinite {
        /// Index of the series.
        series: usize,
    },
}
