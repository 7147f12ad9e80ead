//! What is in a table that does not fit into memory.

use super::stored_variable::ChannelStream;
use super::{LabelBalance, Overview, Spread, VariableOverview, held_out};
use crate::table::window::{Facts, windows_of};
use crate::table::{AnyTable, Room, StoredTable};
use crate::{Selection, Series, SeriesError, SeriesSource};

/// Share of the memory that values may take which are kept for quantiles.
const KEPT: u64 = 16;
/// Values that are kept for each quantity at least.
const FEWEST: u64 = 1 << 8;
/// Shares of a [`Spread`].
const SHARES: [f64; 3] = [0.05, 0.5, 0.95];

impl Overview {
    /// What is in a table, wherever its series are; `room` bounds the memory that this takes.
    ///
    /// # Errors
    /// When a temporary file cannot be read.
    pub fn of_any(table: &AnyTable, room: &Room) -> Result<Overview, SeriesError> {
        match table {
            AnyTable::Memory(table) => Ok(Self::of(table)),
            AnyTable::Stored(table) => Self::of_stored(table, room),
        }
    }

    /// What is in a table whose series are in a file. Everything is as [`Overview::of`] has it, up to the rounding of means
    /// and standard deviations, save that more than four thousand different values of a variable are not counted one by one,
    /// but within a few percent.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of_stored(table: &StoredTable, room: &Room) -> Result<Overview, SeriesError> {
        let channels = table.variables.len();
        let most = (room.memory / KEPT / 8 / (channels as u64 + 2)).max(FEWEST) as usize;
        let variables = table.variables.iter().enumerate();
        let mut streams: Vec<ChannelStream> = variables
            .map(|(channel, variable)| ChannelStream::new(channel, variable.is_static, most))
            .collect();
        let mut counts = Counts::new(table);
        let mut gaps = Selection::new(&SHARES, most);
        table.data.for_each(&mut |number, series| {
            counts.add(number, series, table);
            gaps_of(series).for_each(|gap| gaps.add(gap));
            streams.iter_mut().for_each(|stream| stream.add(series, channels));
            Ok(())
        })?;
        gaps.end_pass();
        streams.iter_mut().for_each(ChannelStream::end_pass);
        while gaps.wants_more() || streams.iter().any(ChannelStream::wants_more) {
            let again: Vec<bool> = streams.iter().map(ChannelStream::wants_more).collect();
            let again_gaps = gaps.wants_more();
            table.data.for_each(&mut |_, series| {
                if again_gaps {
                    gaps_of(series).for_each(|gap| gaps.add(gap));
                }
                let wanting = streams.iter_mut().zip(&again).filter(|(_, again)| **again);
                wanting.for_each(|(stream, _)| stream.add(series, channels));
                Ok(())
            })?;
            gaps.end_pass();
            let wanting = streams.iter_mut().zip(&again).filter(|(_, again)| **again);
            wanting.for_each(|(stream, _)| stream.end_pass());
        }
        let variables: Vec<VariableOverview> =
            streams.into_iter().zip(&table.variables).map(|(stream, of)| stream.finish(of)).collect();
        counts.finish(table, gaps.quantiles(), variables)
    }
}

/// Distances between the times of a series.
fn gaps_of(series: &Series<f64>) -> impl Iterator<Item = f64> {
    series.times.windows(2).map(|pair| pair[1] - pair[0])
}

/// What is known of the series themselves.
struct Counts {
    times: usize,
    range: Option<(f64, f64)>,
    lengths: Vec<f64>,
    spans: Vec<f64>,
    /// The shortest and the longest gap.
    gaps: (f64, f64),
    labels: Option<LabelBalance>,
    unobserved: Vec<String>,
    /// A hash of the content of each series that has any, and its number.
    contents: Vec<(u64, u32)>,
}

impl Counts {
    fn new(table: &StoredTable) -> Self {
        Self {
            times: 0,
            range: None,
            lengths: Vec::with_capacity(table.data.len()),
            spans: Vec::with_capacity(table.data.len()),
            gaps: (f64::INFINITY, f64::NEG_INFINITY),
            labels: LabelBalance::none(table),
            unobserved: Vec::new(),
            contents: Vec::with_capacity(table.data.len()),
        }
    }

