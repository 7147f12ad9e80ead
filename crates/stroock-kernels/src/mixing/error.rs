//! What can be wrong with mixtures.

use thiserror::Error;

use crate::argument::ArgumentError;

/// Why mixtures cannot be computed. Every variant names the argument at fault.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum MixError {
    /// An argument is not as every kernel asks for.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
}
