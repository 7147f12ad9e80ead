//! Everything around a training run that does not need tensors.

mod configuration;
mod events;
mod folder;
mod metrics;
mod progress;
mod signals;
mod tensors;

use std::process::{Command, Stdio};

/// Runs one ignored test of this program in a process of its own, with `folder` in the variable `RUN_FOLDER`.
fn child(test: &str, folder: &std::path::Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]).env("RUN_FOLDER", folder);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Whether this process was started by [`child`].
fn is_child() -> bool {
    std::env::var_os("RUN_FOLDER").is_some()
}
