//! Why a model cannot be fitted or used.

use thiserror::Error;

use crate::classifier::ClassifierProblem;
use crate::model::{ModelConfigError, ModelFileError};
use crate::predict::PredictionError;
use crate::run::{ConfigError, RunError};
use crate::sampler::SamplerProblem;
use crate::score::ScoreError;
use crate::series::SeriesError;
use crate::training::TrainingError;

/// Why a model cannot be fitted or used.
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
    #[error("to learn classes the table needs a column of labels with at least two classes")]
    NoClasses,
    /// The model has not learned classes.
    #[error("this model has not learned classes")]
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
    #[error("this model was not fitted to a table")]
    NoTable,
    /// The table has no value that could be held out.
    #[error("nothing can be held out: no series has two values")]
    NothingToHoldOut,
    /// The values of a variable are too large to be scaled.
    #[error(
        "the values of `{variable}` are too large: their variance is not a finite number; scale them first"
    )]
    Scale {
        /// The variable.
        variable: String,
    },
    /// The logarithms of a variable cannot be learned.
    #[error("the logarithms of `{variable}` cannot be learned: {reason}")]
    Logarithm {
        /// The variable.
        variable: String,
        /// Why not.
        reason: &'static str,
    },
    /// A level of a quantile is not a share.
    #[error("the quantile {level} does not lie between 0 and 1")]
    Quantile {
        /// The level.
        level: f64,
    },
    /// No series and no path is asked for.
    #[error("nothing is to be sampled: ask for at least one")]
    Nothing,
    /// More draws are to be returned than there are.
    #[error("{samples} samples cannot be taken from {draws} draws")]
    Samples {
        /// Draws to return.
        samples: usize,
        /// All draws.
        draws: usize,
    },
    /// A step between times is not positive.
    #[error("a step of {every} does not lead from one time to the next; it must be positive")]
    Step {
        /// The step.
        every: f64,
    },
    /// More times are asked for than can be predicted at once.
    #[error("{times:.3e} times are asked for, but at most {most} can be predicted at once{}", with_draws(.draws))]
    TooManyTimes {
        /// Times of one series, or of all series together.
        times: f64,
        /// How many there may be.
        most: usize,
        /// Draws at each of them, where they are what limits the times.
        draws: Option<usize>,
    },
    /// A forecast is to end before the series do.
    #[error("no series ends before {until}: there is nothing to predict")]
    NothingAhead {
        /// The end of the forecast, as the user writes times.
        until: String,
    },
    /// A variable that is said to be known ahead of time is none of the table's.
    #[error("the table has no variable `{name}` that changes in time; it has {}", quoted(.variables))]
    UnknownVariable {
        /// The name.
        name: String,
        /// The variables of the table that change in time.
        variables: Vec<String>,
    },
    /// All variables are said to be known ahead of time.
    #[error("all variables are said to be known ahead of time: there is nothing to forecast")]
    NothingToForecast,
    /// A value that has to be known ahead of time is not given.
    #[error(
        "`{variable}` of series `{series}` is not given at {time}, and the forecast depends on it: add rows with its \
         values up to the end of the forecast, or fit without knowing it"
    )]
    NotKnown {
        /// The series.
        series: String,
        /// The variable.
        variable: String,
        /// The first time at which it is missing, as the user writes times.
        time: String,
    },
    /// A time lies outside the interval that the drift of the model is defined on.
    #[error("series `{series}` can be predicted up to {last}, twice the span that the model was trained on")]
    TooFar {
        /// The series.
        series: String,
        /// The last time that can be predicted, as the user writes times.
        last: String,
    },
    /// Predictions are to be filled into another table than theirs.
    #[error("the predictions are not about the times of this table")]
    OtherTable,
    /// Probabilities cannot be scored.
    #[error(transparent)]
    Score(#[from] ScoreError),
    /// The classifier of a model file cannot be used.
    #[error(transparent)]
    Classifier(#[from] ClassifierProblem),
    /// What new series are sampled from cannot be used.
    #[error(transparent)]
    Sampler(#[from] SamplerProblem),
    /// The configuration makes no model.
    #[error(transparent)]
    Model(#[from] ModelConfigError),
    /// The model file cannot be used.
    #[error(transparent)]
    ModelFile(#[from] ModelFileError),
    /// Few series that do not fit into memory.
    #[error(
        "the table does not fit into memory, and has {series} series only, too few to keep some for testing: cut them into \
         shorter windows, or allow more memory"
    )]
    FewLongSeries {
        /// Series, or windows of them.
        series: usize,
    },
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

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn with_draws(draws: &Option<usize>) -> String {
    draws.map_or_else(String::new, |draws| format!(" with {draws} draws each"))
}
