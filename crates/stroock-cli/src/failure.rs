//! How a command fails: one sentence on standard error, exit code 1; or 130 where it was asked to stop.

use std::error::Error;
use std::fmt;
use std::io;
use std::process::ExitCode;

use crate::advice::advice;
use crate::output::say;

/// Exit code of a process that Ctrl-C ended: 128 + 2, as shells have it.
const INTERRUPTED: u8 = 130;

/// A run that was stopped by Ctrl-C or SIGTERM, and how to go on with it.
#[derive(Debug, thiserror::Error)]
#[error("stopped {done}; {how}")]
pub struct Interrupted {
    /// How far it was: "after epoch 3".
    pub done: String,
    /// How to go on.
    pub how: String,
}

impl Interrupted {
    /// So many epochs are complete.
    pub fn after_epoch(epochs: u64, how: impl Into<String>) -> Self {
        Self { done: format!("after epoch {epochs}"), how: how.into() }
    }
}

/// Why a command failed.
#[derive(Debug)]
pub struct Failure(Box<dyn Error>);

impl Failure {
    /// The error of a library, where it is of this kind.
    pub fn error<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }

    /// Whether it comes of a reader that has gone away.
    pub fn is_broken_pipe(&self) -> bool {
        let mut cause: Option<&(dyn Error + 'static)> = Some(self.0.as_ref());
        while let Some(error) = cause {
            let of_system = error.downcast_ref::<io::Error>();
            if of_system.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
                return true;
            }
            cause = error.source();
        }
        false
    }

    /// Prints the error with its causes, and gives the exit code.
    pub fn report(self) -> ExitCode {
        if self.0.is::<Interrupted>() {
            say(&self.0.to_string());
            return ExitCode::from(INTERRUPTED);
        }
        match advice(self.0.as_ref()) {
            Some(advice) => say(&format!("error: {}; {advice}", self.0)),
            None => say(&format!("error: {}", self.0)),
        }
        let (mut last, mut cause) = (self.0.to_string(), self.0.source());
        while let Some(error) = cause {
            let text = error.to_string();
            // Transparent errors repeat themselves.
            if text != last && !last.ends_with(&text) {
                say(&format!("  because: {text}"));
            }
            (last, cause) = (text, error.source());
        }
        ExitCode::FAILURE
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<E: Into<Box<dyn Error>>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure(error.into())
    }
}
