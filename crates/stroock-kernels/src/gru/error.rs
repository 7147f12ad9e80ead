//! What can be wrong with a recurrent unit or its input.

use thiserror::Error;

/// Why a recurrent unit cannot be run. Every variant names the argument at fault.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum GruError {
    /// Nothing to compute: no steps, no inputs or no units.
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
