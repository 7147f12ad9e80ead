//! The text file: eight columns, no header.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{ACTIVITIES, TAGS};
use crate::data::error::{DataError, LineProblem};
use crate::data::gzip;

/// Rows of the published file.
pub const ROWS: usize = 164_860;

const COLUMNS: usize = 8;
const TIME: &str = "a whole number of 100 ns";

/// The position of a tag at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Time stamp in units of 100 ns.
    pub stamp: u64,
    /// Index into [`TAGS`].
    pub tag: u8,
    /// x, y and z, in metres.
    pub position: [f32; 3],
    /// Index into [`ACTIVITIES`].
    pub activity: u8,
}

/// A recording of one person.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Person (a letter) and number, such as `A01`.
    pub name: String,
    /// Readings in the order of the file.
    pub readings: Vec<Reading>,
}

/// All recordings of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivityFile {
    /// Recordings in the order of the file.
    pub recordings: Vec<Recording>,
}

/// How much of the published file there is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Rows found, of [`ROWS`].
    pub rows: usize,
    /// Recordings found, of 25.
    pub recordings: usize,
    /// Persons found, of `A` to `E`.
    pub persons: Vec<char>,
}

impl Coverage {
    /// Whether every row is there.
    pub fn is_whole(&self) -> bool {
        self.rows == ROWS
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let persons: Vec<String> = self.persons.iter().map(char::to_string).collect();
        let (names, rows) = (persons.join(", "), self.rows);
        if self.is_whole() {
            return write!(f, "persons {names}: all {ROWS} rows");
        }
        let share = 100.0 * rows as f64 / ROWS as f64;
        write!(f, "persons {names} only: {rows} of {ROWS} rows ({share:.0} %)")
    }
}

impl ActivityFile {
    /// Reads the file, plain or gzipped, or a part of it.
    ///
    /// # Errors
    /// When it cannot be read, a line is not as published, or a recording is scattered.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let place = path.display().to_string();
        let content = gzip::read(path)?;
        let lines: Vec<_> = gzip::lines(&content).collect();
        let rows = lines
            .par_iter()
            .map(|&(number, line)| parse(line).map_err(|problem| DataError::line(&place, number, problem)));
        let mut recordings: Vec<Recording> = Vec::new();
        let mut names = HashSet::new();
        for (index, (name, reading)) in rows.collect::<Result<Vec<_>, _>>()?.into_iter().enumerate() {
            match recordings.last_mut() {
                Some(recording) if recording.name == name => recording.readings.push(reading),
                _ if names.insert(name) => {
                    recordings.push(Recording { name: name.to_owned(), readings: vec![reading] });
                }
                _ => {
                    let problem = LineProblem::Scattered { name: name.to_owned() };
                    return Err(DataError::line(&place, index + 1, problem));
                }
            }
        }
        Ok(ActivityFile { recordings })
    }

    /// How much of the published file there is.
    pub fn coverage(&self) -> Coverage {
        let mut persons: Vec<char> =
            self.recordings.iter().filter_map(|recording| recording.name.chars().next()).collect();
        persons.sort_unstable();
        persons.dedup();
        Coverage {
            rows: self.recordings.iter().map(|recording| recording.readings.len()).sum(),
            recordings: self.recordings.len(),
            persons,
        }
    }
}

fn parse(line: &[u8]) -> Result<(&str, Reading), LineProblem> {
    let text = std::str::from_utf8(line).map_err(|_| LineProblem::NotText)?;
    let columns: Vec<&str> = text.split(',').collect();
    let &[name, tag, stamp, _date, x, y, z, activity] = &columns[..] else {
        return Err(LineProblem::Columns { found: columns.len(), expected: COLUMNS, text: text.to_owned() });
    };
    let stamp = stamp.parse().map_err(|_| LineProblem::Time { value: stamp.to_owned(), expected: TIME })?;
    let reading = Reading {
        stamp,
        tag: index("tag", tag, TAGS.map(|(tag, _)| tag))?,
        position: [coordinate("x", x)?, coordinate("y", y)?, coordinate("z", z)?],
        activity: index("activity", activity.trim_end(), ACTIVITIES.map(|(activity, _)| activity))?,
    };
    Ok((name, reading))
}

fn index<const N: usize>(
    what: &'static str,
    value: &str,
    names: [&'static str; N],
) -> Result<u8, LineProblem> {
    let place = (0..).zip(names).find(|(_, name)| *name == value);
    place.map(|(index, _)| index).ok_or_else(|| LineProblem::UnknownName {
        what,
        value: value.to_owned(),
        suggestion: stroock::run::nearest(value, names),
    })
}

fn coordinate(column: &'static str, value: &str) -> Result<f32, LineProblem> {
    let number = value.parse::<f32>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| LineProblem::NotANumber { column, value: value.to_owned() })
}
