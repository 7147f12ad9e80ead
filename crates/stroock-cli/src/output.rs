//! What goes to standard output, and what is said beside it on standard error.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::failure::Failure;

/// Whether another process speaks for this one.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Says nothing from here on: another process does.
pub fn silence() {
    SILENT.store(true, Ordering::Relaxed);
}

/// Whether another process speaks for this one.
pub fn is_silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

/// Prints text; a reader that has gone away (a closed pipe) is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    if is_silent() {
        return Ok(());
    }
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Prints one JSON object on one line.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print(&serde_json::to_string(value)?)
}

/// Says a line on standard error. Where nobody listens any more, it is lost, and the work goes on.
pub fn say(text: &str) {
    if !is_silent() {
        let _ = writeln!(io::stderr(), "{text}");
    }
}
