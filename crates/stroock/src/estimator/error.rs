//! Why a model cannot be fitted or asked.

use thiserror::Error;

use crate::model::{ModelConfigError, ModelFileError};
use crate::predict::PredictionError;
use crate::run::{ConfigError, RunError};
use crate::series::SeriesError;
use crate::training::TrainingError;

/// Why a model cannot be fitted or asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EstimatorError {
    /// There is nothing to learn from.
    #[error(
        "there is no value to learn from: the table has {series} series, and nothing is observed in them"
    )]
    NoValues {
        /// Series of the table.
        series: usize,
    },
    /// Classes are asked for without a column of them.
    #[error(
        "to learn classes the table needs a column of labels with at least two classes; name it with --target"
    )]
    NoClasses,
    /// The model has not learned classes.
    #[error("this model has not learned classes; fit one with --task classify --target COLUMN")]
    NotClassifier,
    /// The new table has none of the variables of the model.
    #[error("the table has none of the variables of the model: it has {found}, the model {expected}")]
    Variables {
        /// Variables of the table.
        found: String,
        /// Variables of the model.
        expected: String,
    },
    /// The model was not fitted to tables.
    #[error("this model was not fitted to a table; fit one with `stroock fit`")]
    NoTable,
    /// There is nothing in the table to be asked about.
    #[error("nothing can be held out: no series has two values")]
    NothingToHoldOut,
    /// A options that makes no sense.
    #[error("{0}")]
    Options(String),
    /// The configuration makes no model.
    #[error(transparent)]
    Model(#[from] ModelConfigError),
    /// The model file cannot be used.
    #[error(transparent)]
    ModelFile(#[from] ModelFileError),
    /// Series do not make a data set.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// Training failed.
    #[error(transparent)]
    Training(#[from] TrainingError),
    /// Nothing can be predicted.
    #[error(transparent)]
    Prediction(#[from] PredictionError),
    /// The run folder cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The configuration cannot be written.
    #[error(transparent)]
    Config(#[from] ConfigError),
}
