//! What to do about an error of the libraries, in terms of the command.
//!
//! Libraries say what is wrong with an argument or a field; which flag gives it is known here alone.

use std::error::Error;

use stroock::estimator::EstimatorError;
use stroock::series::SeriesError;
use stroock::series::table::{Fault, TableError};

/// What to do about an error, where a flag helps.
pub fn advice(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(error) = error.downcast_ref() {
        return about_table(error);
    }
    about_model(error.downcast_ref()?)
}

fn about_table(error: &TableError) -> Option<String> {
    Some(match error {
        TableError::Row { fault, .. } => match **fault {
            Fault::Number { ref value, .. } if value.contains(',') => {
                "or read decimal commas with --decimal , or leave the column out with --ignore, or such rows with \
                 --skip-bad-rows"
            }
            Fault::Number { .. } => {
                "or name the mark of missing values with --missing, leave the column out with --ignore, or leave such \
                 rows out with --skip-bad-rows"
            }
            Fault::Time { .. } => {
                "or say how dates are written with --date-format, choose another column with --time, or leave such rows \
                 out with --skip-bad-rows"
            }
            _ => "or leave such rows out with --skip-bad-rows",
        }
        .into(),
        TableError::UnknownName { option, .. } => format!("check {}", flag(option)),
        TableError::TwoRoles { first, second, .. } => format!("check {} and {}", flag(first), flag(second)),
        TableError::HalfLong { .. } => "name both with --variable and --value".into(),
        TableError::NoTime { .. } => "name it with --time".into(),
        TableError::DateOrder { .. } => "use --date-format dmy or --date-format mdy".into(),
        TableError::TimeKind { .. } => "check --time and --date-format".into(),
        TableError::TimeParts { .. } => "check --time".into(),
        TableError::NoVariables { .. } => "name them with --variables".into(),
        TableError::TimeZone { .. } => "check --time-zone".into(),
        TableError::Columns { .. } => "or leave it out with --ignore".into(),
        TableError::Duplicate { has_id, .. } => {
            let id = if *has_id { "" } else { ", or name the column of the series with --id" };
            format!("use --duplicates mean or --duplicates last{id}")
        }
        TableError::ManyCells { .. } => "leave out --wide, or allow more with --memory".into(),
        TableError::Series(SeriesError::Scratch { .. }) => {
            "the folder is that of the output, or what the environment variable TMPDIR names".into()
        }
        TableError::TooLarge { long: true, .. } => {
            "use --variables, and check that --variable is the right column".into()
        }
        TableError::TooLarge { long: false, .. } => "use --variables".into(),
        _ => return None,
    })
}

fn about_model(error: &EstimatorError) -> Option<String> {
    Some(
        match error {
            EstimatorError::FewLongSeries { .. } => "use --window, or --memory",
            EstimatorError::NoClasses => "name it with --target",
            EstimatorError::NotClassifier => "fit one with --task classify --target COLUMN",
            EstimatorError::NoTable => "fit one with `stroock fit`",
            EstimatorError::Logarithm { .. } => "check --log",
            EstimatorError::Quantile { .. } => "check --quantiles",
            EstimatorError::Nothing => "check --count",
            EstimatorError::Samples { .. } => "ask for fewer with --samples, or for more with --draws",
            EstimatorError::Step { .. } => "check --every",
            EstimatorError::TooManyTimes { .. } => {
                "choose longer steps with --every, an earlier --until or a shorter --for"
            }
            EstimatorError::NothingAhead { .. } => "choose a later --until, or steps with --for",
            EstimatorError::TooFar { .. } => {
                "choose an earlier --until, or fit a model to longer windows (--window)"
            }
            _ => return None,
        }
        .into(),
    )
}

/// The flag that gives a field of the options of reading.
fn flag(field: &str) -> String {
    match field {
        "label" => "--target".into(),
        "statics" => "--static".into(),
        field => format!("--{}", field.replace('_', "-")),
    }
}
