//! What can be wrong with the marginals of a process.

use thiserror::Error;

use crate::argument::ArgumentError;

/// Why a process with given marginals cannot be computed. Every variant names the argument at fault.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MoebiusError {
    /// An argument is not as every kernel asks for.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// There is no sphere of this dimension with a direction to go.
    #[error("`dim` is {dim}, but the sphere needs at least 2")]
    Dimension {
        /// Given ambient dimension.
        dim: usize,
    },
    /// The diffusion scale is not a positive number.
    #[error("`sigma` is {sigma}, but it must be positive and finite")]
    Sigma {
        /// Given value.
        sigma: f64,
    },
    /// A width is not positive.
    #[error("`widths` at knot {knot} is {width}, but it must be positive and finite")]
    Width {
        /// Index of the knot among all knots of the batch.
        knot: usize,
        /// Given value.
        width: f64,
    },
    /// A series has no knot.
    #[error("`knots` of series {series} has no times; at least one is needed")]
    NoKnots {
        /// Index of the series in the batch.
        series: usize,
    },
    /// Times do not increase as they must.
    #[error("`{argument}` of series {series}: time {index} comes too early after time {}", index - 1)]
    TimesOutOfOrder {
        /// Name of the argument.
        argument: &'static str,
        /// Index of the series in the batch.
        series: usize,
        /// Index of the first time at fault, within the series.
        index: usize,
    },
    /// A span ends before it starts.
    #[error("`spans` of series {series} ends at {end}, before its start {start}")]
    Span {
        /// Index of the series in the batch.
        series: usize,
        /// Start of the span.
        start: f64,
        /// End of the span.
        end: f64,
    },
    /// A state is asked for before its path starts.
    #[error("`requests` of series {series}: time {time} lies before the start {start} of its path")]
    RequestBeforeStart {
        /// Index of the series in the batch.
        series: usize,
        /// Requested time.
        time: f64,
        /// Start of the path.
        start: f64,
    },
    /// Steps are not positive, or the smallest is larger than the largest.
    #[error("`steps` from {smallest} to {largest} are not positive lengths in order")]
    Steps {
        /// Smallest step.
        smallest: f64,
        /// Largest step.
        largest: f64,
    },
    /// There are more steps than random numbers for them.
    #[error("`steps` are so small that series {series} needs more than {most} of them")]
    TooManySteps {
        /// Index of the series in the batch.
        series: usize,
        /// Largest number of steps.
        most: u32,
    },
}
