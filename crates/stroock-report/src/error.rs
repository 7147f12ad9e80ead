//! Why a report cannot be written.

use stroock_figures::FigureError;
use thiserror::Error;

/// Why a report cannot be written.
///
/// A `field` is written as it is reached from the report, such as `fits[2].bands[0].upper`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A list has the wrong length.
    #[error("`{field}` has {actual} entries, but {expected} are needed, as many as in `{like}`")]
    Length {
        /// The list.
        field: String,
        /// The list that it belongs to.
        like: String,
        /// Length of that list.
        expected: usize,
        /// Given length.
        actual: usize,
    },
    /// Times or epochs go back.
    #[error("`{field}[{index}]` ({value}) lies before the one in front of it: sort by time")]
    Order {
        /// The list of times.
        field: String,
        /// Place in the list.
        index: usize,
        /// The time.
        value: f64,
    },
    /// A number has no meaning where it stands.
    #[error("`{field}` is {value}, but must be {requirement}")]
    Invalid {
        /// The field.
        field: String,
        /// Its value.
        value: f64,
        /// What it must be.
        requirement: &'static str,
    },
    /// A still picture of the page cannot be drawn.
    #[error("cannot draw the picture of `{field}`: {source}")]
    Figure {
        /// The part of the report.
        field: &'static str,
        /// What is wrong with it.
        source: FigureError,
    },
    /// The numbers of the page cannot be written as JSON.
    #[error("cannot write the numbers of the page as JSON: {source}")]
    Json {
        /// What the writer says.
        #[from]
        source: serde_json::Error,
    },
}

impl ReportError {
    pub(crate) fn figure(field: &'static str) -> impl Fn(FigureError) -> Self {
        move |source| ReportError::Figure { field, source }
    }
}

/// Refuses a list of another length than the list `like`.
pub(crate) fn length(field: String, actual: usize, like: String, expected: usize) -> Result<(), ReportError> {
    if expected == actual { Ok(()) } else { Err(ReportError::Length { field, like, expected, actual }) }
}

/// Refuses times that go back; what is not finite is skipped.
pub(crate) fn ordered(field: &str, times: &[f64]) -> Result<(), ReportError> {
    let mut latest = f64::NEG_INFINITY;
    for (index, &value) in times.iter().enumerate().filter(|(_, time)| time.is_finite()) {
        if value < latest {
            return Err(ReportError::Order { field: field.to_owned(), index, value });
        }
        latest = value;
    }
    Ok(())
}
