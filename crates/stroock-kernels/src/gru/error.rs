//! What can be wrong with a recurrent unit or its input.

use thiserror::Error;

use crate::argument::ArgumentError;

/// Why a recurrent unit cannot be run. Every variant names the argument at fault.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum GruError {
    /// An argument is not as every kernel asks for.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The sums in front of the gates are too large for the precision.
    #[error("`inputs` or `weights` are too large: the gates of series {series} overflow")]
    Overflow {
        /// Index of the series.
        series: usize,
    },
    /// The tape belongs to another problem or to another solver.
    #[error("`tape` does not belong to this problem and solver")]
    ForeignTape,
}
