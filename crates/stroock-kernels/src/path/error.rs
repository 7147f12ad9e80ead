//! What can be wrong with a path problem.

use thiserror::Error;

use super::{Scheme, Space};
use crate::argument::ArgumentError;

/// Why a path cannot be computed. Every variant names the argument at fault.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PathError {
    /// An argument is not as every kernel asks for.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The dimension is too small for the space.
    #[error("`dim` is {dim}, but the space needs at least {least}")]
    Dimension {
        /// Given dimension.
        dim: usize,
        /// Smallest dimension of the space.
        least: usize,
    },
    /// The diffusion scale is not a positive number.
    #[error("`sigma` is {sigma}, but it must be positive and finite")]
    Sigma {
        /// Given value.
        sigma: f64,
    },
    /// Times do not increase.
    #[error("`{argument}` of series {series}: time {index} does not lie after time {}", index - 1)]
    TimesNotIncreasing {
        /// Name of the argument.
        argument: &'static str,
        /// Index of the series (0 for a shared grid).
        series: usize,
        /// Index of the first time that is not larger than the one before.
        index: usize,
    },
    /// A grid has no time at all.
    #[error("`{argument}` of series {series} has no times; at least one is needed")]
    NoTimes {
        /// Name of the argument.
        argument: &'static str,
        /// Index of the series (0 for a shared grid).
        series: usize,
    },
    /// The Chebyshev interval is empty.
    #[error("`{argument}` ends at {end}, not after its start {start}")]
    Interval {
        /// Name of the argument.
        argument: &'static str,
        /// Left end.
        start: f64,
        /// Right end.
        end: f64,
    },
    /// A requested grid index does not exist.
    #[error("`requests` of series {series}: index {index} lies outside its grid of {times} times")]
    RequestOutsideGrid {
        /// Index of the series.
        series: usize,
        /// Requested index.
        index: usize,
        /// Number of times of the series.
        times: usize,
    },
    /// Requested grid indices of a series decrease.
    #[error("`requests` of series {series} must not decrease, but entry {position} does")]
    RequestsDecrease {
        /// Index of the series.
        series: usize,
        /// Position in the list of the series.
        position: usize,
    },
    /// A start point is not on the space.
    #[error("`start` of row {row} (sample-major) is not on the space: {misfit}")]
    StartOffSpace {
        /// Row `sample * series + series index`.
        row: usize,
        /// What is wrong with it.
        misfit: String,
    },
    /// The scheme has no steps on the space.
    #[error("the scheme {scheme:?} cannot be used on the space {space:?}")]
    SchemeOnSpace {
        /// The scheme.
        scheme: Scheme,
        /// The space.
        space: Space,
    },
    /// States are not kept, but the scheme cannot recompute them.
    #[error(
        "`memory` is reversible, but steps of the scheme {scheme:?} cannot be taken back: store the states"
    )]
    SchemeDoesNotReverse {
        /// The scheme.
        scheme: Scheme,
    },
    /// An attractor is a drift of the ambient space.
    #[error("an attractor is a drift for paths that are steered, not for the scheme {scheme:?}")]
    AttractorOfScheme {
        /// The scheme.
        scheme: Scheme,
    },
    /// A path has left the range of the numbers.
    #[error(
        "a path of series {series} has left the range of the numbers: `drift` or `sigma` is too large for it"
    )]
    StateNotFinite {
        /// Index of the series.
        series: usize,
    },
    /// A single step turns too far: the drift has diverged, or the grid is far too coarse for it.
    #[error(
        "a step of series {series} has norm {norm:e} (limit {limit:e}): the drift diverged or the grid is too coarse"
    )]
    StepTooLarge {
        /// Index of the series.
        series: usize,
        /// Bound of the norm of the step.
        norm: f64,
        /// Largest norm that is computed.
        limit: f64,
    },
    /// The divergence of a path from a prior with a drift is not a finite number.
    #[error(
        "the divergence of series {series} from `prior` is not finite: the drifts diverged, `sigma` is too small, or the times lie too far outside the interval"
    )]
    DivergenceNotFinite {
        /// Index of the series.
        series: usize,
    },
    /// The tape belongs to another problem or to another solver.
    #[error("`tape` does not belong to this problem and solver")]
    ForeignTape,
}
