//! How a command fails: one sentence on standard error, exit code 1.

use std::error::Error;
use std::process::ExitCode;

use crate::advice::advice;

/// Why a command failed.
#[derive(Debug)]
pub struct Failure(Box<dyn Error>);

impl Failure {
    /// Prints the error with its causes, and gives the exit code.
    pub fn report(self) -> ExitCode {
        match advice(self.0.as_ref()) {
            Some(advice) => eprintln!("error: {}; {advice}", self.0),
            None => eprintln!("error: {}", self.0),
        }
        let (mut last, mut cause) = (self.0.to_string(), self.0.source());
        while let Some(error) = cause {
            let text = error.to_string();
            // Transparent errors repeat themselves.
            if text != last && !last.ends_with(&text) {
                eprintln!("  because: {text}");
            }
            (last, cause) = (text, error.source());
        }
        ExitCode::FAILURE
    }
}

impl<E: Into<Box<dyn Error>>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure(error.into())
    }
}
