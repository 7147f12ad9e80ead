//! What can be wrong with a normalisation.

use thiserror::Error;

/// Why frames cannot be normalised. Every variant names the argument at fault.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum NormalisationError {
    /// An extent is zero.
    #[error("`{argument}` is 0 on axis {axis}; it must be at least 1")]
    Zero {
        /// Name of the argument.
        argument: &'static str,
        /// Which entry of the argument.
        axis: usize,
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

/// Checks the length of a slice.
pub(super) fn check_length(
    argument: &'static str,
    shape: &'static str,
    expected: usize,
    actual: usize,
) -> Result<(), NormalisationError> {
    if actual == expected {
        return Ok(());
    }
    Err(NormalisationError::Length { argument, shape, expected, actual })
}
