//! A whole data set from its publishers.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::download::{DownloadSettings, Downloaded, Progress, download};
use super::error::DataError;
use super::folder::DataFolder;
use super::source::{DataFile, DataSet};

/// How a data set is fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FetchSettings {
    /// Address of a copy of the data folder, such as an institute has one, to be asked before the publishers.
    pub mirror: Option<String>,
    /// Whether to fetch files that the experiments can do without, too.
    pub extras: bool,
    /// How patient the downloads are.
    pub download: DownloadSettings,
}

/// What happens while a data set is fetched.
#[derive(Debug)]
pub enum FetchEvent<'a> {
    /// A file is there and valid.
    Present {
        /// The file.
        file: &'a DataFile,
        /// Where it is.
        path: &'a Path,
    },
    /// A file is there, but it is damaged or a part; it will be replaced once a valid one has arrived.
    Invalid {
        /// The file.
        file: &'a DataFile,
        /// What is wrong with it.
        reason: &'a str,
    },
    /// A file is on its way.
    Progress {
        /// The file.
        file: &'a DataFile,
        /// How far it is.
        progress: Progress,
    },
    /// A file has arrived and is valid.
    Arrived {
        /// The file.
        file: &'a DataFile,
        /// Where it came from.
        downloaded: &'a Downloaded,
    },
}

/// Fetches the files of a data set that are not there, or not valid, and returns where they all are.
///
/// # Errors
/// When a file cannot be had, with what happened at every address; when another process fetches the same data
/// set.
pub fn fetch(
    data_set: &DataSet,
    folder: &DataFolder,
    settings: &FetchSettings,
    report: &mut dyn FnMut(FetchEvent<'_>),
) -> Result<Vec<PathBuf>, DataError> {
    let target = folder.of(data_set);
    fs::create_dir_all(&target).map_err(DataError::io("create the folder", &target))?;
    let _lock = lock(&target)?;
    let files = data_set.files.iter().filter(|file| settings.extras || !file.is_extra);
    files.map(|file| fetch_file(data_set, file, folder, settings, report)).collect()
}

fn fetch_file(
    data_set: &DataSet,
    file: &DataFile,
    folder: &DataFolder,
    settings: &FetchSettings,
    report: &mut dyn FnMut(FetchEvent<'_>),
) -> Result<PathBuf, DataError> {
    if let Some(path) = folder.locate(data_set, file) {
        let found = file.examine(&path).map_err(|error| error.to_string());
        match found.and_then(|found| found.part.map_or(Ok(()), Err)) {
            Ok(()) => {
                report(FetchEvent::Present { file, path: &path });
                return Ok(path);
            }
            Err(reason) => report(FetchEvent::Invalid { file, reason: &reason }),
        }
    }
    let path = folder.of(data_set).join(file.name);
    let downloaded = download(
        &addresses(data_set, file, settings),
        &path,
        &settings.download,
        &mut |complete| file.verify(complete).map(|_| ()),
        &mut |progress| report(FetchEvent::Progress { file, progress }),
    )?;
    report(FetchEvent::Arrived { file, downloaded: &downloaded });
    Ok(path)
}

/// The mirror, if any, then the publishers.
fn addresses(data_set: &DataSet, file: &DataFile, settings: &FetchSettings) -> Vec<String> {
    let at_mirror =
        |mirror: &String| format!("{}/{}/{}", mirror.trim_end_matches('/'), data_set.folder, file.name);
    let publishers = file.urls.iter().map(|url| url.to_string());
    settings.mirror.iter().map(at_mirror).chain(publishers).collect()
}

/// Keeps other processes from fetching the same data set, until it is dropped or the process ends.
fn lock(folder: &Path) -> Result<File, DataError> {
    let path = folder.join(".fetch.lock");
    let open = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let file = open.map_err(DataError::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(DataError::InUse { folder: folder.to_owned() }),
        // Some network disks have no locks; a download there is still placed in one step.
        Err(TryLockError::Error(_)) => Ok(file),
    }
}
