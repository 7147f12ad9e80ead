//! Files that appear complete or not at all.
//!
//! Every change that a run makes to the disk, except for appending, is one of the few operations of this file.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::RunError;

/// Ending of the temporary files.
const TEMPORARY: &str = ".tmp";

/// Whether a file has a name that only a write that was cut off leaves: `.NAME.PROCESS-NUMBER.tmp`. Pictures of a run
/// have letters in the place of the number.
pub(super) fn is_temporary(name: &str) -> bool {
    let parts = name.strip_prefix('.').and_then(|name| name.strip_suffix(TEMPORARY)?.rsplit_once('.'));
    let Some((name, (process, number))) =
        parts.and_then(|(name, numbers)| Some((name, numbers.split_once('-')?)))
    else {
        return false;
    };
    let is_made_of = |text: &str, kind: fn(&u8) -> bool| !text.is_empty() && text.as_bytes().iter().all(kind);
    !name.is_empty()
        && is_made_of(process, u8::is_ascii_digit)
        && is_made_of(number, u8::is_ascii_alphanumeric)
}

/// Writes a file atomically: whatever happens, `path` holds its old content or all of the new one.
///
/// The content goes to a temporary file in the same folder, reaches the disk, and takes the name `path` in one
/// step; then the folder reaches the disk, too.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("config.toml");
/// stroock::run::write_atomic(&path, b"seed = 1\n")?;
/// stroock::run::write_atomic(&path, b"seed = 2\n")?;
/// assert_eq!(std::fs::read_to_string(&path)?, "seed = 2\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_atomic(path: &Path, content: &[u8]) -> Result<(), RunError> {
    write_atomic_with(path, |file| file.write_all(content))
}

/// As [`write_atomic`], for content that is made piece by piece.
///
/// When `write` fails, `path` keeps its old content.
pub fn write_atomic_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), RunError> {
    let (file, temporary) = create_beside(path)?;
    let written = fill(file, write).map_err(RunError::io("write", path));
    let done = written.and_then(|()| rename(&temporary, path));
    if done.is_err() {
        // The error that stopped the write is the one to report, whether or not this works.
        let _ = remove_file(&temporary);
    }
    done
}

fn fill(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    crash::point()?;
    let mut buffered = BufWriter::new(file);
    write(&mut buffered)?;
    buffered.into_inner()?.sync_all()
}

/// A new temporary file in the folder of `path`.
fn create_beside(path: &Path) -> Result<(File, PathBuf), RunError> {
    /// Makes the names of one process differ.
    static NEXT: AtomicU64 = AtomicU64::new(0);

    let name = path.file_name().ok_or_else(|| RunError::NoFileName { path: path.to_owned() })?;
    crash::point().map_err(RunError::io("create", path))?;
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut temporary = OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}-{number}{TEMPORARY}", std::process::id()));
        let temporary = path.with_file_name(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            // A killed process with the same id has left it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(RunError::io("create a file beside", path)(error)),
        }
    }
}

/// Renames a file or folder and makes it last.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), RunError> {
    crash::point().and_then(|()| fs::rename(from, to)).map_err(RunError::io("rename to", to))?;
    sync_folder(parent(to))
}

/// Creates a folder, which must not exist, and makes it last.
pub(super) fn create_folder(path: &Path) -> Result<(), RunError> {
    crash::point().and_then(|()| fs::create_dir(path)).map_err(RunError::io("create the folder", path))?;
    sync_folder(parent(path))
}

/// Removes a file and makes it last; a file that does not exist is fine.
pub(super) fn remove_file(path: &Path) -> Result<(), RunError> {
    match crash::point().and_then(|()| fs::remove_file(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done.map_err(RunError::io("remove", path)).and_then(|()| sync_folder(parent(path))),
    }
}

/// Removes a folder with its files.
pub(super) fn remove_folder(path: &Path) -> Result<(), RunError> {
    crash::point().and_then(|()| fs::remove_dir_all(path)).map_err(RunError::io("remove", path))
}

/// The folder of a file.
pub(super) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes the names in a folder last.
#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> Result<(), RunError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(RunError::io("write the folder", folder))
}

/// Other systems have no such call: they keep names by themselves.
#[cfg(not(unix))]
pub(super) fn sync_folder(_folder: &Path) -> Result<(), RunError> {
    Ok(())
}

/// The instants between two changes of the disk, where a crash may come.
#[cfg(not(test))]
mod crash {
    #[inline(always)]
    pub fn point() -> std::io::Result<()> {
        Ok(())
    }
}

/// The instants between two changes of the disk, where tests let a crash come: from then on every change
/// fails, those that would clean up included.
#[cfg(test)]
pub(super) mod crash {
    use std::cell::Cell;
    use std::io;

    thread_local! {
        static CHANGES_LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
        static CRASHED: Cell<bool> = const { Cell::new(false) };
    }

    /// Lets a crash come after so many changes by `work`, and tells whether it came.
    pub fn after<T>(changes: usize, work: impl FnOnce() -> T) -> (T, bool) {
        CHANGES_LEFT.set(changes);
        let result = work();
        CHANGES_LEFT.set(usize::MAX);
        (result, CRASHED.take())
    }

    pub fn point() -> io::Result<()> {
        match CHANGES_LEFT.get() {
            0 => {
                CRASHED.set(true);
                Err(io::Error::other("simulated crash"))
            }
            left => {
                CHANGES_LEFT.set(left - 1);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn temporary_files_are_known_by_their_names() {
        for name in [".model.safetensors.4711-0.tmp", ".report.html.1-12.tmp", ".fits.png.99-aB3xYz.tmp"] {
            assert!(is_temporary(name), "{name}");
        }
        for name in
            ["model.safetensors", ".lock", ".notes.tmp", "a.1-2.tmp", ".1-2.tmp", ".a.b-2.tmp", ".a.1-.tmp"]
        {
            assert!(!is_temporary(name), "{name}");
        }
    }

    #[test]
    fn a_failed_write_keeps_the_old_file_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        write_atomic(&path, b"old").unwrap();
        let error = write_atomic_with(&path, |file| {
            file.write_all(b"half of the n")?;
            Err(io::Error::other("disk full"))
        });
        assert!(error.unwrap_err().to_string().contains("disk full"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["model"]);
    }

    #[test]
    fn a_crash_at_any_instant_leaves_the_old_or_the_new_file() {
        for changes in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("model");
            write_atomic(&path, b"old").unwrap();
            let (result, crashed) = crash::after(changes, || write_atomic(&path, b"new"));
            let content = fs::read(&path).unwrap();
            assert!(content == b"old" || content == b"new");
            if !crashed {
                result.unwrap();
                assert_eq!(content, b"new");
                break;
            }
        }
    }

    #[test]
    fn a_path_without_a_file_name_is_refused() {
        assert!(matches!(write_atomic(Path::new("/"), b""), Err(RunError::NoFileName { .. })));
        assert!(matches!(write_atomic(Path::new("a/.."), b""), Err(RunError::NoFileName { .. })));
    }
}
