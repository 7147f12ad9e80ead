//! Files that appear complete or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::FigureError;

/// Writes to a temporary file in the same folder, which then takes the name `path`.
pub(super) fn write_atomic(path: &Path, content: &[u8]) -> Result<(), FigureError> {
    let (file, temporary) = create_beside(path)?;
    let done = fill(file, content)
        .map_err(error("write", path))
        .and_then(|()| fs::rename(&temporary, path).map_err(error("rename a file to", path)));
    if done.is_err() {
        // The error that stopped the write is the one to report, whether or not this works.
        let _ = fs::remove_file(&temporary);
    }
    done
}

fn fill(mut file: File, content: &[u8]) -> io::Result<()> {
    file.write_all(content)?;
    file.sync_all()
}

/// A new temporary file in the folder of `path`.
fn create_beside(path: &Path) -> Result<(File, PathBuf), FigureError> {
    /// Makes the names of one process differ.
    static NEXT: AtomicU64 = AtomicU64::new(0);

    let name = path.file_name().ok_or_else(|| FigureError::Extension { path: path.to_owned() })?;
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut temporary = OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}-{number}.tmp", std::process::id()));
        let temporary = path.with_file_name(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            // A killed process with the same id has left it.
            Err(problem) if problem.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(problem) => return Err(error("create a file beside", path)(problem)),
        }
    }
}

fn error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FigureError {
    move |source| FigureError::Io { action, path: path.to_owned(), source }
}
