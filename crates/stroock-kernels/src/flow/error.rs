//! What can be wrong with a flow problem.

use thiserror::Error;

use crate::argument::ArgumentError;
use crate::path::PathError;

/// Why a flow cannot be computed. Every variant names the argument at fault.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum FlowError {
    /// An argument is not as every kernel asks for.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The grid or the requests are malformed.
    #[error(transparent)]
    Path(PathError),
    /// A series has no context to read.
    #[error("`context` of series {series} is empty; at least one is needed")]
    NoContext {
        /// Index of the series.
        series: usize,
    },
    /// A path has left the range of the numbers.
    #[error(
        "a path of series {series} has left the range of the numbers: `drift` is too steep, or the grid too coarse for it"
    )]
    StateNotFinite {
        /// Index of the series.
        series: usize,
    },
    /// The divergence of a path from the prior is not a finite number.
    #[error("the divergence of series {series} from `prior` is not finite: the drifts have diverged")]
    DivergenceNotFinite {
        /// Index of the series.
        series: usize,
    },
    /// The tape belongs to another problem or to another solver.
    #[error("`tape` does not belong to this problem and solver")]
    ForeignTape,
}

impl From<PathError> for FlowError {
    fn from(error: PathError) -> Self {
        match error {
            PathError::Argument(error) => FlowError::Argument(error),
            error => FlowError::Path(error),
        }
    }
}
