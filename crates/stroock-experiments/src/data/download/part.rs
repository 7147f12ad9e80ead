//! The part of a file that has been received.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use ureq::http::{HeaderMap, header};

use crate::data::error::DataError;
use crate::data::placement;

/// Where a received part is from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    /// The address.
    pub url: String,
    /// What tells whether the server still has the same file: its tag, or else its date.
    pub validator: Option<String>,
}

impl Origin {
    pub fn new(url: &str, headers: &HeaderMap) -> Self {
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        // A weak tag does not promise the same bytes.
        let tag = header(header::ETAG).filter(|tag| !tag.starts_with("W/"));
        let validator = tag.or_else(|| header(header::LAST_MODIFIED)).map(str::to_owned);
        Origin { url: url.to_owned(), validator }
    }
}

/// `NAME.part` and, beside it, `NAME.part.json` with its origin.
pub(super) struct Part {
    content: PathBuf,
    origin: PathBuf,
}

impl Part {
    pub fn beside(path: &Path) -> Self {
        Part {
            content: placement::with_ending(path, ".part"),
            origin: placement::with_ending(path, ".part.json"),
        }
    }

    pub fn path(&self) -> &Path {
        &self.content
    }

    /// Where the part is from; `None` where that is not known, so that it cannot be continued.
    pub fn origin(&self) -> Option<Origin> {
        serde_json::from_slice(&fs::read(&self.origin).ok()?).ok()
    }

    /// Bytes received from an address.
    pub fn length_from(&self, url: &str) -> u64 {
        match self.origin() {
            Some(origin) if origin.url == url => fs::metadata(&self.content).map_or(0, |file| file.len()),
            _ => 0,
        }
    }

    /// Opens an empty part.
    pub fn start(&self, origin: &Origin) -> Result<File, DataError> {
        // The content goes first: a part must never stand beside an origin that is not its own.
        placement::remove(&self.content)?;
        let json = serde_json::to_vec(origin).unwrap_or_default();
        placement::write(&self.origin, &json)?;
        File::create(&self.content).map_err(DataError::io("create", &self.content))
    }

    /// Opens the part for appending.
    pub fn resume(&self) -> Result<File, DataError> {
        OpenOptions::new().append(true).open(&self.content).map_err(DataError::io("open", &self.content))
    }

    /// Gives the complete file its name.
    pub fn place(&self, path: &Path) -> Result<(), DataError> {
        placement::place(&self.content, path)?;
        placement::remove(&self.origin)
    }

    pub fn discard(&self) -> Result<(), DataError> {
        placement::remove(&self.content)?;
        placement::remove(&self.origin)
    }
}
