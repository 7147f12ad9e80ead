//! Files that appear complete or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::DataError;

/// `path` with an ending added to its name.
pub(super) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Creates the folder that `path` lies in.
pub(super) fn create_parent(path: &Path) -> Result<(), DataError> {
    let parent = parent(path);
    fs::create_dir_all(parent).map_err(DataError::io("create the folder", parent))
}

/// Gives a complete file, which has reached the disk, its name in one step.
pub(super) fn place(complete: &Path, path: &Path) -> Result<(), DataError> {
    fs::rename(complete, path).map_err(DataError::io("rename to", path))?;
    sync_folder(parent(path))
}

/// Writes a file such that `path` holds its old content or all of the new one, whatever happens.
pub(super) fn write(path: &Path, content: &[u8]) -> Result<(), DataError> {
    /// Makes the names of one process differ.
    static NEXT: AtomicU64 = AtomicU64::new(0);

    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let temporary = with_ending(path, &format!(".{}-{number}.tmp", std::process::id()));
    let fill = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&temporary)?;
        file.write_all(content)?;
        file.sync_all()
    };
    let done = fill().map_err(DataError::io("write", path)).and_then(|()| place(&temporary, path));
    if done.is_err() {
        // The error that stopped the write is the one to report, whether or not this works.
        let _ = fs::remove_file(&temporary);
    }
    done
}

/// Removes a file; one that does not exist is fine.
pub(super) fn remove(path: &Path) -> Result<(), DataError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done.map_err(DataError::io("remove", path)),
    }
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes the names in a folder last.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> Result<(), DataError> {
    fs::File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(DataError::io("write the folder", folder))
}

/// Other systems have no such call: they keep names by themselves.
#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> Result<(), DataError> {
    Ok(())
}
