//! Files that may be compressed: told by their first bytes, not by their names.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use stroock::series::expansion::Expanded;

use super::error::DataError;

const BUFFER: usize = 1 << 16;
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Opens a file for reading what it holds, decompressed if it is gzipped.
///
/// The checksum of a compressed file is verified by reading it to its end.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read + Send>, DataError> {
    let file = File::open(path).map_err(DataError::io("open", path))?;
    let mut file = BufReader::with_capacity(BUFFER, file);
    let start = file.fill_buf().map_err(DataError::io("read", path))?;
    if start.starts_with(&MAGIC) {
        return Ok(Box::new(Expanded::new(file)));
    }
    Ok(Box::new(file))
}

/// All of a file, decompressed if it is gzipped.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, DataError> {
    let mut content = Vec::new();
    open(path)?.read_to_end(&mut content).map_err(DataError::decode(path))?;
    Ok(content)
}

/// The lines of a text with their numbers from 1, without line ends; the last one may lack its own.
pub(super) fn lines(content: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let content = content.strip_suffix(b"\n").unwrap_or(content);
    let lines = content.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    // An empty text splits into one empty line.
    let lines = lines.take(if content.is_empty() { 0 } else { usize::MAX });
    lines.enumerate().map(|(index, line)| (index + 1, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_freed_of_their_ends() {
        let all = |text: &'static [u8]| lines(text).collect::<Vec<_>>();
        assert_eq!(all(b"a\r\nb\n\nc"), [(1, &b"a"[..]), (2, b"b"), (3, b""), (4, b"c")]);
        assert_eq!(all(b"a\n"), [(1, &b"a"[..])]);
        assert!(all(b"").is_empty());
    }
}
