//! `metrics.jsonl`: one JSON object per epoch, appended as the run goes.
//!
//! ```text
//! {"epoch":1,"train_loss":3.25,"learning_rate":0.001,"stopped_by":"patience"}
//! ```
//!
//! `epoch` comes first, then names and values in the order in which they were given. JSON has no NaN and no
//! infinity: they are written as the texts `"NaN"`, `"inf"` and `"-inf"`, and read back as numbers.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::RunError;
use super::atomic::{parent, sync_folder};

const EPOCH: &str = "epoch";

/// The value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Metric {
    /// A count.
    Integer(i64),
    /// A measurement.
    Number(f64),
    /// A word.
    Text(String),
}

impl Metric {
    /// The number that it is; words are none.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Metric::Integer(number) => Some(*number as f64),
            Metric::Number(number) => Some(*number),
            Metric::Text(_) => None,
        }
    }
}

/// The metrics of one epoch.
///
/// ```
/// use stroock::run::{Metric, MetricsRow};
///
/// let row = MetricsRow::new(3).with("loss", 1.5).with("best", "yes");
/// assert_eq!(row.get("loss"), Some(&Metric::Number(1.5)));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MetricsRow {
    /// Number of the epoch.
    pub epoch: u64,
    /// Names and values, in order.
    pub values: Vec<(String, Metric)>,
}

impl MetricsRow {
    /// A row without values.
    pub fn new(epoch: u64) -> Self {
        MetricsRow { epoch, values: Vec::new() }
    }

    /// The row with one more value.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Metric>) -> Self {
        self.values.push((name.into(), value.into()));
        self
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&Metric> {
        self.values.iter().find(|(this, _)| this == name).map(|(_, value)| value)
    }

    /// The values that are numbers, with their names.
    pub fn numbers(&self) -> Vec<(&str, f64)> {
        self.values.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_number()?))).collect()
    }

    /// A name that has more than one value.
    fn duplicate(&self) -> Option<&str> {
        let taken = |index: usize, name: &str| {
            name == EPOCH || self.values[..index].iter().any(|(before, _)| before == name)
        };
        let names = self.values.iter().map(|(name, _)| name.as_str());
        names.enumerate().find(|(index, name)| taken(*index, name)).map(|(_, name)| name)
    }
}

/// What a metrics file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    /// The rows, in order.
    pub rows: Vec<MetricsRow>,
    /// The last line, if it was cut short by a kill: to be mentioned, and otherwise ignored.
    pub half_line: Option<String>,
}

impl Metrics {
    /// Reads a metrics file, also while a run appends to it.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let rows = read_with_ends(path)?;
        Ok(Metrics { rows: rows.rows.into_iter().map(|(row, _)| row).collect(), half_line: rows.half_line })
    }
}

/// A metrics file that is being appended to.
///
/// ```
/// use stroock::run::{Metrics, MetricsLog, MetricsRow};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("metrics.jsonl");
///
/// let mut log = MetricsLog::create(&path)?;
/// log.append(&MetricsRow::new(1).with("loss", 3.5))?;
/// log.append(&MetricsRow::new(2).with("loss", 2.5))?;
///
/// // The saved state knows the first epoch only: the second will be computed again.
/// let mut log = MetricsLog::resume(&path, Some(1))?.log;
/// log.append(&MetricsRow::new(2).with("loss", 2.5))?;
/// assert_eq!(Metrics::read(&path)?.rows.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MetricsLog {
    path: PathBuf,
    file: File,
    /// Bytes of complete rows.
    length: u64,
}

/// A metrics file that a resumed run appends to.
#[derive(Debug)]
pub struct ResumedLog {
    /// The file.
    pub log: MetricsLog,
    /// Rows that were kept.
    pub kept: usize,
    /// Rows that were cut off because the saved state does not know their epochs.
    pub cut: usize,
    /// The last line, if it was cut short by a kill and had to be dropped.
    pub half_line: Option<String>,
}

impl ResumedLog {
    /// What a user should be told about the state of the file, if anything.
    pub fn warning(&self) -> Option<String> {
        let line = self.half_line.as_ref()?;
        let path = self.log.path.display();
        Some(format!("`{path}`: dropped its last line, which was cut short: {line}"))
    }
}

impl MetricsLog {
    /// Starts a metrics file; one that exists is left alone, and an error.
    pub fn create(path: &Path) -> Result<Self, RunError> {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let file = file.map_err(RunError::io("create", path))?;
        sync_folder(parent(path))?;
        Ok(MetricsLog { path: path.to_owned(), file, length: 0 })
    }

    /// Continues a metrics file after the epoch `last_epoch`, the last one that the saved state knows (`None`:
    /// from the beginning). Rows of later epochs are cut off, and so is a last line that is not complete.
    pub fn resume(path: &Path, last_epoch: Option<u64>) -> Result<ResumedLog, RunError> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(RunError::io("open", path))?;
        let found = read_with_ends(path)?;
        let known = |row: &MetricsRow| last_epoch.is_some_and(|last| row.epoch <= last);
        let kept = found.rows.iter().take_while(|(row, _)| known(row)).count();
        let length = if kept == 0 { 0 } else { found.rows[kept - 1].1 };

