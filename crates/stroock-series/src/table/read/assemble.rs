//! Collected rows become series: sorted by time, one entry for each variable and time.

use super::block::Block;
use super::collect::Collected;
use super::labels::NONE;
use crate::table::{Duplicates, TableError, TimeScale};
use crate::{Labels, Series};

/// Values that a data set in memory, or one series of a store, may hold: what takes nine bytes each must fit into the
/// memory of a usual computer.
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
    let mut order = all.rows.by_series();
    let of_series = |row: &u32| all.rows.series[*row as usize];
    let mut total = 0;
    for rows in order.chunk_by_mut(|a, b| of_series(a) == of_series(b)) {
        all.rows.sort_by_time(rows);
        total += times(&all.rows, rows);
    }
    check_size(all, shape, total)?;
    let mut assembler = Assembler::new(all, shape);
    let rows = order.chunk_by(|a, b| of_series(a) == of_series(b));
    let series = rows.map(|rows| assembler.series(&all.rows, rows)).collect::<Result<_, _>>()?;
    Ok((series, assembler.merged))
}

/// Refuses more values than fit into memory.
fn check_size(all: &Collected, shape: &Shape<'_>, times: u64) -> Result<(), TableError> {
    let variables = shape.sources.len();
    match times.saturating_mul(variables as u64) > LARGEST {
        true => Err(TableError::TooLarge { times, variables, long: all.is_long }),
        false => Ok(()),
    }
}

/// Different times of rows that are sorted by time.
fn times(block: &Block, rows: &[u32]) -> u64 {
    1 + rows.windows(2).filter(|pair| time(block, pair[0]) != time(block, pair[1])).count() as u64
}

fn time(block: &Block, row: u32) -> f64 {
    block.times[row as usize]
}

/// Builds one series after the other.
pub(super) struct Assembler<'a> {
    all: &'a Collected,
    shape: &'a Shape<'a>,
    /// For each collected channel its place among those of the data set.
    places: Vec<Option<usize>>,
    /// Of one time: for each channel of the data set the sum of its values, their number, and the first row.
    sums: Vec<(f64, u32, u32)>,
    pub(super) merged: u64,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(all: &'a Collected, shape: &'a Shape<'a>) -> Self {
        let mut places = vec![None; all.channels.len()];
        for (place, source) in shape.sources.iter().enumerate() {
            if let Source::Channel(channel) = source {
                places[*channel] = Some(place);
            }
        }
        Assembler { all, shape, places, sums: vec![(0.0, 0, 0); shape.sources.len()], merged: 0 }
    }

    /// The one series of a block.
    pub(super) fn only_series(&mut self, block: &Block) -> Result<Series<f64>, TableError> {
        let mut rows: Vec<u32> = (0..block.len() as u32).collect();
        block.sort_by_time(&mut rows);
        check_size(self.all, self.shape, times(block, &rows))?;
        self.series(block, &rows)
    }

    /// The series with the given rows of a block, which are sorted by time.
    fn series(&mut self, block: &Block, rows: &[u32]) -> Result<Series<f64>, TableError> {
        let (all, channels) = (self.all, self.shape.sources.len());
        let index = block.series[rows[0] as usize];
        let id = all.ids.name(index).to_owned();
        let groups = || rows.chunk_by(|a, b| time(block, *a) == time(block, *b));
        let times: Vec<f64> = groups().map(|group| time(block, group[0])).collect();
        let mut values = vec![0.0; times.len() * channels];
        let mut observed = vec![false; times.len() * channels];
        let mut classes = Vec::new();
        let per_time = all.labels.are_per_time();
        for (at, group) in groups().enumerate() {
            self.time(block, group, &id)?;
            let range = at * channels..(at + 1) * channels;
            let places = values[range.clone()].iter_mut().zip(&mut observed[range]);
            for ((value, observed), sum) in places.zip(&mut self.sums) {
                if sum.1 > 0 {
                    (*value, *observed) = (sum.0 / f64::from(sum.1), true);
                }
                *sum = (0.0, 0, 0);
            }
            if per_time {
                classes.push(self.class(block, group, &id)?);
            }
        }
        for (channel, source) in self.shape.sources.iter().enumerate() {
            if let Source::Static(of) = source
                && let Some(value) = all.statics.value(index as usize, *of)
                && !times.is_empty()
            {
                (values[channel], observed[channel]) = (value, true);
            }
        }
        let labels = match all.labels.of_series(index as usize) {
            _ if per_time => Labels::ClassPerTime(classes),
            NONE => Labels::None,
            class => Labels::Class(self.shape.classes[class as usize]),
        };
        let observed = if observed.iter().all(|observed| *observed) { None } else { Some(observed) };
        Ok(Series { id, times, values, observed, withheld: None, labels })
    }

    /// Sums up the values of the rows of one time.
    fn time(&mut self, block: &Block, rows: &[u32], series: &str) -> Result<(), TableError> {
        let (all, width) = (self.all, self.all.width());
        for &row in rows {
            for entry in 0..width {
                let place = row as usize * width + entry;
                let value = block.values[place];
                let channel = if all.is_long { block.of_channel[row as usize] as usize } else { entry };
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
                        return Err(self.duplicate(block, series, &all.channels[channel], [first, row]));
                    }
                }
            }
        }
        Ok(())
    }

    /// The class of the rows of one time.
    fn class(&self, block: &Block, rows: &[u32], series: &str) -> Result<Option<u32>, TableError> {
        let mut found: Option<(u32, u32)> = None;
        for &row in rows {
            let class = block.classes[row as usize];
            match found {
                _ if class == NONE => {}
                // Classes have no mean.
                Some((first, at)) if class != first && self.shape.duplicates != Duplicates::Last => {
                    let column = self.all.labels.column().unwrap_or_default();
                    return Err(self.duplicate(block, series, column, [at, row]));
                }
                _ => found = Some((class, row)),
            }
        }
        Ok(found.map(|(class, _)| self.shape.classes[class as usize]))
    }

    fn duplicate(
        &self,
        block: &Block,
        series: &str,
        variable: &str,
        [first, second]: [u32; 2],
    ) -> TableError {
        TableError::Duplicate {
            place: Box::new(self.all.place(block, second)),
            first: Box::new(self.all.place(block, first)),
            series: series.to_owned(),
            variable: variable.to_owned(),
            time: self.shape.scale.write(time(block, second)),
            has_id: self.shape.has_id,
        }
    }
}
