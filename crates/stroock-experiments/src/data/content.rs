//! What a raw file must hold, told by reading it.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::error::{DataError, FileProblem, LineProblem};
use super::source::DataFile;
use super::{activity, gzip, mnist, physionet};

/// What a file of a data set must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// An archive (or folder) of stays of the PhysioNet challenge.
    PhysionetSet {
        /// Number of stays.
        stays: u64,
        /// Rows of all stays, headers excluded.
        rows: u64,
        /// Rows among them whose parameter has no name.
        nameless: u64,
    },
    /// Outcomes of the PhysioNet challenge.
    PhysionetOutcomes {
        /// Number of stays.
        stays: u64,
    },
    /// Images of digits.
    MnistImages {
        /// Number of images.
        count: u64,
    },
    /// Labels of digits.
    MnistLabels {
        /// Number of labels.
        count: u64,
    },
    /// Positions of tags.
    Activity {
        /// Rows of the whole file; fewer make a part of it.
        rows: u64,
    },
    /// Hourly air quality.
    BeijingPm25 {
        /// Hours.
        rows: u64,
        /// Hours whose particulate matter is missing.
        missing: u64,
    },
}

/// Something that was counted in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// What was counted.
    pub what: &'static str,
    /// How many there are.
    pub found: u64,
    /// How many are published.
    pub expected: u64,
}

/// What was found in a file that is valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Things counted.
    pub counts: Vec<Count>,
    /// What is there of a file that is valid but not whole, in words; `None` for a whole file.
    pub part: Option<String>,
}

impl Content {
    /// Reads a file and counts what it holds.
    ///
    /// # Errors
    /// When the file cannot be read, or is not what it must be. A valid part of the activity file is fine; see
    /// [`Found::part`].
    pub fn examine(&self, path: &Path) -> Result<Found, DataError> {
        let mut part = None;
        let counts = match *self {
            Content::PhysionetSet { stays, rows, nameless } => {
                let found = physionet::read_stays(&[path])?;
                let sum = |of: fn(&physionet::Stay) -> usize| found.iter().map(of).sum::<usize>() as u64;
                vec![
                    count("stays", found.len() as u64, stays),
                    count("rows", sum(physionet::Stay::rows), rows),
                    count("rows without a name", sum(|stay| stay.nameless), nameless),
                ]
            }
            Content::PhysionetOutcomes { stays } => {
                vec![count("stays", physionet::read_outcomes(path)?.len() as u64, stays)]
            }
            Content::MnistImages { count: expected } => {
                vec![count("images", mnist::read_images(path)?.len() as u64, expected)]
            }
            Content::MnistLabels { count: expected } => {
                vec![count("labels", mnist::read_labels(path)?.len() as u64, expected)]
            }
            Content::Activity { rows } => {
                let coverage = activity::ActivityFile::read(path)?.coverage();
                part = ((coverage.rows as u64) < rows).then(|| coverage.to_string());
                vec![count("rows", coverage.rows as u64, rows)]
            }
            Content::BeijingPm25 { rows, missing } => {
                let found = beijing_rows(path)?;
                vec![count("rows", found.0, rows), count("missing values", found.1, missing)]
            }
        };
        match counts.iter().find(|count| count.found != count.expected && part.is_none()) {
            Some(&Count { what, found, expected }) => {
                Err(DataError::file(path, FileProblem::Count { what, found, expected }))
            }
            None => Ok(Found { counts, part }),
        }
    }
}

impl DataFile {
    /// Checks a file that is to be this one, by its checksum (where it has its first name) and its content.
    ///
    /// # Errors
    /// When it is not.
    pub fn examine(&self, path: &Path) -> Result<Found, DataError> {
        if let Some(expected) = self.checksum_for(path) {
            check_sha256(path, expected)?;
        }
        self.content.examine(path)
    }

    /// The checksum that a file of this path must have, if any.
    pub(super) fn checksum_for(&self, path: &Path) -> Option<&'static str> {
        self.sha256.filter(|_| path.file_name().is_some_and(|name| name == self.name))
    }

    /// Checks a file that was downloaded as this one: its checksum, its content, and that it is whole.
    ///
    /// # Errors
    /// When it is not.
    pub fn verify(&self, path: &Path) -> Result<Found, DataError> {
        if let Some(expected) = self.sha256 {
            check_sha256(path, expected)?;
        }
        let found = self.content.examine(path)?;
        match found.counts.iter().find(|count| count.found != count.expected) {
            Some(&Count { what, found, expected }) => {
                Err(DataError::file(path, FileProblem::Count { what, found, expected }))
            }
            None => Ok(found),
        }
    }
}

/// SHA-256 of a file, in hexadecimal digits, and its length.
///
/// # Errors
/// When the file cannot be read.
pub fn sha256(path: &Path) -> Result<(String, u64), DataError> {
    let mut file = File::open(path).map_err(DataError::io("open", path))?;
    let mut hash = Hash(Sha256::new());
    let bytes = io::copy(&mut file, &mut hash).map_err(DataError::io("read", path))?;
    Ok((hexadecimal(&hash.0.finalize()), bytes))
}

struct Hash(Sha256);

impl Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes as hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check_sha256(path: &Path, expected: &str) -> Result<(), DataError> {
    let (found, bytes) = sha256(path)?;
    if found == expected {
        return Ok(());
    }
    Err(DataError::file(path, FileProblem::Checksum { expected: expected.to_owned(), found, bytes }))
}

fn count(what: &'static str, found: u64, expected: u64) -> Count {
    Count { what, found, expected }
}

/// Hours, and hours whose particulate matter is missing.
fn beijing_rows(path: &Path) -> Result<(u64, u64), DataError> {
    const HEADER: &str = "No,year,month,day,hour,pm2.5,DEWP,TEMP,PRES,cbwd,Iws,Is,Ir";

    let place = path.display().to_string();
    let content = gzip::read(path)?;
    let mut lines = gzip::lines(&content);
    let header = lines.next().map_or(&b""[..], |(_, header)| header);
    if header != HEADER.as_bytes() {
        let found = String::from_utf8_lossy(header).into_owned();
        return Err(DataError::line(&place, 1, LineProblem::Header { found, expected: HEADER }));
    }
    let (mut rows, mut missing) = (0, 0);
    for (number, line) in lines {
        let columns: Vec<&[u8]> = line.split(|&byte| byte == b',').collect();
        if columns.len() != 13 {
            let text = String::from_utf8_lossy(line).into_owned();
            let problem = LineProblem::Columns { found: columns.len(), expected: 13, text };
            return Err(DataError::line(&place, number, problem));
        }
        rows += 1;
        missing += u64::from(columns[5] == b"NA");
    }
    Ok((rows, missing))
}