        let log = MetricsLog { path: path.to_owned(), file, length };
        log.cut().map_err(RunError::io("shorten", path))?;
        Ok(ResumedLog { log, kept, cut: found.rows.len() - kept, half_line: found.half_line })
    }

    /// Appends a row, which a kill of the process does not take back; [`sync`](Self::sync) makes it survive the
    /// machine, too.
    pub fn append(&mut self, row: &MetricsRow) -> Result<(), RunError> {
        if let Some(name) = row.duplicate() {
            return Err(RunError::MetricTwice { epoch: row.epoch, name: name.to_owned() });
        }
        let written = self.write(row);
        if written.is_err() {
            // Half a row, for example on a full disk, would spoil the rows after it.
            let _ = self.cut();
        }
        written.map_err(RunError::io("append to", &self.path))
    }

    /// Waits until all rows have reached the disk.
    pub fn sync(&self) -> Result<(), RunError> {
        self.file.sync_data().map_err(RunError::io("write", &self.path))
    }

    fn write(&mut self, row: &MetricsRow) -> io::Result<()> {
        let mut line = serde_json::to_vec(row)?;
        line.push(b'\n');
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(&line)?;
        self.length += line.len() as u64;
        Ok(())
    }

    /// Cuts off what follows the complete rows.
    fn cut(&self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.sync_data()
    }
}

/// Rows, with the byte at which each of them ends.
struct RowsWithEnds {
    rows: Vec<(MetricsRow, u64)>,
    half_line: Option<String>,
}

fn read_with_ends(path: &Path) -> Result<RowsWithEnds, RunError> {
    let bytes = fs::read(path).map_err(RunError::io("read", path))?;
    let mut found = RowsWithEnds { rows: Vec::new(), half_line: None };
    let mut end = 0;
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        end += line.len() as u64;
        // Only the last line can lack its end; it may be a whole row even so, but it was never confirmed.
        let is_last = end == bytes.len() as u64;
        match serde_json::from_slice::<MetricsRow>(line) {
            Ok(row) if line.ends_with(b"\n") => found.rows.push((row, end)),
            Err(error) if !is_last => {
                let (path, reason) = (path.to_owned(), error.to_string());
                return Err(RunError::MetricsLine { path, line: index + 1, reason });
            }
            _ => found.half_line = Some(String::from_utf8_lossy(line).trim_end().to_owned()),
        }
    }
    Ok(found)
}

impl From<f64> for Metric {
    fn from(value: f64) -> Self {
        Metric::Number(value)
    }
}

impl From<i64> for Metric {
    fn from(value: i64) -> Self {
        Metric::Integer(value)
    }
}

impl From<&str> for Metric {
    fn from(value: &str) -> Self {
        Metric::Text(value.to_owned())
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Metric::Integer(value) => serializer.serialize_i64(*value),
            Metric::Number(value) if value.is_finite() => serializer.serialize_f64(*value),
            Metric::Number(value) => serializer.collect_str(value),
            Metric::Text(value) => serializer.serialize_str(value),
        }
    }
}

impl Serialize for MetricsRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1 + self.values.len()))?;
        map.serialize_entry(EPOCH, &self.epoch)?;
        self.values.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MetricVisitor;

        impl Visitor<'_> for MetricVisitor {
            type Value = Metric;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a text")
            }

            fn visit_i64<E>(self, value: i64) -> Result<Metric, E> {
                Ok(Metric::Integer(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Metric, E> {
                Ok(i64::try_from(value).map_or(Metric::Number(value as f64), Metric::Integer))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Metric, E> {
                Ok(Metric::Number(value))
            }

            fn visit_str<E>(self, value: &str) -> Result<Metric, E> {
                Ok(match value {
                    "NaN" => Metric::Number(f64::NAN),
                    "inf" => Metric::Number(f64::INFINITY),
                    "-inf" => Metric::Number(f64::NEG_INFINITY),
                    text => Metric::Text(text.to_owned()),
                })
            }
        }

        deserializer.deserialize_any(MetricVisitor)
    }
}

impl<'de> Deserialize<'de> for MetricsRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RowVisitor;

        impl<'de> Visitor<'de> for RowVisitor {
            type Value = MetricsRow;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map with `epoch`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MetricsRow, A::Error> {
                let mut epoch = None;
                let mut values = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name == EPOCH {
                        epoch = Some(map.next_value()?);
                    } else {
                        values.push((name, map.next_value()?));
                    }
                }
                let epoch = epoch.ok_or_else(|| A::Error::missing_field(EPOCH))?;
                Ok(MetricsRow { epoch, values })
            }
        }

        deserializer.deserialize_map(RowVisitor)
    }
}
