//! What can go wrong with data, with the place of the fault and the way out.

use std::io;
use std::path::{Path, PathBuf};

use stroock::series::SeriesError;
use thiserror::Error;

#[cfg(feature = "download")]
use super::download::DownloadError;

/// Why data cannot be found, fetched or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system refused.
    #[error("cannot {action} `{}`: {reason}", path.display())]
    Io {
        /// What was tried: "read", "create the folder", ...
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the operating system said.
        reason: io::Error,
    },
    /// There is no data set of this name.
    #[error("there is no data set `{name}`{}: choose one of {known}", did_you_mean(.suggestion.as_deref()))]
    UnknownDataSet {
        /// Given name.
        name: String,
        /// The known name closest to it.
        suggestion: Option<String>,
        /// All names.
        known: String,
    },
    /// No place for data is known.
    #[error(
        "there is no data folder: give one, or set `STROOCK_DATA_DIR` (neither it nor a home folder is known)"
    )]
    NoDataFolder,
    /// A file of a data set is not there.
    #[error("`{}` is not there: get it with `stroock data fetch {data_set}`", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
        /// Name of the data set.
        data_set: &'static str,
    },
    /// The data set has no such file.
    #[error("data set `{data_set}` has no file `{file}`")]
    UnknownFile {
        /// Name of the data set.
        data_set: &'static str,
        /// Given name of the file.
        file: String,
    },
    /// A file as a whole is not what it should be.
    #[error("`{place}` {problem}: get it again with `stroock data fetch`, or restore it")]
    File {
        /// The file, or the archive and its member.
        place: String,
        /// What is wrong with it.
        problem: FileProblem,
    },
    /// A line of a file is not what it should be.
    #[error("`{place}`, line {line}: {problem}")]
    Line {
        /// The file, or the archive and its member.
        place: String,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: LineProblem,
    },
    /// A file could not be downloaded.
    #[cfg(feature = "download")]
    #[error(transparent)]
    Download(#[from] DownloadError),
    /// Another process is fetching the same data set.
    #[error("`{}` is being fetched by another process: wait for its end, or stop it", folder.display())]
    InUse {
        /// Folder of the data set.
        folder: PathBuf,
    },
    /// A stay occurs twice.
    #[error("stay {id} occurs twice: give every archive once")]
    StayTwice {
        /// Its record id.
        id: u32,
    },
    /// A stay to scale over does not exist.
    #[error("there is no stay number {number} to scale over: {count} were read")]
    NoSuchStay {
        /// Given number, from 0.
        number: usize,
        /// Stays that there are.
        count: usize,
    },
    /// A stay has no outcome.
    #[error("stay {id} has no outcome: read the outcomes of its set, too")]
    NoOutcome {
        /// Its record id.
        id: String,
    },
    /// A setting makes no sense.
    #[error("setting `{name}` is {value}, but must be {requirement}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        requirement: &'static str,
    },
    /// Settings or notes cannot be written as JSON, so that they cannot be part of a cache.
    #[error("the settings or notes of `{reader}` cannot be written as JSON: {reason}")]
    Json {
        /// Whose settings or notes.
        reader: String,
        /// What is wrong with them.
        reason: serde_json::Error,
    },
    /// The records do not make series.
    #[error(transparent)]
    Series(#[from] SeriesError),
}

/// What is wrong with a file as a whole.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// It ends too early, or its compression is damaged.
    #[error("is truncated or damaged ({reason})")]
    Unreadable {
        /// What the decoder said.
        reason: io::Error,
    },
    /// It does not start as its format does.
    #[error("is not {format}: it starts with {found}")]
    Format {
        /// Name of the format.
        format: &'static str,
        /// The first bytes.
        found: String,
    },
    /// A count is not as published.
    #[error("has {found} {what}, but {expected} are published")]
    Count {
        /// What was counted.
        what: &'static str,
        /// Number found.
        found: u64,
        /// Number published.
        expected: u64,
    },
    /// It holds fewer or more bytes than its header says.
    #[error("has {found} bytes behind its header, but {expected} belong there")]
    Length {
        /// Bytes found; one too many where there are more.
        found: u64,
        /// Bytes by the header.
        expected: u64,
    },
    /// The checksum is not the publisher's.
    #[error("has the SHA-256 {found} ({bytes} bytes), but the publisher's is {expected}")]
    Checksum {
        /// Checksum of the publisher.
        expected: String,
        /// Checksum of the file.
        found: String,
        /// Length of the file.
        bytes: u64,
    },
    /// Two files that belong together do not fit.
    #[error("has {found} labels, but there are {expected} images")]
    Labels {
        /// Number of labels.
        found: usize,
        /// Number of images.
        expected: usize,
    },
}

/// What is wrong with a line.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum LineProblem {
    /// The header is another one.
    #[error("the header is `{found}`, but should be `{expected}`")]
    Header {
        /// Found text.
        found: String,
        /// Published text.
        expected: &'static str,
    },
    /// The number of columns is wrong.
    #[error("{found} columns, but {expected} are needed, in `{text}`")]
    Columns {
        /// Number found.
        found: usize,
        /// Number published.
        expected: usize,
        /// The line.
        text: String,
    },
    /// Something is not a number.
    #[error("{column} is `{value}`, which is not a finite number")]
    NotANumber {
        /// Name of the column.
        column: &'static str,
        /// Found text.
        value: String,
    },
    /// A time is not one.
    #[error("the time is `{value}`, but should be {expected}")]
    Time {
        /// Found text.
        value: String,
        /// What times look like.
        expected: &'static str,
    },
    /// A name is unknown.
    #[error("unknown {what} `{value}`{}", did_you_mean(*.suggestion))]
    UnknownName {
        /// What it should name.
        what: &'static str,
        /// Found text.
        value: String,
        /// The known name closest to it.
        suggestion: Option<&'static str>,
    },
    /// The id of a record is missing, or another one.
    #[error("the record id is `{found}`, but the file is named after `{expected}`")]
    RecordId {
        /// Found id.
        found: String,
        /// Id by the name of the file.
        expected: u32,
    },
    /// A recording goes on after another one has started.
    #[error("recording `{name}` goes on here, after another one has started")]
    Scattered {
        /// Name of the recording.
        name: String,
    },
    /// The text is not UTF-8.
    #[error("the text is not UTF-8")]
    NotText,
}

impl DataError {
    /// For `map_err`: adds what was tried on which path.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> DataError {
        move |reason| DataError::Io { action, path: path.to_owned(), reason }
    }

    /// For `map_err` on decoders: a truncated or damaged file, or one that cannot be read.
    pub(super) fn decode(path: &Path) -> impl Fn(io::Error) -> DataError {
        move |reason| match reason.kind() {
            // What decoders say of content; everything else comes from the operating system.
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::Other => DataError::file(path, FileProblem::Unreadable { reason }),
            _ => DataError::Io { action: "read", path: path.to_owned(), reason },
        }
    }

    pub(super) fn file(path: &Path, problem: FileProblem) -> DataError {
        DataError::File { place: path.display().to_string(), problem }
    }

    pub(super) fn line(place: &str, line: usize, problem: LineProblem) -> DataError {
        DataError::Line { place: place.to_owned(), line, problem }
    }
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}
