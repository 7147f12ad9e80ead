//! The content of raw files in 64 digits, remembered as long as length and date stay the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::data::content::{hexadecimal, sha256};
use crate::data::error::DataError;
use crate::data::placement;

/// A file that was written this recently may be written again without a change of its date.
const COARSEST_CLOCK: Duration = Duration::from_secs(2);

/// Fingerprints of the files that were seen before.
pub(super) struct Fingerprints {
    path: PathBuf,
    known: BTreeMap<String, Known>,
    is_changed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    bytes: u64,
    /// Nanoseconds since 1970.
    modified: u128,
    sha256: String,
}

impl Fingerprints {
    /// Those that are kept in the folder of a cache; none where they cannot be read.
    pub fn load(folder: &Path) -> Self {
        let path = file(folder);
        let known = fs::read(&path).ok().and_then(|json| serde_json::from_slice(&json).ok());
        Fingerprints { path, known: known.unwrap_or_default(), is_changed: false }
    }

    /// The fingerprint of a file, or of a folder with files.
    pub fn of(&mut self, path: &Path) -> Result<String, DataError> {
        let metadata = fs::metadata(path).map_err(DataError::io("read", path))?;
        if metadata.is_dir() {
            return of_folder(path);
        }
        let name = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
        let modified = metadata.modified().ok();
        let stamp = modified.and_then(|time| Some(time.duration_since(UNIX_EPOCH).ok()?.as_nanos()));
        let unchanged = |known: &&Known| known.bytes == metadata.len() && Some(known.modified) == stamp;
        if let Some(known) = self.known.get(&name).filter(unchanged) {
            return Ok(known.sha256.clone());
        }
        let (sha256, bytes) = sha256(path)?;
        let age = modified.and_then(|time| SystemTime::now().duration_since(time).ok());
        match stamp {
            Some(modified) if age.is_some_and(|age| age > COARSEST_CLOCK) && bytes == metadata.len() => {
                self.known.insert(name, Known { bytes, modified, sha256: sha256.clone() });
                self.is_changed = true;
            }
            _ => self.is_changed |= self.known.remove(&name).is_some(),
        }
        Ok(sha256)
    }

    /// Keeps them for the next time, if the folder can be written to.
    pub fn save(&self) {
        if !self.is_changed {
            return;
        }
        if let Ok(json) = serde_json::to_vec_pretty(&self.known) {
            // They only save time: without them, files are read.
            let _ = placement::create_parent(&self.path).and_then(|()| placement::write(&self.path, &json));
        }
    }

    /// Removes those that are kept.
    pub fn forget(folder: &Path) -> Result<(), DataError> {
        placement::remove(&file(folder))
    }
}

fn file(folder: &Path) -> PathBuf {
    folder.join("fingerprints.json")
}

/// Names and contents of the files directly in a folder.
fn of_folder(path: &Path) -> Result<String, DataError> {
    let read = |reason| DataError::Io { action: "read the folder", path: path.to_owned(), reason };
    let entries = fs::read_dir(path).map_err(read)?.map(|entry| Ok(entry.map_err(read)?.path()));
    let mut files = entries.collect::<Result<Vec<PathBuf>, DataError>>()?;
    files.sort();
    let mut hash = Sha256::new();
    for file in files.iter().filter(|file| file.is_file()) {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        hash.update(sha256(file)?.0);
    }
    Ok(hexadecimal(&hash.finalize()))
}
