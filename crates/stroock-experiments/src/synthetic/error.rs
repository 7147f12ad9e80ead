//! Why a data set cannot be generated.

use stroock::series::SeriesError;
use thiserror::Error;

/// Why a data set cannot be generated.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SyntheticError {
    /// A parameter lies outside its range.
    #[error("{set}: `{parameter}` is {value}; choose {requirement}")]
    Parameter {
        /// Name of the data set.
        set: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        requirement: String,
    },
    /// Bytes do not make images.
    #[error("{bytes} bytes are no whole number of {side} x {side} images; pass one byte a pixel, row by row")]
    Images {
        /// Given bytes.
        bytes: usize,
        /// Rows and columns of an image.
        side: usize,
    },
    /// There are fewer digits than sequences.
    #[error("{needed} sequences need as many digits, but only {given} are given; ask for fewer sequences")]
    TooFewDigits {
        /// Sequences of all parts.
        needed: usize,
        /// Given digits.
        given: usize,
    },
    /// The series do not make a data set.
    #[error(transparent)]
    Series(#[from] SeriesError),
}

/// Whether a parameter of a data set is in order.
pub(super) fn require(
    holds: bool,
    set: &'static str,
    parameter: &'static str,
    value: impl std::fmt::Debug,
    requirement: impl Into<String>,
) -> Result<(), SyntheticError> {
    if holds {
        return Ok(());
    }
    let (value, requirement) = (format!("{value:?}"), requirement.into());
    Err(SyntheticError::Parameter { set, parameter, value, requirement })
}
