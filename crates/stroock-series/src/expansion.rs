//! Compressed bytes that expand within bounds.
//!
//! A gzipped file of a megabyte can expand to a gigabyte of zeros. Tables, archives and images compress by a factor of
//! ten or so; what expands to more than [`FREE`] bytes *and* to more than [`FACTOR`] times as many as were read is refused,
//! unless the environment variable [`VARIABLE`] allows so many bytes.

use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use thiserror::Error;

/// Environment variable with the number of bytes that a compressed file may expand to, in place of the bounds.
pub const VARIABLE: &str = "STROOCK_MAX_EXPANDED";
/// Bytes that any file may expand to: a gibibyte.
pub const FREE: u64 = 1 << 30;
/// How many times as many bytes as were read it may be beyond that.
pub const FACTOR: u64 = 200;

/// A compressed file expands beyond all measure.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "it is compressed, and its first {read} bytes expand to more than {limit}; if that is right, set the environment \
     variable {VARIABLE} to the number of bytes that it may expand to"
)]
pub struct ExpansionError {
    /// Compressed bytes that were read.
    pub read: u64,
    /// Bytes that they may expand to.
    pub limit: u64,
}

/// How many bytes compressed ones may expand to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    /// So many times as many as were read, and so many in any case.
    Relative { free: u64, factor: u64 },
    /// So many.
    Absolute(u64),
}

impl Bound {
    fn of_environment() -> Self {
        let named = std::env::var(VARIABLE).ok().and_then(|text| text.trim().parse().ok());
        named.map_or(Bound::Relative { free: FREE, factor: FACTOR }, Bound::Absolute)
    }

    fn limit(self, read: u64) -> u64 {
        match self {
            Bound::Relative { free, factor } => read.saturating_mul(factor).max(free),
            Bound::Absolute(limit) => limit,
        }
    }
}

/// How many bytes a file of `read` bytes may expand to.
pub fn limit(read: u64) -> u64 {
    Bound::of_environment().limit(read)
}

/// The bytes of a gzipped file of one or more members, plain.
///
/// ```
/// use std::io::{Read, Write};
/// use stroock_series::expansion::Expanded;
/// let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
/// encoder.write_all(b"plain")?;
/// let mut text = String::new();
/// Expanded::new(&encoder.finish()?[..]).read_to_string(&mut text)?;
/// assert_eq!(text, "plain");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Expanded<R> {
    plain: MultiGzDecoder<Counted<R>>,
    bound: Bound,
    given: u64,
}

impl<R: BufRead> Expanded<R> {
    /// The plain bytes of compressed ones.
    pub fn new(compressed: R) -> Self {
        Self::within(compressed, Bound::of_environment())
    }

    fn within(compressed: R, bound: Bound) -> Self {
        Expanded { plain: MultiGzDecoder::new(Counted { bytes: compressed, read: 0 }), bound, given: 0 }
    }
}

impl<R: BufRead> Read for Expanded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.plain.read(out)?;
        self.given += count as u64;
        let read = self.plain.get_ref().read;
        let limit = self.bound.limit(read);
        match self.given <= limit {
            true => Ok(count),
            false => Err(io::Error::other(ExpansionError { read, limit })),
        }
    }
}

/// Counts the bytes that are taken.
struct Counted<R> {
    bytes: R,
    read: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(out)?;
        self.read += count as u64;
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.bytes.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.read += count as u64;
        self.bytes.consume(count);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn zeros(count: usize) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&vec![0; count]).unwrap();
        encoder.finish().unwrap()
    }

    fn expanded(compressed: &[u8], bound: Bound) -> io::Result<usize> {
        let mut reader = Expanded::within(compressed, bound);
        io::copy(&mut reader, &mut io::sink()).map(|count| count as usize)
    }

    #[test]
    fn a_bomb_is_cut_off_and_its_bounds_are_named() {
        let bomb = [zeros(1 << 20), zeros(1 << 20)].concat();
        let bound = Bound::Relative { free: 1 << 16, factor: 200 };
        let error = expanded(&bomb, bound).unwrap_err();
        let source = error.get_ref().and_then(|source| source.downcast_ref::<ExpansionError>()).unwrap();
        assert!(source.read <= bomb.len() as u64 && source.limit <= 200 * bomb.len() as u64, "{source:?}");
        assert!(error.to_string().contains(VARIABLE), "{error}");
    }

    #[test]
    fn what_is_small_or_allowed_is_read() {
        let bomb = zeros(1 << 20);
        assert_eq!(expanded(&bomb, Bound::Relative { free: 1 << 20, factor: 2 }).unwrap(), 1 << 20);
        assert_eq!(expanded(&bomb, Bound::Absolute(1 << 20)).unwrap(), 1 << 20);
        assert!(expanded(&bomb, Bound::Absolute((1 << 20) - 1)).is_err());
        assert!(expanded(&zeros(1000), Bound::Relative { free: 0, factor: 200 }).is_ok());
    }
}
