//! Errors of the libraries as Python exceptions, with the same sentences.

use std::error::Error;

use pyo3::prelude::*;
use stroock::estimator::EstimatorError;
use stroock::series::table::{TableError, WriteError};
use stroock_kernels::path::PathError;

use crate::advice;

/// The exceptions, by the names that Python has for them.
pub mod exceptions {
    #![allow(missing_docs, reason = "their documentation is that of Python")]

    use pyo3::create_exception;
    use pyo3::exceptions::PyValueError;

    create_exception!(stroock, StroockError, PyValueError, "What stroock could not do, and why.");
    create_exception!(stroock, TableError, StroockError, "A table cannot be read.");
    create_exception!(stroock, ModelError, StroockError, "A model cannot be fitted or used.");
    create_exception!(stroock, NothingAhead, ModelError, "All series end after what is to be forecast.");
    create_exception!(stroock, PathError, StroockError, "A path cannot be computed.");
}

/// An error of the libraries on its way to Python.
pub struct Failure(PyErr);

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure(error)
    }
}

/// A sentence with its causes; transparent errors do not repeat themselves.
fn sentence(error: &(dyn Error + 'static), advice: Option<String>) -> String {
    let mut text = error.to_string();
    if let Some(advice) = advice {
        text = format!("{text}; {advice}");
    }
    let (mut last, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        let more = error.to_string();
        if more != last && !last.ends_with(&more) {
            text.push_str(&format!("\n  because: {more}"));
        }
        (last, cause) = (more, error.source());
    }
    text
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        Failure(exceptions::TableError::new_err(sentence(&error, advice::about_table(&error))))
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Failure(exceptions::TableError::new_err(sentence(&error, None)))
    }
}

impl From<EstimatorError> for Failure {
    fn from(error: EstimatorError) -> Self {
        let text = sentence(&error, advice::about_model(&error));
        Failure(match error {
            EstimatorError::NothingAhead { .. } => exceptions::NothingAhead::new_err(text),
            _ => exceptions::ModelError::new_err(text),
        })
    }
}

impl From<PathError> for Failure {
    fn from(error: PathError) -> Self {
        Failure(exceptions::PathError::new_err(sentence(&error, None)))
    }
}

/// Something that is wrong with an argument of a function of this package.
pub fn wrong(text: impl Into<String>) -> PyErr {
    exceptions::StroockError::new_err(text.into())
}
