//! The command, run in a folder.

use std::path::Path;
use std::process::{Command, Output};

fn stroock(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stroock")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Standard output and standard error of a command that must succeed.
pub fn done(arguments: &[&str], folder: &Path) -> (String, String) {
    let output = stroock(arguments, folder);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// Standard error of a command that must fail in words.
pub fn refused(arguments: &[&str], code: i32, folder: &Path) -> String {
    let output = stroock(arguments, folder);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}
