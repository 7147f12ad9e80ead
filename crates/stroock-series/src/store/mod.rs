//! Series in a file, asked for one by one.

mod record;

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Observation, Series, SeriesError, SeriesSource, Visitor};

const BUFFER: usize = 1 << 18;
/// Bytes that are read at once where all series are read in their order.
const AHEAD: u64 = 1 << 20;

/// Series in a temporary file without a name, which goes away with the last who holds it, however the process ends.
///
/// In memory is where each series begins, eight bytes; a series is read when it is asked for. Names, times, values, gaps and
/// classes come back to the last bit.
///
/// ```
/// use stroock_series::{Observation, Series, SeriesSource, StoreWriter};
/// let series = Series { id: "a".into(), times: vec![0.0, 0.5], values: vec![1.0, 2.0], ..Series::default() };
/// let mut writer = StoreWriter::new(&std::env::temp_dir(), Observation::Vector { channels: 1 })?;
/// writer.push(&series)?;
/// let store = writer.finish()?;
/// assert_eq!(*store.get(0)?, series);
/// # Ok::<(), stroock_series::SeriesError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SeriesStore {
    observation: Observation,
    file: Arc<File>,
    /// Where the file is, for errors.
    folder: PathBuf,
    /// Where each series begins, and the end.
    offsets: Arc<Vec<u64>>,
}

/// Writes the series of a [`SeriesStore`], one after the other.
#[derive(Debug)]
pub struct StoreWriter {
    observation: Observation,
    file: BufWriter<File>,
    folder: PathBuf,
    offsets: Vec<u64>,
    buffer: Vec<u8>,
}

impl StoreWriter {
    /// A store without series, in a folder.
    ///
    /// # Errors
    /// When no file can be made there.
    pub fn new(folder: &Path, observation: Observation) -> Result<Self, SeriesError> {
        let file = scratch_file(folder)?;
        let file = BufWriter::with_capacity(BUFFER, file);
        Ok(Self { observation, file, folder: folder.into(), offsets: vec![0], buffer: Vec::new() })
    }

    /// Adds a series.
    ///
    /// # Errors
    /// When the series is none of this kind of observation, or the disk is full.
    pub fn push(&mut self, series: &Series<f64>) -> Result<(), SeriesError> {
        series.check(self.observation)?;
        self.buffer.clear();
        record::write(series, &mut self.buffer);
        let end = self.offsets[self.offsets.len() - 1] + self.buffer.len() as u64;
        self.file.write_all(&self.buffer).map_err(SeriesError::scratch(&self.folder))?;
        self.offsets.push(end);
        Ok(())
    }

    /// The store.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn finish(self) -> Result<SeriesStore, SeriesError> {
        let Self { observation, file, folder, mut offsets, .. } = self;
        let file = file.into_inner().map_err(|error| SeriesError::scratch(&folder)(error.into_error()))?;
        offsets.shrink_to_fit();
        Ok(SeriesStore { observation, file: Arc::new(file), folder, offsets: Arc::new(offsets) })
    }
}

impl SeriesStore {
    /// The folder of its file.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Bytes of its file.
    pub fn bytes(&self) -> u64 {
        self.offsets.last().copied().unwrap_or_default()
    }

    fn read(&self, begin: u64, bytes: &mut [u8]) -> Result<(), SeriesError> {
        read_exact_at(&self.file, bytes, begin).map_err(SeriesError::scratch(&self.folder))
    }

    fn decode(&self, bytes: &[u8]) -> Result<Series<f64>, SeriesError> {
        let channels = self.observation.len();
        record::read(bytes, channels).ok_or_else(|| SeriesError::Scratch {
            folder: self.folder.display().to_string(),
            message: "what was written there has changed".into(),
        })
    }
}

impl SeriesSource<f64> for SeriesStore {
    fn observation(&self) -> Observation {
        self.observation
    }

    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    fn get(&self, number: usize) -> Result<Cow<'_, Series<f64>>, SeriesError> {
        let (begin, end) = (self.offsets[number], self.offsets[number + 1]);
        let mut bytes = vec![0; (end - begin) as usize];
        self.read(begin, &mut bytes)?;
        Ok(Cow::Owned(self.decode(&bytes)?))
    }

    fn for_each(&self, f: &mut Visitor<'_, f64>) -> Result<(), SeriesError> {
        let mut bytes = Vec::new();
        let mut number = 0;
        while number < self.len() {
            let begin = self.offsets[number];
            // As many as fit, and one at least.
            let fitting = self.offsets[number + 1..].partition_point(|end| end - begin <= AHEAD).max(1);
            bytes.resize((self.offsets[number + fitting] - begin) as usize, 0);
            self.read(begin, &mut bytes)?;
            for number in number..number + fitting {
                let place = |offset: u64| (offset - begin) as usize;
                let own = place(self.offsets[number])..place(self.offsets[number + 1]);
                f(number, &self.decode(&bytes[own])?)?;
            }
            number += fitting;
        }
        Ok(())
    }
}

/// A temporary file without a name in a folder.
pub(crate) fn scratch_file(folder: &Path) -> Result<File, SeriesError> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    tempfile::tempfile_in(folder).map_err(SeriesError::scratch(folder))
}

/// Fills `bytes` from a place of a file, whoever else reads it.
#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, bytes: &mut [u8], begin: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, begin)
}

/// Fills `bytes` from a place of a file, whoever else reads it.
#[cfg(windows)]
pub(crate) fn read_exact_at(file: &File, mut bytes: &mut [u8], mut begin: u64) -> std::io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, begin)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = &mut bytes[read..];
                begin += read as u64;
            }
        }
    }
    Ok(())
}
