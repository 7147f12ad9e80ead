//! Collected rows become series: sorted by time, one entry for each variable and time.

use super::collect::Collected;
use super::labels::NONE;
use crate::table::{Duplicates, TableError, TimeScale};
use crate::{Labels, Series};

/// Values that a data set may hold: what takes nine bytes each must fit into the memory of a usual computer.
const LARGEST: u64 = 1 << 29;

/// Where the channels of the data set come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A channel of the collected rows.
    Channel(usize),
    /// A number of the series.
    Static(usize),
    /// Nowhere: it stays without observations.
    Nowhere,
}

/// What the series look like.
pub(super) struct Shape<'a> {
    pub(super) sources: &'a [Source],
    pub(super) duplicates: Duplicates,
    pub(super) scale: &'a TimeScale,
    pub(super) has_id: bool,
    /// For each class that came its place among the classes.
    pub(super) classes: &'a [u32],
}

/// The series of the collected rows, and how many values were merged.
pub(super) fn series(all: &Collected, shape: &Shape<'_>) -> Result<(Vec<Series<f64>>, u64), TableError> {
    let (order, starts) = rows_by_series(all);
    let times = |rows: &[u32]| {
        1 + rows.windows(2).filter(|pair| time(all, pair[0]) != time(all, pair[1])).count() as u64
    };
    let rows = |series: usize| &order[starts[series]..starts[series + 1]];
    let count = all.ids.len();
    let total: u64 = (0..count).map(|series| times(rows(series))).sum();
    if total.saturating_mul(shape.sources.len() as u64) > LARGEST {
        let variables = shape.sources.len();
        return Err(TableError::TooLarge { times: total, variables, long: all.is_long });
    }
    let mut assembler = Assembler::new(all, shape);
    let series = (0..count).map(|series| assembler.series(series, rows(series))).collect::<Result<_, _>>()?;
    Ok((series, assembler.merged))
}

fn time(all: &Collected, row: u32) -> f64 {
    all.times[row as usize]
}

/// Rows grouped by series and sorted by time (those of one time stay in their order), and where each series
/// starts.
fn rows_by_series(all: &Collected) -> (Vec<u32>, Vec<usize>) {
    let mut starts = vec![0_usize; all.ids.len() + 1];
    for &series in &all.series {
        starts[series as usize + 1] += 1;
    }
    for index in 1..starts.len() {
        starts[index] += starts[index - 1];
    }
    let mut next = starts.clone();
    let mut order = vec![0_u32; all.series.len()];
    for (row, &series) in all.series.iter().enumerate() {
        order[next[series as usize]] = row as u32;
        next[series as usize] += 1;
    }
    for range in starts.windows(2) {
        let rows = &mut order[range[0]..range[1]];
        if !rows.is_sorted_by(|a, b| time(all, *a) <= time(all, *b)) {
            rows.sort_by(|a, b| time(all, *a).total_cmp(&time(all, *b)));
        }
    }
    (order, starts)
}

/// Builds one series after the other.
struct Assembler<'a> {
    all: &'a Collected,
    shape: &'a Shape<'a>,
    /// For each collected channel its place among those of the data set.
    places: Vec<Option<usize>>,
    /// Of one time: for each channel of the data set the sum of its values, their number, and the first row.
    sums: Vec<(f64, u32, u32)>,
    merged: u64,
}

impl<'a> Assembler<'a> {
    fn new(all: &'a Collected, shape: &'a Shape<'a>) -> Self {
        let mut places = vec![None; all.channels.len()];
        for (place, source) in shape.sources.iter().enumerate() {
            if let Source::Channel(channel) = source {
                places[*channel] = Some(place);
            }
        }
        Assembler { all, shape, places, sums: vec![(0.0, 0, 0); shape.sources.len()], merged: 0 }
    }

