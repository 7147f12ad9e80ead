//! What can go wrong on the way.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

use crate::data::error::DataError;

/// Why a file could not be downloaded.
#[derive(Debug, Error)]
#[error(
    "`{}` could not be downloaded: check the connection or the proxy and try again (a broken download goes on \
     where it stopped), or put the file there yourself{}",
    path.display(),
    Listed(failures)
)]
pub struct DownloadError {
    /// Where it should have gone.
    pub path: PathBuf,
    /// What happened at every address.
    pub failures: Vec<UrlFailure>,
}

/// What happened at an address.
#[derive(Debug, Error)]
#[error("{url}: {problem} ({received} bytes received)")]
pub struct UrlFailure {
    /// The address.
    pub url: String,
    /// Bytes received from it so far.
    pub received: u64,
    /// What was wrong.
    pub problem: UrlProblem,
}

/// What was wrong at an address.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UrlProblem {
    /// The server answered with a status that is not a success.
    #[error("the server answered with status {0}")]
    Status(u16),
    /// The connection could not be made, or broke.
    #[error("the connection failed: {0}")]
    Connection(String),
    /// The server sent another part of the file than it was asked for.
    #[error("the server sent another range than bytes {asked} and on: `{answer}`")]
    Range {
        /// First byte that was asked for.
        asked: u64,
        /// What the server said that it sent.
        answer: String,
    },
    /// The content is not what it should be.
    #[error("what the server sent {}", Said(.0))]
    Content(Box<DataError>),
}

/// What is wrong with content, without advice that is for files on the disk.
struct Said<'a>(&'a DataError);

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            DataError::File { problem, .. } => write!(f, "{problem}"),
            DataError::Line { line, problem, .. } => write!(f, "is wrong in line {line}: {problem}"),
            other => write!(f, "cannot be checked: {other}"),
        }
    }
}

struct Listed<'a>(&'a [UrlFailure]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|failure| write!(f, "\n  {failure}"))
    }
}
