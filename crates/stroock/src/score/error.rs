//! Why scores cannot be taken.

use thiserror::Error;

/// Why scores cannot be taken or put together.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ScoreError {
    /// Sums of different levels, quantiles or baselines are to be merged.
    #[error("scores cannot be merged: their {list} differ; take both with the same settings")]
    Settings {
        /// Which settings differ.
        list: &'static str,
    },
    /// A class is out of range.
    #[error("class {class} does not exist: there are {classes} classes, numbered from 0")]
    Class {
        /// The class.
        class: usize,
        /// Number of classes.
        classes: usize,
    },
    /// Probabilities are not a distribution over the classes.
    #[error("{actual} probabilities with sum {sum} are given, but {classes} with sum 1 are needed")]
    Probabilities {
        /// Number of classes.
        classes: usize,
        /// Number of probabilities given.
        actual: usize,
        /// Their sum.
        sum: f64,
    },
}
