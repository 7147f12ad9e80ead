//! What can be wrong with a recurrence.

use thiserror::Error;

use crate::argument::ArgumentError;

/// Why a recurrence cannot be run. Every variant names the argument at fault.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum S5Error {
    /// An argument is not as every kernel asks for.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// A gap is negative or not finite.
    #[error("`gaps` is {gap} at row {row}; it must be finite and not negative")]
    Gap {
        /// Row of the gap.
        row: usize,
        /// The gap.
        gap: f64,
    },
    /// A state grows beyond the precision over one gap.
    #[error("`lambda` and `ln_delta` of state {state} make it overflow over a gap of {gap}")]
    Overflow {
        /// Index of the state.
        state: usize,
        /// The gap.
        gap: f64,
    },
}
