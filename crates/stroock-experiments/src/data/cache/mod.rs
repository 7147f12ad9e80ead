//! Series once they are made, so that the raw files need not be read again.
//!
//! An entry is found by a key: SHA-256 of the reader and its version, the content of the raw files, and the
//! settings. Whatever changes, the entry is another one; there is nothing to invalidate. Entries are verified when
//! they are read, and made anew when they are damaged.

mod bytes;
mod entry;
mod fingerprint;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use stroock::series::Dataset;

use super::content::hexadecimal;
use super::error::DataError;
use super::folder::platform_folder;
use super::placement;
use fingerprint::Fingerprints;

/// Environment variable that names the folder of the cache.
pub const CACHE_FOLDER_VARIABLE: &str = "STROOCK_CACHE_DIR";

const ENDING: &str = "series";

/// A folder of series that were made before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: Option<PathBuf>,
}

/// A data set with what belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cached<M> {
    /// The series.
    pub dataset: Dataset,
    /// What else the reader tells: scaling, recordings, coverage.
    pub notes: M,
    /// Where they are from.
    pub origin: CacheOrigin,
}

/// Where a data set is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheOrigin {
    /// From the cache.
    Read,
    /// Made, and stored for the next time.
    Made,
    /// Made in place of an entry that was damaged, and stored for the next time.
    Repaired(String),
    /// Made, but not stored: there is no cache, or it cannot be written to, for the reason given.
    NotStored(Option<String>),
}

impl Cache {
    /// A cache in a folder, which need not exist.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Cache { folder: Some(folder.into()) }
    }

    /// No cache: series are made every time.
    pub fn none() -> Self {
        Cache { folder: None }
    }

    /// A cache in the folder that `STROOCK_CACHE_DIR` names; else in `stroock` in the cache folder of the platform
    /// (`$XDG_CACHE_HOME`, `~/.cache`, or `%LOCALAPPDATA%`); else none.
    pub fn find() -> Self {
        let named = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let platform = || platform_folder(&named, "XDG_CACHE_HOME", ".cache");
        Cache { folder: named(CACHE_FOLDER_VARIABLE).or_else(platform) }
    }

    /// The folder; `None` where there is no cache.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The series that `make` makes of the raw files `inputs` by `settings`, from the cache if they are there.
    ///
    /// `reader` names what `make` does and its version. A cache that cannot be written to is no obstacle.
    ///
    /// ```
    /// use stroock::series::{Dataset, Observation};
    /// use stroock_experiments::data::cache::{Cache, CacheOrigin};
    /// # let scratch = tempfile::tempdir()?;
    /// # let raw = scratch.path().join("raw.txt");
    /// # std::fs::write(&raw, "1 2 3")?;
    /// let cache = Cache::new(scratch.path().join("cache"));
    /// let make = || Ok((Dataset::new(Observation::Vector { channels: 1 }, vec![])?, 7));
    /// assert_eq!(cache.get("example, version 1", &[&raw], &"settings", make)?.origin, CacheOrigin::Made);
    /// assert_eq!(cache.get("example, version 1", &[&raw], &"settings", make)?.origin, CacheOrigin::Read);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When `make` fails, an input cannot be read, or the settings cannot be written as JSON.
    pub fn get<M, P>(
        &self,
        reader: &str,
        inputs: &[P],
        settings: &impl Serialize,
        make: impl FnOnce() -> Result<(Dataset, M), DataError>,
    ) -> Result<Cached<M>, DataError>
    where
        M: Serialize + DeserializeOwned,
        P: AsRef<Path>,
    {
        let Some(folder) = &self.folder else {
            let (dataset, notes) = make()?;
            return Ok(Cached { dataset, notes, origin: CacheOrigin::NotStored(None) });
        };
        let key = key(folder, reader, inputs, settings)?;
        let path = folder.join(&key).with_extension(ENDING);
        let damage = match entry::read(&path, &key) {
            Ok(Some((dataset, notes))) => return Ok(Cached { dataset, notes, origin: CacheOrigin::Read }),
            Ok(None) => None,
            Err(problem) => Some(problem.to_string()),
        };
        let (dataset, notes) = make()?;
        let stored = store(&path, &key, &dataset, &notes);
        let origin = match (stored, damage) {
            (Err(reason), _) => CacheOrigin::NotStored(Some(reason.to_string())),
            (Ok(()), Some(damage)) => CacheOrigin::Repaired(damage),
            (Ok(()), None) => CacheOrigin::Made,
        };
        Ok(Cached { dataset, notes, origin })
    }

    /// Removes all entries, and returns their number.
    ///
    /// # Errors
    /// When the folder cannot be read or an entry cannot be removed.
    pub fn clear(&self) -> Result<usize, DataError> {
        let Some(folder) = self.folder.as_ref().filter(|folder| folder.is_dir()) else { return Ok(0) };
        let mut removed = 0;
        for file in fs::read_dir(folder).map_err(DataError::io("read the folder", folder))? {
            let path = file.map_err(DataError::io("read the folder", folder))?.path();
            if path.extension().is_some_and(|ending| ending == ENDING) {
                placement::remove(&path)?;
                removed += 1;
            }
        }
        Fingerprints::forget(folder)?;
        Ok(removed)
    }
}

fn store<M: Serialize>(path: &Path, key: &str, dataset: &Dataset, notes: &M) -> Result<(), DataError> {
    let content = entry::encode(key, dataset, notes)
        .map_err(|reason| DataError::Json { reader: path.display().to_string(), reason })?;
    placement::create_parent(path)?;
    placement::write(path, &content)
}

fn key<P: AsRef<Path>>(
    folder: &Path,
    reader: &str,
    inputs: &[P],
    settings: &impl Serialize,
) -> Result<String, DataError> {
    let settings = serde_json::to_vec(settings)
        .map_err(|reason| DataError::Json { reader: reader.to_owned(), reason })?;
    let mut hash = Sha256::new();
    // Lengths go first, so that no two lists of parts run together to the same bytes.
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(&entry::VERSION.to_le_bytes());
    part(reader.as_bytes());
    part(&settings);
    let mut fingerprints = Fingerprints::load(folder);
    for input in inputs {
        part(fingerprints.of(input.as_ref())?.as_bytes());
    }
    fingerprints.save();
    Ok(hexadecimal(&hash.finalize()))
}
