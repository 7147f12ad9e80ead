//! Readings to rows of one tick, and rows to overlapping windows.

use serde::{Deserialize, Serialize};
use stroock::series::{Dataset, Labels, Observation, Series};

use super::record::{ActivityFile, Coverage, Reading, Recording};
use super::{CHANNELS, LabelList, READER, TAGS};
use crate::data::cache::Cache;
use crate::data::error::DataError;
use crate::data::folder::DataFolder;
use crate::data::source;

/// Units of 100 ns in a tick of 10 ms.
const STAMPS_PER_TICK: f64 = 1e5;

/// How recordings become series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActivitySettings {
    /// Rows of a window.
    pub window: usize,
    /// Rows from the start of a window to the start of the next.
    pub stride: usize,
    /// How activities become classes.
    pub labels: LabelList,
}

impl Default for ActivitySettings {
    /// The published windows: 50 rows, half of them shared with the next window.
    fn default() -> Self {
        ActivitySettings { window: 50, stride: 25, labels: LabelList::Merged }
    }
}

/// Windows as a data set.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivityWindows {
    /// One series per window, named by recording and number (`A01/17`), with a class at every time. Times are
    /// ticks of 10 ms since the first one of the window.
    pub dataset: Dataset,
    /// The recording of every series, for splits that keep recordings together.
    pub recordings: Vec<String>,
    /// How much of the published file the windows are from.
    pub coverage: Coverage,
}

/// The windows of a data folder, from the cache if they are there.
///
/// # Errors
/// When the file is not there or not as published, or the settings make no sense.
pub fn load(
    folder: &DataFolder,
    settings: &ActivitySettings,
    cache: &Cache,
) -> Result<ActivityWindows, DataError> {
    let path = folder.require(source::find("activity")?, "ConfLongDemo_JSI.txt")?;
    let cached = cache.get(READER, &[&path], settings, || {
        let windows = windows(&ActivityFile::read(&path)?, settings)?;
        Ok((windows.dataset, (windows.recordings, windows.coverage)))
    })?;
    let (recordings, coverage) = cached.notes;
    Ok(ActivityWindows { dataset: cached.dataset, recordings, coverage })
}

/// Cuts recordings to windows.
///
/// The time of a reading is the number of 10 ms ticks since the start of its recording. Readings in a row with
/// the same tick make one row; a tag that occurs more than once in it counts with its mean. The last row of a
/// recording never ends a window, as published. Of several classes in a row the lowest counts.
///
/// # Errors
/// When the settings make no sense.
pub fn windows(file: &ActivityFile, settings: &ActivitySettings) -> Result<ActivityWindows, DataError> {
    for (name, value) in [("window", settings.window), ("stride", settings.stride)] {
        if value == 0 {
            return Err(DataError::Setting { name, value: value.to_string(), requirement: "at least 1" });
        }
    }
    let (mut series, mut recordings) = (Vec::new(), Vec::new());
    for recording in &file.recordings {
        let rows = rows(recording, settings.labels);
        let starts = (0..).step_by(settings.stride).take_while(|start| start + settings.window < rows.len());
        for (number, start) in starts.enumerate() {
            series.push(window(format!("{}/{number}", recording.name), &rows[start..][..settings.window]));
            recordings.push(recording.name.clone());
        }
    }
    let dataset = Dataset::new(Observation::Vector { channels: CHANNELS }, series)?;
    Ok(ActivityWindows { dataset, recordings, coverage: file.coverage() })
}

/// What was read in one tick.
#[derive(Clone, Debug)]
struct Row {
    tick: i64,
    sums: [[f64; 3]; TAGS.len()],
    counts: [u32; TAGS.len()],
    class: Option<u32>,
}

impl Row {
    fn new(tick: i64) -> Self {
        Row { tick, sums: Default::default(), counts: Default::default(), class: None }
    }

    fn add(&mut self, reading: &Reading, labels: LabelList) {
        let tag = usize::from(reading.tag);
        for (sum, &coordinate) in self.sums[tag].iter_mut().zip(&reading.position) {
            *sum += f64::from(coordinate);
        }
        self.counts[tag] += 1;
        self.class = lowest(self.class, labels.class(reading.activity));
    }

    fn merge(&mut self, other: &Row) {
        for (sum, other) in self.sums.iter_mut().flatten().zip(other.sums.iter().flatten()) {
            *sum += other;
        }
        self.counts.iter_mut().zip(other.counts).for_each(|(count, other)| *count += other);
        self.class = lowest(self.class, other.class);
    }
}

fn lowest(one: Option<u32>, other: Option<u32>) -> Option<u32> {
    one.into_iter().chain(other).min()
}

fn rows(recording: &Recording, labels: LabelList) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    // Stamps are beyond the whole numbers that a double can tell apart (they come in steps of 128); the published
    // ticks are made of such doubles, halves to the even one, and so are these.
    let start = recording.readings.first().map_or(0.0, |reading| reading.stamp as f64);
    for reading in &recording.readings {
        let tick = ((reading.stamp as f64 - start) / STAMPS_PER_TICK).round_ties_even() as i64;
        match rows.last_mut() {
            Some(row) if row.tick == tick => row.add(reading, labels),
            _ => {
                let mut row = Row::new(tick);
                row.add(reading, labels);
                rows.push(row);
            }
        }
    }
    rows
}

/// The file has a few readings one tick before their predecessors. Windows are cut before rows are sorted, so that
/// their number is the published one.
fn window(id: String, rows: &[Row]) -> Series {
    let mut sorted: Vec<Row> = Vec::with_capacity(rows.len());
    let mut order: Vec<&Row> = rows.iter().collect();
    order.sort_by_key(|row| row.tick);
    for row in order {
        match sorted.last_mut() {
            Some(last) if last.tick == row.tick => last.merge(row),
            _ => sorted.push(row.clone()),
        }
    }
    let start = sorted.first().map_or(0, |row| row.tick);
    let mut series = Series { id, ..Series::default() };
    let mut observed = Vec::with_capacity(sorted.len() * CHANNELS);
    let mut classes = Vec::with_capacity(sorted.len());
    for row in &sorted {
        series.times.push((row.tick - start) as f64);
        for (sums, &count) in row.sums.iter().zip(&row.counts) {
            let mean = |&sum: &f64| if count == 0 { 0.0 } else { (sum / f64::from(count)) as f32 };
            series.values.extend(sums.iter().map(mean));
            observed.extend([count > 0; 3]);
        }
        // A row without a label is one of a misspelt activity, which the published code counts as class 0.
        classes.push(Some(row.class.unwrap_or(0)));
    }
    series.observed = Some(observed);
    series.labels = Labels::ClassPerTime(classes);
    series
}
