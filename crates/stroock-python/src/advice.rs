//! What to do about an error of the libraries, in terms of the arguments of Python functions.

use stroock::estimator::EstimatorError;
use stroock::series::table::{Fault, TableError};

/// What to do about a table, where an argument helps.
pub fn about_table(error: &TableError) -> Option<String> {
    Some(match error {
        TableError::Row { fault, .. } => match **fault {
            Fault::Number { .. } => {
                "or name the mark of missing values with missing=[...], leave the column out with ignore=[...], or such \
                 rows with skip_bad_rows=True"
            }
            Fault::Time { .. } => {
                "or say how dates are written with date_format=..., choose another column with time=..., or leave such \
                 rows out with skip_bad_rows=True"
            }
            _ => "or leave such rows out with skip_bad_rows=True",
        }
        .into(),
        TableError::UnknownName { option, .. } => format!("check {}", argument(option)),
        TableError::TwoRoles { first, second, .. } => {
            format!("check {} and {}", argument(first), argument(second))
        }
        TableError::HalfLong { .. } => "name both with variable=... and value=...".into(),
        TableError::NoTime { .. } => "name it with time=...".into(),
        TableError::DateOrder { .. } => "use date_format=\"dmy\" or date_format=\"mdy\"".into(),
        TableError::TimeKind { .. } => "check time=... and date_format=...".into(),
        TableError::TimeParts { .. } => "check time=[...]".into(),
        TableError::NoVariables { .. } => "name them with variables=[...]".into(),
        TableError::TimeZone { .. } => "check time_zone=...".into(),
        TableError::Duplicate { has_id, .. } => {
            let id = if *has_id { "" } else { ", or name the column of the series with id=..." };
            format!("use duplicates=\"mean\" or duplicates=\"last\"{id}")
        }
        TableError::TooLarge { .. } => "use variables=[...]".into(),
        _ => return None,
    })
}

/// What to do about a model, where an argument helps.
pub fn about_model(error: &EstimatorError) -> Option<String> {
    Some(
        match error {
            EstimatorError::NoClasses => "name it with target=...",
            EstimatorError::NotClassifier => "fit one with task=\"classify\" and target=...",
            EstimatorError::NoTable => "fit one with stroock.fit",
            EstimatorError::Logarithm { .. } => "check log=[...]",
            EstimatorError::Quantile { .. } => "check quantiles=[...]",
            EstimatorError::Nothing => "check count=...",
            EstimatorError::Samples { .. } => "ask for fewer with samples=..., or for more with draws=...",
            EstimatorError::Step { .. } => "check every=...",
            EstimatorError::TooManyTimes { .. } => {
                "choose longer steps with every=..., an earlier until=... or fewer steps"
            }
            EstimatorError::NothingAhead { .. } => "choose a later until=..., or a number of steps",
            EstimatorError::TooFar { .. } => {
                "choose an earlier until=..., or fit a model to longer windows (window=...)"
            }
            _ => return None,
        }
        .into(),
    )
}

/// The argument that gives a field of the options of reading.
fn argument(field: &str) -> String {
    match field {
        "label" => "target=...".into(),
        field => format!("{field}=..."),
    }
}
