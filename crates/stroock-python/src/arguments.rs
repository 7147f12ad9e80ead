//! What Python says, in the words of the library.

use pyo3::prelude::*;
use stroock::estimator::{Goal, Horizon, ModelKind, PredictOptions};
use stroock::series::table::{ReadOptions, TimeScale};

use crate::error::wrong;
use crate::frame::Frame;

/// A table, the name of its series where it names none, and how it is read.
pub type Given<'py> = (Bound<'py, Frame>, String, String);

/// How a table is read.
pub fn read_options(json: &str) -> PyResult<ReadOptions> {
    let mut options: ReadOptions = serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
    // Marks of missing values are added to the usual ones.
    let mut missing = ReadOptions::default().missing;
    missing.extend(options.missing.drain(..).filter(|mark| !missing.contains(mark)).collect::<Vec<_>>());
    options.missing = missing;
    Ok(options)
}

/// How predictions are asked for.
pub fn options(quantiles: Vec<f64>, draws: usize, samples: usize, seed: u64) -> PredictOptions {
    PredictOptions { quantiles, draws: draws.max(samples), samples, seed }
}

/// What a model is fitted for.
pub fn goal_named(name: &str) -> PyResult<Goal> {
    match name {
        "impute" => Ok(Goal::Impute),
        "forecast" => Ok(Goal::Forecast),
        "classify" => Ok(Goal::Classify),
        other => Err(wrong(format!(
            "task=\"{other}\": a model is fitted to \"impute\", \"forecast\" or \"classify\""
        ))),
    }
}

/// Which model is fitted.
pub fn model_named(name: &str) -> PyResult<ModelKind> {
    ModelKind::named(name).ok_or_else(|| {
        let names: Vec<String> = ModelKind::ALL.iter().map(|kind| format!("\"{}\"", kind.name())).collect();
        wrong(format!("model=\"{name}\": the models of tables are {}", names.join(", ")))
    })
}

/// A length of time as the user writes it.
pub fn length(scale: &TimeScale, argument: &str, text: &str) -> PyResult<f64> {
    scale.parse_length(text.trim()).filter(|length| *length > 0.0 && length.is_finite()).ok_or_else(|| {
        let like = match scale {
            TimeScale::Number => "a positive number, in the unit of the times",
            TimeScale::Date { .. } => "a length of time, as in \"15min\", \"6h\" or \"2d\"",
        };
        wrong(format!("{argument}: `{text}` is no length of time; write {like}"))
    })
}

/// A time as the user writes it.
pub fn time(scale: &TimeScale, argument: &str, text: &str) -> PyResult<f64> {
    scale.parse(text.trim()).ok_or_else(|| {
        let like = match scale {
            TimeScale::Number => "a number, as the times of the training data",
            TimeScale::Date { .. } => "a date, as in \"2024-01-31T14:00:00\"",
        };
        wrong(format!("{argument}: `{text}` is no time; write {like}"))
    })
}

/// How far a forecast goes.
pub fn horizon(
    scale: &TimeScale,
    steps: Option<usize>,
    length_of_time: Option<String>,
    until: Option<String>,
) -> PyResult<Horizon> {
    match (steps, length_of_time, until) {
        (Some(steps), None, None) => Ok(Horizon::Steps(steps)),
        (None, Some(text), None) => Ok(Horizon::Length(length(scale, "steps", &text)?)),
        (None, None, Some(text)) => Ok(Horizon::Until(time(scale, "until", &text)?)),
        _ => Err(wrong("how far? give a number of steps, a length of time, or until=...")),
    }
}
