//! Is a data set there, and whole?

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::content::Count;
use super::folder::DataFolder;
use super::source::{DataFile, DataSet};

/// What was found of a data set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Name of the data set.
    pub data_set: &'static str,
    /// Its folder.
    pub folder: PathBuf,
    /// Its files.
    pub files: Vec<FileReport>,
}

/// What was found of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// Its published name.
    pub name: &'static str,
    /// Whether the experiments can do without it.
    pub is_extra: bool,
    /// Where it was found, possibly under another name.
    pub path: Option<PathBuf>,
    /// Its length; for a folder, that of its files together.
    pub bytes: u64,
    /// Whether its checksum was compared with the publisher's.
    pub is_checksummed: bool,
    /// What it holds.
    pub counts: Vec<Count>,
    /// In which state it is.
    pub state: FileState,
}

/// In which state a file is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "is", content = "why")]
pub enum FileState {
    /// As published.
    Whole,
    /// Valid, but only a part of what is published.
    Part(String),
    /// Not there.
    Missing,
    /// There, but not what it should be.
    Damaged(String),
}

impl CheckReport {
    /// Whether all files that the experiments need are there and valid, be it in part.
    pub fn is_usable(&self) -> bool {
        let fine = |file: &FileReport| match file.state {
            FileState::Whole | FileState::Part(_) => true,
            FileState::Missing => file.is_extra,
            FileState::Damaged(_) => false,
        };
        self.files.iter().all(fine)
    }

    /// Whether all files that the experiments need are there as published.
    pub fn is_whole(&self) -> bool {
        self.is_usable() && !self.files.iter().any(|file| matches!(file.state, FileState::Part(_)))
    }
}

/// Checks every file of a data set by reading it: checksum, format, counts.
///
/// Faults of files are part of the report, not errors.
///
/// ```
/// use stroock_experiments::data::{self, DataFolder, source};
/// # let empty = tempfile::tempdir()?;
/// # let path = empty.path();
/// let report = data::check(source::find("mnist")?, &DataFolder::find(Some(path))?);
/// assert!(!report.is_usable());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(data_set: &DataSet, folder: &DataFolder) -> CheckReport {
    let files = data_set.files.iter().map(|file| check_file(file, folder.locate(data_set, file)));
    CheckReport { data_set: data_set.name, folder: folder.of(data_set), files: files.collect() }
}

fn check_file(file: &DataFile, path: Option<PathBuf>) -> FileReport {
    let mut report = FileReport {
        name: file.name,
        is_extra: file.is_extra,
        path: None,
        bytes: 0,
        is_checksummed: false,
        counts: Vec::new(),
        state: FileState::Missing,
    };
    let Some(path) = path else { return report };
    report.bytes = length(&path).unwrap_or(0);
    report.state = match file.examine(&path) {
        Ok(found) => {
            report.is_checksummed = file.checksum_for(&path).is_some();
            report.counts = found.counts;
            found.part.map_or(FileState::Whole, FileState::Part)
        }
        Err(error) => FileState::Damaged(error.to_string()),
    };
    report.path = Some(path);
    report
}

/// Bytes of a file, or of all files in a folder.
fn length(path: &Path) -> io::Result<u64> {
    if !path.is_dir() {
        return Ok(fs::metadata(path)?.len());
    }
    fs::read_dir(path)?.try_fold(0, |sum, entry| Ok(sum + entry?.metadata()?.len()))
}
