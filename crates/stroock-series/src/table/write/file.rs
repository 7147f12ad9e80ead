//! Data frames as a file that appears complete or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
#[cfg(feature = "parquet")]
use parquet::arrow::ArrowWriter;

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
        self.write_to(FrameFile::create(path, false)?)
    }

    /// As [`DataFrame::save`], in place of the file that may be there; it keeps its content where writing fails.
    ///
    /// # Errors
    /// As [`DataFrame::save`], save that the file may exist.
    pub fn save_over(&self, path: &Path) -> Result<(), WriteError> {
        self.write_to(FrameFile::create(path, true)?)
    }

    fn write_to(&self, mut file: FrameFile) -> Result<(), WriteError> {
        file.append(self)?;
        file.finish()
    }
}

/// A file that data frames with the same columns are written to one after the other. It appears when it is finished, and
/// not at all where it is dropped before.
///
/// ```
/// use stroock_series::table::{Column, DataFrame, FrameFile};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("filled.csv");
/// let part = |x: f64| DataFrame { names: vec!["x".into()], columns: vec![Column::Number(vec![x])] };
/// let mut file = FrameFile::create(&path, false)?;
/// file.append(&part(1.0))?;
/// file.append(&part(2.5))?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "x\n1\n2.5\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FrameFile {
    path: PathBuf,
    beside: PathBuf,
    may_replace: bool,
    names: Vec<String>,
    /// `None` once it has been finished.
    out: Option<Out>,
}

enum Out {
    Csv(BufWriter<File>),
    CsvGz(GzEncoder<BufWriter<File>>),
    /// Before its columns are known.
    #[cfg(feature = "parquet")]
    Begin(BufWriter<File>),
    #[cfg(feature = "parquet")]
    Parquet(Box<ArrowWriter<BufWriter<File>>>),
}

impl FrameFile {
    /// Begins a file in the format that the ending of its name says; `may_replace` says whether there may be one already.
    ///
    /// # Errors
    /// When there is such a file already, the ending is unknown, or its folder cannot be written to.
    pub fn create(path: &Path, may_replace: bool) -> Result<Self, WriteError> {
        // Checked before the work, and once more when the file takes its name.
        if !may_replace && fs::symlink_metadata(path).is_ok() {
            return Err(WriteError::Exists { path: path.into() });
        }
        let format = Format::of(path)?;
        let (file, beside) = create_beside(path).map_err(at(path))?;
        let file = BufWriter::new(file);
        let out = Some(match format {
            Format::Csv => Out::Csv(file),
            Format::CsvGz => Out::CsvGz(GzEncoder::new(file, Compression::default())),
            #[cfg(feature = "parquet")]
            Format::Parquet => Out::Begin(file),
        });
        Ok(Self { path: path.into(), beside, may_replace, names: Vec::new(), out })
    }

    /// Writes the rows of a data frame behind those before.
    ///
    /// # Errors
    /// When its columns do not make a table, or not the same as before, or the file cannot be written.
    pub fn append(&mut self, data_frame: &DataFrame) -> Result<(), WriteError> {
        data_frame.rows()?;
        let is_first = self.names.is_empty();
        if is_first {
            self.names.clone_from(&data_frame.names);
        } else if self.names != data_frame.names {
            let (expected, found) = (self.names.join(", "), data_frame.names.join(", "));
            return Err(WriteError::OtherColumns { expected, found });
        }
        let written = match &mut self.out {
            Some(Out::Csv(out)) => to_csv(data_frame, out, is_first),
            Some(Out::CsvGz(out)) => to_csv(data_frame, out, is_first),
            #[cfg(feature = "parquet")]
            out => to_parquet(data_frame, out),
            #[cfg(not(feature = "parquet"))]
            None => Ok(()),
        };
        written.map_err(|error| self.about(error))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// When the file cannot be written, or another one has taken the name.
    pub fn finish(mut self) -> Result<(), WriteError> {
        let done = close(self.out.take()).and_then(|()| Ok(self.take_name()?));
        done.map_err(|error| self.about(error))
    }

    fn take_name(&self) -> io::Result<()> {
        if self.may_replace {
            return fs::rename(&self.beside, &self.path);
        }
        match fs::hard_link(&self.beside, &self.path) {
            // The other name goes away when this is dropped.
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // Some file systems have no links; there the check above has to do.
            Err(_) => fs::rename(&self.beside, &self.path),
        }
    }

    /// An error with the name of the file.
    fn about(&self, error: WriteError) -> WriteError {
        match error {
            WriteError::Output(error) => at(&self.path)(error),
            other => other,
        }
    }
}

impl Drop for FrameFile {
    fn drop(&mut self) {
        // It is not there any more where it was renamed.
        let _ = fs::remove_file(&self.beside);
    }
}

fn to_csv(data_frame: &DataFrame, out: &mut impl Write, is_first: bool) -> Result<(), WriteError> {
    match is_first {
        true => data_frame.to_csv(out),
        false => data_frame.rows_to_csv(out),
    }
}

/// Writes rows to a Parquet file, which begins with the first of them.
#[cfg(feature = "parquet")]
fn to_parquet(data_frame: &DataFrame, out: &mut Option<Out>) -> Result<(), WriteError> {
    if let Some(Out::Begin(_)) = out
        && let Some(Out::Begin(file)) = out.take()
    {
        *out = Some(Out::Parquet(Box::new(data_frame.begin_parquet(file)?)));
    }
    match out {
        Some(Out::Parquet(out)) => data_frame.append_parquet(out),
        _ => Ok(()),
    }
}

fn close(out: Option<Out>) -> Result<(), WriteError> {
    let file = match out {
        None => return Ok(()),
        Some(Out::Csv(out)) => out,
        Some(Out::CsvGz(out)) => out.finish()?,
        #[cfg(feature = "parquet")]
        Some(Out::Begin(out)) => out,
        #[cfg(feature = "parquet")]
        Some(Out::Parquet(out)) => out.into_inner()?,
    };
    file.into_inner().map_err(io::Error::from)?.sync_all()?;
    Ok(())
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
