//! Why a model cannot be reported on.

use stroock::estimator::EstimatorError;
use stroock::predict::PredictionError;
use stroock::run::ConfigError;
use stroock::series::SeriesError;
use thiserror::Error;

/// Why a model cannot be reported on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelReportError {
    /// The model cannot be used on the series.
    #[error(transparent)]
    Model(#[from] EstimatorError),
    /// Nothing can be predicted.
    #[error(transparent)]
    Prediction(#[from] PredictionError),
    /// Series do not make a data set.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// The configuration cannot be written.
    #[error(transparent)]
    Config(#[from] ConfigError),
}
