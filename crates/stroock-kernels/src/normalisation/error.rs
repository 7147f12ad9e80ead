//! What can be wrong with a normalisation.

use thiserror::Error;

use crate::argument::ArgumentError;

/// Why frames cannot be normalised. Every variant names the argument at fault.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum NormalisationError {
    /// An argument is not as every kernel asks for.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The number below the root is not positive, so that a constant frame would be divided by zero.
    #[error("`epsilon` is {epsilon}, but it must be positive and finite in the precision of the images")]
    Epsilon {
        /// Given value.
        epsilon: f64,
    },
    /// The extents that an argument leads to are beyond what is possible.
    #[error("`{argument}` leads to more numbers than can be in memory")]
    TooLarge {
        /// Name of the argument.
        argument: &'static str,
    },
    /// The tape belongs to other images or to another instruction set.
    #[error("`tape` does not belong to these images and this instruction set")]
    ForeignTape,
}
