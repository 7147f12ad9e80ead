//! One entry: a data set in a file.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `stroock` and a line end |
//! | 4 | version of the format |
//! | block | JSON: key, kind of observation, number of series, notes |
//! | ... | the series, one after the other |
//! | 32 | SHA-256 of everything before |
//!
//! A block is its length in 8 bytes and its content. Numbers are little-endian. Values that are not observed are
//! left out where all of them are 0, as they are in data that are mostly missing.

use std::fs;
use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use stroock::series::{Dataset, Labels, Observation, Series, SeriesError};
use thiserror::Error;

use super::bytes::{Reader, Writer};

/// Version of the format; a change makes all older entries unknown.
pub(super) const VERSION: u32 = 1;

const MAGIC: &[u8; 8] = b"stroock\n";
const CHECKSUM: usize = 32;

#[derive(Serialize, Deserialize)]
struct Header<M> {
    key: String,
    observation: Observation,
    series: usize,
    notes: M,
}

/// Why an entry cannot be used.
#[derive(Debug, Error)]
pub(super) enum EntryProblem {
    /// The operating system refused.
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// It is not an entry of this version.
    #[error("it is not an entry of this version")]
    Format,
    /// The checksum does not fit.
    #[error("its checksum does not fit")]
    Checksum,
    /// The header cannot be understood.
    #[error("its header cannot be understood: {0}")]
    Header(#[from] serde_json::Error),
    /// It belongs to another key.
    #[error("it belongs to another key")]
    Key,
    /// The series end too early, too late, or in between.
    #[error("series {0} is malformed")]
    Series(usize),
    /// The series do not make a data set.
    #[error(transparent)]
    Dataset(#[from] SeriesError),
}

/// A data set and its notes as the bytes of an entry.
pub(super) fn encode<M: Serialize>(
    key: &str,
    dataset: &Dataset,
    notes: &M,
) -> Result<Vec<u8>, serde_json::Error> {
    let (observation, series) = (dataset.observation(), dataset.series().len());
    let header = serde_json::to_vec(&Header { key: key.to_owned(), observation, series, notes })?;
    let mut writer = Writer::default();
    writer.bytes.extend(MAGIC);
    writer.u32(VERSION);
    writer.block(&header);
    dataset.series().iter().for_each(|series| write_series(&mut writer, series));
    let checksum = Sha256::digest(&writer.bytes);
    writer.bytes.extend(checksum);
    Ok(writer.bytes)
}

/// The entry of a key at a path; `None` where there is none.
pub(super) fn read<M: DeserializeOwned>(
    path: &Path,
    key: &str,
) -> Result<Option<(Dataset, M)>, EntryProblem> {
    match fs::read(path) {
        Ok(content) => decode(&content, key).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn decode<M: DeserializeOwned>(content: &[u8], key: &str) -> Result<(Dataset, M), EntryProblem> {
    let (body, checksum) = content.split_last_chunk::<CHECKSUM>().ok_or(EntryProblem::Format)?;
    let mut reader = Reader { bytes: body };
    if reader.take(MAGIC.len()) != Some(MAGIC) || reader.u32() != Some(VERSION) {
        return Err(EntryProblem::Format);
    }
    if Sha256::digest(body)[..] != checksum[..] {
        return Err(EntryProblem::Checksum);
    }
    let header: Header<M> = serde_json::from_slice(reader.block().ok_or(EntryProblem::Format)?)?;
    if header.key != key {
        return Err(EntryProblem::Key);
    }
    let channels = header.observation.len();
    let mut series = Vec::new();
    for number in 0..header.series {
        series.push(read_series(&mut reader, channels).ok_or(EntryProblem::Series(number))?);
    }
    if !reader.bytes.is_empty() {
        return Err(EntryProblem::Series(header.series));
    }
    Ok((Dataset::new(header.observation, series)?, header.notes))
}

fn write_series(writer: &mut Writer, series: &Series) {
    writer.block(series.id.as_bytes());
    writer.length(series.times.len());
    writer.f64s(&series.times);
    for mask in [&series.observed, &series.withheld] {
        writer.byte(mask.is_some().into());
        writer.bits(mask.as_deref().unwrap_or_default());
    }
    let is_missing = |place: usize| series.observed.as_ref().is_some_and(|observed| !observed[place]);
    let places = || series.values.iter().enumerate();
    // By its bits: a negative zero has to come back as one.
    let is_sparse = places().all(|(place, value)| value.to_bits() == 0 || !is_missing(place));
    writer.byte(is_sparse.into());
    writer.f32s(places().filter(|(place, _)| !(is_sparse && is_missing(*place))).map(|(_, value)| *value));
    match &series.labels {
        Labels::None => writer.byte(0),
        Labels::Class(class) => {
            writer.byte(1);
            writer.u32(*class);
        }
        Labels::ClassPerTime(classes) => {
            writer.byte(2);
            writer.bits(&classes.iter().map(Option::is_some).collect::<Vec<_>>());
            classes.iter().flatten().for_each(|&class| writer.u32(class));
        }
        Labels::RealPerTime { width, values } => {
            writer.byte(3);
            writer.length(*width);
            writer.f32s(values.iter().copied());
        }
    }
}

fn read_series(reader: &mut Reader<'_>, channels: usize) -> Option<Series> {
    let id = String::from_utf8(reader.block()?.to_vec()).ok()?;
    let count = reader.length()?;
    let times = reader.f64s(count)?;
    let entries = count.checked_mul(channels)?;
    let observed = read_mask(reader, entries)?;
    let withheld = read_mask(reader, entries)?;
    let values = match (reader.byte()? == 1, &observed) {
        (true, Some(observed)) => {
            let present = observed.iter().filter(|&&is_observed| is_observed).count();
            let mut present = reader.f32s(present)?;
            observed
                .iter()
                .map(|&is_observed| is_observed.then(|| present.next()).flatten().unwrap_or(0.0))
                .collect()
        }
        _ => reader.f32s(entries)?.collect(),
    };
    let labels = match reader.byte()? {
        0 => Labels::None,
        1 => Labels::Class(reader.u32()?),
        2 => {
            let known = reader.bits(count)?;
            let class = |is_known| if is_known { reader.u32().map(Some) } else { Some(None) };
            Labels::ClassPerTime(known.into_iter().map(class).collect::<Option<_>>()?)
        }
        3 => {
            let width = reader.length()?;
            Labels::RealPerTime { width, values: reader.f32s(count.checked_mul(width)?)?.collect() }
        }
        _ => return None,
    };
    Some(Series { id, times, values, observed, withheld, labels })
}

fn read_mask(reader: &mut Reader<'_>, entries: usize) -> Option<Option<Vec<bool>>> {
    match reader.byte()? {
        0 => Some(None),
        1 => Some(Some(reader.bits(entries)?)),
        _ => None,
    }
}