    fn add(&mut self, number: usize, series: &Series<f64>, table: &StoredTable) {
        self.times += series.times.len();
        self.lengths.push(series.times.len() as f64);
        self.labels.iter_mut().for_each(|labels| labels.add(series));
        if let Some((first, last)) = series.times.first().zip(series.times.last()) {
            self.spans.push(last - first);
            let (first, last) = (table.origins[number] + first, table.origins[number] + last);
            let (least, most) = self.range.unwrap_or((first, last));
            self.range = Some((least.min(first), most.max(last)));
        }
        for gap in gaps_of(series) {
            self.gaps = (self.gaps.0.min(gap), self.gaps.1.max(gap));
        }
        let is_unobserved = match &series.observed {
            Some(observed) => !observed.contains(&true),
            None => series.values.is_empty(),
        };
        match is_unobserved {
            true => self.unobserved.push(series.id.clone()),
            false => self.contents.push((content_hash(series), number as u32)),
        }
    }

    fn finish(
        self,
        table: &StoredTable,
        gaps: Option<Vec<f64>>,
        variables: Vec<VariableOverview>,
    ) -> Result<Overview, SeriesError> {
        let alike = alike(table, self.contents)?;
        let gaps = gaps.map(|quantiles| Spread {
            min: self.gaps.0,
            low: quantiles[0],
            median: quantiles[1],
            high: quantiles[2],
            max: self.gaps.1,
        });
        let (lengths, spans) = (Spread::of(self.lengths), Spread::of(self.spans));
        let series = table.data.len();
        let facts = Facts {
            series,
            times: self.times,
            length: lengths.map_or(0.0, |lengths| lengths.median),
            gap: gaps.map(|gaps| gaps.median),
            span: spans.map_or(0.0, |spans| spans.median),
            range: self.range.map_or(0.0, |(first, last)| last - first),
        };
        let suggestion = facts.suggest(&table.time);
        let mut windows = 0;
        if let Some(window) = suggestion.sampling.window {
            table.data.for_each(&mut |number, series| {
                windows += windows_of(series, table.origins[number], window);
                Ok(())
            })?;
        }
        Ok(Overview {
            series,
            times: self.times,
            values: variables.iter().map(|variable| variable.count).sum(),
            time: table.time.clone(),
            range: self.range,
            lengths,
            spans,
            gaps,
            variables,
            labels: self.labels,
            unobserved: self.unobserved,
            alike,
            columns: table.columns.clone(),
            account: table.account.clone(),
            held_out: held_out(series, windows, &suggestion),
            suggestion,
        })
    }
}

/// A hash of times and values. What is not observed is zero in a file.
fn content_hash(series: &Series<f64>) -> u64 {
    let numbers = series.times.iter().chain(&series.values).map(|number| number.to_bits());
    let gaps = series.observed.iter().flatten().map(|&observed| u64::from(observed));
    let hash = numbers.chain(gaps).fold(series.times.len() as u64, |hash, bits| {
        (hash.rotate_left(5) ^ bits).wrapping_mul(0x517c_c1b7_2722_0a95)
    });
    hash ^ (hash >> 32)
}

/// Names of the series with the same content, group by group in the order of their first series.
fn alike(table: &StoredTable, mut contents: Vec<(u64, u32)>) -> Result<Vec<Vec<String>>, SeriesError> {
    contents.sort_unstable();
    let mut groups: Vec<(u32, Vec<String>)> = Vec::new();
    for same_hash in contents.chunk_by(|a, b| a.0 == b.0).filter(|some| some.len() > 1) {
        let mut left: Vec<u32> = same_hash.iter().map(|(_, number)| *number).collect();
        while let Some(&first) = left.first() {
            let one = table.data.get(first as usize)?;
            let mut names = Vec::new();
            let mut others = Vec::new();
            for &number in &left {
                let other = table.data.get(number as usize)?;
                let is_same = (&one.times, &one.values, &one.observed)
                    == (&other.times, &other.values, &other.observed);
                match is_same {
                    true => names.push(other.id.clone()),
                    false => others.push(number),
                }
            }
            if names.len() > 1 {
                groups.push((first, names));
            }
            left = others;
        }
    }
    groups.sort_unstable();
    Ok(groups.into_iter().map(|(_, names)| names).collect())
}