    /// The series with the given rows, which are sorted by time.
    fn series(&mut self, index: usize, rows: &[u32]) -> Result<Series<f64>, TableError> {
        let (all, channels) = (self.all, self.shape.sources.len());
        let id = all.ids.name(index as u32).to_owned();
        let groups = || rows.chunk_by(|a, b| time(all, *a) == time(all, *b));
        let times: Vec<f64> = groups().map(|group| time(all, group[0])).collect();
        let mut values = vec![0.0; times.len() * channels];
        let mut observed = vec![false; times.len() * channels];
        let mut classes = Vec::new();
        let per_time = all.labels.are_per_time();
        for (at, group) in groups().enumerate() {
            self.time(group, &id)?;
            let range = at * channels..(at + 1) * channels;
            let places = values[range.clone()].iter_mut().zip(&mut observed[range]);
            for ((value, observed), sum) in places.zip(&mut self.sums) {
                if sum.1 > 0 {
                    (*value, *observed) = (sum.0 / f64::from(sum.1), true);
                }
                *sum = (0.0, 0, 0);
            }
            if per_time {
                classes.push(self.class(group, &id)?);
            }
        }
        for (channel, source) in self.shape.sources.iter().enumerate() {
            if let Source::Static(of) = source
                && let Some(value) = all.statics.value(index, *of)
                && !times.is_empty()
            {
                (values[channel], observed[channel]) = (value, true);
            }
        }
        let labels = match all.labels.of_series(index) {
            _ if per_time => Labels::ClassPerTime(classes),
            NONE => Labels::None,
            class => Labels::Class(self.shape.classes[class as usize]),
        };
        let observed = if observed.iter().all(|observed| *observed) { None } else { Some(observed) };
        Ok(Series { id, times, values, observed, withheld: None, labels })
    }

    /// Sums up the values of the rows of one time.
    fn time(&mut self, rows: &[u32], series: &str) -> Result<(), TableError> {
        let (all, width) = (self.all, if self.all.is_long { 1 } else { self.all.channels.len() });
        for &row in rows {
            for entry in 0..width {
                let place = row as usize * width + entry;
                let value = all.values[place];
                let channel = if all.is_long { all.of_channel[row as usize] as usize } else { entry };
                if value.is_nan() {
                    continue;
                }
                let Some(at) = self.places[channel] else { continue };
                let sum = &mut self.sums[at];
                if sum.1 == 0 {
                    *sum = (value, 1, row);
                    continue;
                }
                self.merged += 1;
                match self.shape.duplicates {
                    Duplicates::Last => sum.0 = value,
                    Duplicates::Mean => (sum.0, sum.1) = (sum.0 + value, sum.1 + 1),
                    Duplicates::Error => {
                        let first = sum.2;
                        return Err(self.duplicate(series, &all.channels[channel], first, row));
                    }
                }
            }
        }
        Ok(())
    }

    /// The class of the rows of one time.
    fn class(&self, rows: &[u32], series: &str) -> Result<Option<u32>, TableError> {
        let mut found: Option<(u32, u32)> = None;
        for &row in rows {
            let class = self.all.labels.of_row(row);
            match found {
                _ if class == NONE => {}
                // Classes have no mean.
                Some((first, at)) if class != first && self.shape.duplicates != Duplicates::Last => {
                    return Err(self.duplicate(
                        series,
                        self.all.labels.column().unwrap_or_default(),
                        at,
                        row,
                    ));
                }
                _ => found = Some((class, row)),
            }
        }
        Ok(found.map(|(class, _)| self.shape.classes[class as usize]))
    }

    fn duplicate(&self, series: &str, variable: &str, first: u32, second: u32) -> TableError {
        TableError::Duplicate {
            place: Box::new(self.all.place(second)),
            first: Box::new(self.all.place(first)),
            series: series.to_owned(),
            variable: variable.to_owned(),
            time: self.shape.scale.write(time(self.all, second)),
            has_id: self.shape.has_id,
        }
    }
}
