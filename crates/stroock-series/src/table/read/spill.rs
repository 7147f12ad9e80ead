//! Rows that do not fit into memory: sorted parts of them in a temporary file, and these merged.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::ops::Range;
use std::path::PathBuf;

use super::block::Block;
use crate::SeriesError;
use crate::store::{read_exact_at, scratch_file};
use crate::table::TableError;

const WRITE_BUFFER: usize = 1 << 18;
const READ_BUFFER: usize = 1 << 17;

/// What a row takes in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowShape {
    /// Values of a row.
    pub(super) width: usize,
    pub(super) is_long: bool,
    pub(super) has_classes: bool,
}

impl RowShape {
    fn bytes(self) -> usize {
        20 + 8 * self.width + 4 * usize::from(self.is_long) + 4 * usize::from(self.has_classes)
    }
}

/// Where rows go that do not fit into memory. What is written at once is sorted by series, and within a series as it came.
pub(super) struct Spill {
    folder: PathBuf,
    shape: RowShape,
    /// Rows that may be in memory.
    most: usize,
    file: Option<BufWriter<File>>,
    /// The parts of the file that are sorted.
    runs: Vec<Range<u64>>,
}

impl Spill {
    /// Rows may take so many bytes of memory.
    pub(super) fn new(folder: PathBuf, shape: RowShape, bytes: u64) -> Self {
        let most = usize::try_from(bytes / shape.bytes() as u64).unwrap_or(usize::MAX);
        Spill { folder, shape, most: most.clamp(1, u32::MAX as usize), file: None, runs: Vec::new() }
    }

    /// Whether no further row fits into memory.
    #[inline]
    pub(super) fn is_full(&self, rows: &Block) -> bool {
        rows.len() >= self.most
    }

    /// Whether rows have been written.
    pub(super) fn is_used(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Writes all rows, and forgets them.
    pub(super) fn write(&mut self, rows: &mut Block) -> Result<(), TableError> {
        let begin = self.runs.last().map_or(0, |run| run.end);
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(BufWriter::with_capacity(WRITE_BUFFER, scratch_file(&self.folder)?)),
        };
        let order = rows.by_series();
        let (mut end, mut group, shape) = (begin, Block::default(), self.shape);
        for some in order.chunk_by(|a, b| rows.series[*a as usize] == rows.series[*b as usize]) {
            group.clear();
            some.iter().for_each(|&row| group.take(rows, row as usize, shape.width));
            end += write_group(&group, file).map_err(SeriesError::scratch(&self.folder))?;
        }
        self.runs.push(begin..end);
        rows.clear();
        Ok(())
    }

    /// Calls `f` with the rows of every series, in the order of their numbers and as they came.
    pub(super) fn merge(self, mut f: impl FnMut(&Block) -> Result<(), TableError>) -> Result<(), TableError> {
        let Spill { folder, shape, file, runs, .. } = self;
        let Some(file) = file else { return Ok(()) };
        let scratch = || SeriesError::scratch(&folder);
        let file = file.into_inner().map_err(|error| scratch()(error.into_error()))?;
        let runs = runs.into_iter().map(|run| Run::open(&file, run)).collect::<io::Result<Vec<_>>>();
        let mut runs = runs.map_err(scratch())?;
        let mut block = Block::default();
        while let Some(series) = runs.iter().filter_map(|run| run.next).map(|next| next.0).min() {
            block.clear();
            for run in runs.iter_mut().filter(|run| run.next.is_some_and(|next| next.0 == series)) {
                run.take(&mut block, shape).map_err(scratch())?;
            }
            f(&block)?;
        }
        Ok(())
    }
}

impl Block {
    /// Appends a row of another block.
    fn take(&mut self, other: &Block, row: usize, width: usize) {
        self.series.push(other.series[row]);
        self.times.push(other.times[row]);
        self.files.push(other.files[row]);
        self.lines.push(other.lines[row]);
        self.values.extend_from_slice(&other.values[row * width..(row + 1) * width]);
        self.of_channel.extend(other.of_channel.get(row));
        self.classes.extend(other.classes.get(row));
    }
}

/// Writes the rows of one series, and returns their bytes.
fn write_group(group: &Block, out: &mut impl Write) -> io::Result<u64> {
    let head = [group.series[0], group.len() as u32];
    let lists: [&[u8]; 7] = [
        bytemuck::cast_slice(&head),
        bytemuck::cast_slice(&group.times),
        bytemuck::cast_slice(&group.files),
        bytemuck::cast_slice(&group.lines),
        bytemuck::cast_slice(&group.values),
        bytemuck::cast_slice(&group.of_channel),
        bytemuck::cast_slice(&group.classes),
    ];
    lists.iter().try_for_each(|list| out.write_all(list))?;
    Ok(lists.iter().map(|list| list.len() as u64).sum())
}

/// A sorted part of the file, read from its beginning on.
struct Run<'a> {
    bytes: BufReader<Part<'a>>,
    /// The next series and its rows; `None` at the end.
    next: Option<(u32, u32)>,
}

impl<'a> Run<'a> {
    fn open(file: &'a File, range: Range<u64>) -> io::Result<Self> {
        let mut run = Run { bytes: BufReader::with_capacity(READ_BUFFER, Part { file, range }), next: None };
        run.look()?;
        Ok(run)
    }

    fn look(&mut self) -> io::Result<()> {
        let mut head = [0_u32; 2];
        let is_at_end = self.bytes.buffer().is_empty() && self.bytes.get_ref().range.is_empty();
        if !is_at_end {
            self.bytes.read_exact(bytemuck::cast_slice_mut(&mut head))?;
        }
        self.next = (!is_at_end).then_some((head[0], head[1]));
        Ok(())
    }

    /// Appends the rows of the next series to a block.
    fn take(&mut self, block: &mut Block, shape: RowShape) -> io::Result<()> {
        let Some((series, count)) = self.next else { return Ok(()) };
        let count = count as usize;
        block.series.resize(block.series.len() + count, series);
        append(&mut self.bytes, &mut block.times, count)?;
        append(&mut self.bytes, &mut block.files, count)?;
        append(&mut self.bytes, &mut block.lines, count)?;
        append(&mut self.bytes, &mut block.values, count * shape.width)?;
        append(&mut self.bytes, &mut block.of_channel, if shape.is_long { count } else { 0 })?;
        append(&mut self.bytes, &mut block.classes, if shape.has_classes { count } else { 0 })?;
        self.look()
    }
}

fn append<T: bytemuck::Pod>(bytes: &mut impl Read, list: &mut Vec<T>, count: usize) -> io::Result<()> {
    let begin = list.len();
    list.resize(begin + count, T::zeroed());
    bytes.read_exact(bytemuck::cast_slice_mut(&mut list[begin..]))
}

/// A part of a file that others read as well.
struct Part<'a> {
    file: &'a File,
    range: Range<u64>,
}

impl Read for Part<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.range.end - self.range.start).unwrap_or(usize::MAX);
        let count = out.len().min(left);
        read_exact_at(self.file, &mut out[..count], self.range.start)?;
        self.range.start += count as u64;
        Ok(count)
    }
}
