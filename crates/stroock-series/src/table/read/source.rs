//! The bytes of a table: a file or the standard input, plain or gzipped.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use super::csv_rows::CsvRows;
use super::rows::Rows;
use crate::expansion::Expanded;
use crate::table::TableError;

/// Bytes that are looked at to find out what a file is.
const HEAD: usize = 1 << 16;
const BUFFER: usize = 1 << 17;
const GZIP: &[u8] = &[0x1f, 0x8b];
const PARQUET: &[u8] = b"PAR1";
const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// Opens a table; `-` is the standard input. What a file is shows in its first bytes, not in its name.
pub(super) fn open(path: &Path, delimiter: Option<u8>) -> Result<Box<dyn Rows>, TableError> {
    let file = path.display().to_string();
    let io = || TableError::io(&file);
    if path == Path::new("-") {
        let (head, rest) = look(Box::new(BufReader::with_capacity(BUFFER, io::stdin()))).map_err(io())?;
        return text(file.clone(), head, rest, delimiter);
    }
    let opened = File::open(path).map_err(io())?;
    let (head, rest) = look(Box::new(BufReader::with_capacity(BUFFER, opened))).map_err(io())?;
    let named = path
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("parquet") || end.eq_ignore_ascii_case("pq"));
    if head.starts_with(PARQUET) || (named && !head.starts_with(GZIP)) {
        return parquet(path, file);
    }
    text(file.clone(), head, rest, delimiter)
}

#[cfg(feature = "parquet")]
fn parquet(path: &Path, file: String) -> Result<Box<dyn Rows>, TableError> {
    let opened = File::open(path).map_err(TableError::io(&file))?;
    Ok(Box::new(super::parquet_rows::open(file, opened)?))
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &Path, file: String) -> Result<Box<dyn Rows>, TableError> {
    let message = "this program was built without the feature `parquet`; convert the file to CSV".into();
    Err(TableError::Parquet { file, message })
}

type Bytes = Box<dyn BufRead>;

fn text(
    file: String,
    head: Vec<u8>,
    rest: Bytes,
    delimiter: Option<u8>,
) -> Result<Box<dyn Rows>, TableError> {
    let (mut head, rest) = match head.starts_with(GZIP) {
        false => (head, rest),
        true => {
            let plain = Expanded::new(Cursor::new(head).chain(rest));
            look(Box::new(BufReader::with_capacity(BUFFER, plain))).map_err(TableError::io(&file))?
        }
    };
    if head.starts_with(PARQUET) {
        let message =
            "Parquet is read from plain files only, not gzipped and not from the standard input".into();
        return Err(TableError::Parquet { file, message });
    }
    if head.starts_with(BYTE_ORDER_MARK) {
        head.drain(..BYTE_ORDER_MARK.len());
    }
    let delimiter = delimiter.unwrap_or_else(|| guess_delimiter(&head));
    let bytes = LineFeeds::new(Box::new(Cursor::new(head).chain(rest)));
    Ok(Box::new(CsvRows::open(file, bytes, delimiter)?))
}

/// The first bytes, and the rest.
fn look(mut bytes: Bytes) -> io::Result<(Vec<u8>, Bytes)> {
    let mut head = Vec::with_capacity(HEAD);
    (&mut bytes).take(HEAD as u64).read_to_end(&mut head)?;
    Ok((head, bytes))
}

/// The candidate that cuts the first lines into the same number of fields, as many as possible.
fn guess_delimiter(head: &[u8]) -> u8 {
    const LINES: usize = 20;
    let score = |delimiter: u8| {
        let (mut counts, mut count, mut is_quoted) = (Vec::new(), 0_usize, false);
        for &byte in head {
            match byte {
                b'"' => is_quoted = !is_quoted,
                b'\n' | b'\r' if !is_quoted => {
                    counts.push(count);
                    count = 0;
                    if counts.len() > 2 * LINES {
                        break;
                    }
                }
                _ if byte == delimiter && !is_quoted => count += 1,
                _ => {}
            }
        }
        if counts.is_empty() {
            counts.push(count);
        }
        let header = counts[0];
        let alike = counts.iter().filter(|&&count| count == header).count();
        // A line end of two bytes makes empty lines of every second one: more than a third is most of them.
        (header > 0 && 3 * alike >= counts.len(), header)
    };
    // The last of equal candidates wins: the comma.
    [b'|', b'\t', b';', b','].into_iter().max_by_key(|&delimiter| score(delimiter)).unwrap_or(b',')
}

/// Bytes with line feeds for line ends of every kind, and with one at the very end: the lines that the CSV reader
/// counts are then those of an editor.
pub(super) struct LineFeeds {
    bytes: Bytes,
    after_return: bool,
    last: u8,
}

impl LineFeeds {
    fn new(bytes: Bytes) -> Self {
        LineFeeds { bytes, after_return: false, last: b'\n' }
    }
}

impl Read for LineFeeds {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let input = self.bytes.fill_buf()?;
            if out.is_empty() {
                return Ok(0);
            }
            if input.is_empty() {
                let ends = self.last == b'\n';
                (out[0], self.last) = (b'\n', b'\n');
                return Ok(if ends { 0 } else { 1 });
            }
            let input = &input[..input.len().min(out.len())];
            let mut written = 0;
            if !self.after_return && !input.contains(&b'\r') {
                out[..input.len()].copy_from_slice(input);
                written = input.len();
            } else {
                for &byte in input {
                    if byte != b'\n' || !self.after_return {
                        out[written] = if byte == b'\r' { b'\n' } else { byte };
                        written += 1;
                    }
                    self.after_return = byte == b'\r';
                }
            }
            let read = input.len();
            self.bytes.consume(read);
            if written > 0 {
                self.last = out[written - 1];
                return Ok(written);
            }
        }
    }
}
