//! From a table to a fitted model, and from a fitted model to predictions in the units of the user.
//!
//! ```no_run
//! use stroock::estimator::{Goal, Model, PredictOptions};
//! use stroock::series::Dataset;
//!
//! let model = Model::fit(&Dataset::read("sensors.csv")?, Goal::Impute, "run")?;
//! let gaps = model.impute(&Dataset::read("new-sensors.csv")?, None, &PredictOptions::default())?;
//! gaps.data_frame().save("filled.csv".as_ref())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Model`] is the contents of a model file: nothing else is needed to use it on series it never saw. Settings
//! come from the data ([`FitConfig::suggest`]); every one of them can be changed before [`FitConfig::fit`].

mod bridge;
mod choice;
mod classify;
mod closed_form;
mod config;
mod error;
mod evaluate;
mod evaluate_samples;
mod evaluation_sums;
mod fit;
mod forecast;
mod gap_length;
mod impute;
mod kept_back;
mod model;
mod model_kind;
mod parts;
mod predictions;
mod residuals;
mod run_config;
mod sample;
mod scaled;
mod some_of_many;
mod stream;
mod subject;
mod suggest;
mod wanted;

pub use classify::Classes;
pub use config::{FitConfig, Goal};
pub use error::EstimatorError;
pub use evaluate::{ClassEvaluation, EvaluateOptions, Evaluation, LeftOut, VariableEvaluation};
pub use evaluate_samples::{ComparedLook, SampledVariable, SamplesEvaluation};
pub use evaluation_sums::EvaluationSums;
pub use fit::{FitPlan, Fitted};
pub use forecast::{ForecastView, Horizon};
pub use model::{Model, Prepared};
pub use model_kind::ModelKind;
pub use parts::Answered;
pub use predictions::{PredictOptions, Predictions};
pub use run_config::{DataConfig, RunConfig};
pub use sample::SampleSource;
pub use some_of_many::MOST_SERIES;
pub use subject::{Part, Subject};
