//! A data frame as a file that appears complete or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{DataFrame, WriteError};

#[derive(Clone, Copy)]
enum Format {
    Csv,
    CsvGz,
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Format {
    fn of(path: &Path) -> Result<Self, WriteError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let endings = [
            (".csv", Format::Csv),
            (".csv.gz", Format::CsvGz),
            #[cfg(feature = "parquet")]
            (".parquet", Format::Parquet),
        ];
        let known = endings.into_iter().find(|(ending, _)| name.ends_with(ending));
        known.map(|(_, format)| format).ok_or_else(|| WriteError::Format { path: path.into() })
    }
}

impl DataFrame {
    /// Writes the data frame to a new file, in the format that the ending of its name says: `.csv`, `.csv.gz` or
    /// `.parquet`. The file appears complete or not at all.
    ///
    /// # Errors
    /// When there is such a file already, the ending is unknown, the columns do not make a table, or the file
    /// cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), WriteError> {
        // Checked before the work, and once more when the file takes its name.
        if fs::symlink_metadata(path).is_ok() {
            return Err(WriteError::Exists { path: path.into() });
        }
        self.place(path, |beside| match fs::hard_link(beside, path) {
            Ok(()) => fs::remove_file(beside),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // Some file systems have no links; there the check above has to do.
            Err(_) => fs::rename(beside, path),
        })
    }

    /// As [`DataFrame::save`], in place of the file that may be there; it keeps its content where writing fails.
    ///
    /// # Errors
    /// As [`DataFrame::save`], save that the file may exist.
    pub fn save_over(&self, path: &Path) -> Result<(), WriteError> {
        self.place(path, |beside| fs::rename(beside, path))
    }

    fn place(&self, path: &Path, name: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), WriteError> {
        let format = Format::of(path)?;
        self.rows()?;
        let (file, beside) = create_beside(path).map_err(at(path))?;
        let done = self.fill(file, format).and_then(|()| Ok(name(&beside)?));
        if done.is_err() {
            // The error that stopped the write is the one to report, whether or not this works.
            let _ = fs::remove_file(&beside);
        }
        done.map_err(|error| match error {
            WriteError::Output(error) => at(path)(error),
            other => other,
        })
    }

    fn fill(&self, file: File, format: Format) -> Result<(), WriteError> {
        let mut out = BufWriter::new(file);
        match format {
            Format::Csv => self.to_csv(&mut out)?,
            Format::CsvGz => {
                let mut packed = GzEncoder::new(&mut out, Compression::default());
                self.to_csv(&mut packed)?;
                packed.finish()?;
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => self.to_parquet(&mut out)?,
        }
        out.into_inner().map_err(io::Error::from)?.sync_all()?;
        Ok(())
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> WriteError {
    let path = path.to_path_buf();
    |source| match source.kind() {
        io::ErrorKind::AlreadyExists => WriteError::Exists { path },
        _ => WriteError::File { path, source },
    }
}

/// A new file in the folder of `path`, with a name that no other process takes.
fn create_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut number = 0_u32;
    loop {
        let beside = path.with_file_name(format!(".{name}.{}-{number}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Ok(file) => return Ok((file, beside)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}
