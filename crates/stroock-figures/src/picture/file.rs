//! Files that appear complete or not at all.

use std::io::{self, Write};
use std::path::Path;

use crate::FigureError;

/// Writes to a temporary file in the same folder, which then takes the name `path`.
pub(super) fn write_atomic(path: &Path, content: &[u8]) -> Result<(), FigureError> {
    let Some(name) = path.file_name() else {
        return Err(FigureError::Extension { path: path.to_owned() });
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    // Temporary files are for their owner alone; pictures are as readable as other new files.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // Whoever opens a run again knows by this name what a kill has left.
    let prefix = format!(".{}.{}-", name.to_string_lossy(), std::process::id());
    builder.prefix(&prefix).suffix(".tmp");
    let mut file = builder.tempfile_in(folder).map_err(error("create a file beside", path))?;
    file.write_all(content).and_then(|()| file.as_file().sync_all()).map_err(error("write", path))?;
    file.persist(path).map_err(|problem| error("rename a file to", path)(problem.error))?;
    Ok(())
}

fn error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FigureError {
    move |source| FigureError::Io { action, path: path.to_owned(), source }
}
