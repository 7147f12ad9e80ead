//! The rows of a CSV file.

use csv::{ByteRecord, ReaderBuilder};

use super::cell::Cell;
use super::rows::{AHEAD, Next, Rows, check_header};
use super::source::LineFeeds;
use crate::table::{Fault, Place, TableError};

/// The rows of a CSV file. The first of them are held to be read twice, later ones one at a time.
pub(super) struct CsvRows {
    file: String,
    header: Vec<String>,
    reader: csv::Reader<LineFeeds>,
    start: Vec<(ByteRecord, u64)>,
    /// Rows of `start` that have been given out; the current row is the one before.
    given: usize,
    current: ByteRecord,
}

impl CsvRows {
    pub(super) fn open(file: String, bytes: LineFeeds, delimiter: u8) -> Result<Self, TableError> {
        let mut reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(1 << 16)
            .from_reader(bytes);
        let mut record = ByteRecord::new();
        let line = read(&mut reader, &mut record, &file)?;
        let Some(line) = line else { return Err(TableError::NoRows { files: vec![file] }) };
        let mut header = Vec::with_capacity(record.len());
        for (index, field) in record.iter().enumerate() {
            match std::str::from_utf8(field) {
                Ok(name) => header.push(name.trim().to_owned()),
                Err(_) => {
                    let place = Place { file, line, is_row: false };
                    let value = String::from_utf8_lossy(field).chars().take(80).collect();
                    let fault = Fault::NotText { column: (index + 1).to_string(), value };
                    return Err(TableError::Row { place: Box::new(place), fault: Box::new(fault) });
                }
            }
        }
        check_header(&file, &header)?;
        let mut start = Vec::new();
        while start.len() < AHEAD {
            match read(&mut reader, &mut record, &file)? {
                Some(line) => start.push((record.clone(), line)),
                None => break,
            }
        }
        Ok(CsvRows { file, header, reader, start, given: 0, current: ByteRecord::new() })
    }
}

/// Reads a record and returns the line it starts in.
fn read(
    reader: &mut csv::Reader<LineFeeds>,
    record: &mut ByteRecord,
    file: &str,
) -> Result<Option<u64>, TableError> {
    let before = reader.position().line();
    let is_there = reader.read_byte_record(record).map_err(|error| TableError::io(file)(error.into()))?;
    if !is_there {
        return Ok(None);
    }
    let after = reader.position().line();
    // Empty lines in front of the record are skipped without a trace: count from its end.
    let line_ends = match after - before {
        0 | 1 => 0,
        _ => record.as_slice().iter().filter(|&&byte| byte == b'\n').count() as u64,
    };
    Ok(Some(after.saturating_sub(1 + line_ends).max(1)))
}

impl Rows for CsvRows {
    fn file(&self) -> &str {
        &self.file
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn counts_rows(&self) -> bool {
        false
    }

    fn advance(&mut self) -> Result<Next, TableError> {
        let line = match self.start.get_mut(self.given) {
            Some((record, line)) => {
                self.current.clone_from(record);
                self.given += 1;
                *line
            }
            None => match read(&mut self.reader, &mut self.current, &self.file)? {
                Some(line) => line,
                None => return Ok(Next::End),
            },
        };
        let fields = self.current.len();
        Ok(if fields == self.header.len() { Next::Row { line } } else { Next::Ragged { line, fields } })
    }

    fn ahead(&self) -> usize {
        self.start.len()
    }

    fn rewind(&mut self) {
        self.given = 0;
    }

    #[inline]
    fn cell(&self, column: usize) -> Cell<'_> {
        self.current.get(column).map_or(Cell::Null, |field| Cell::Text(field.trim_ascii()))
    }

    fn zone(&self, _: usize) -> Option<&str> {
        None
    }
}
