//! Series of a table as histories: windows of one series are put together again.

use std::collections::HashMap;

use stroock_forecast::{Explained, History};

use crate::series::Series;
use crate::series::table::{Step, Table};

/// A whole series: the histories of its variables.
#[derive(Clone, Debug)]
pub struct Track {
    /// Its name.
    pub id: String,
    /// Times of the user at which a variable that is to be forecast is observed.
    pub times: Vec<f64>,
    /// The same in steps.
    pub places: Vec<f64>,
    /// The last of the times.
    pub end: f64,
    /// For each variable that is to be forecast its values, in steps.
    pub histories: Vec<Option<History>>,
    /// The variables that are known ahead of time, with their values before and after the end.
    pub known: Vec<(usize, History)>,
}

/// The numbers of the series of each name, in the order of the table.
fn pieces(table: &Table) -> Vec<(String, Vec<usize>)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut named: Vec<(String, Vec<usize>)> = Vec::new();
    for (number, series) in table.data.series().iter().enumerate() {
        let place = *places.entry(&series.id).or_insert_with(|| {
            named.push((series.id.clone(), Vec::new()));
            named.len() - 1
        });
        named[place].1.push(number);
    }
    named
}

/// `(time of the user, piece, index)` of all times of the pieces of a series, in order.
fn merged(table: &Table, numbers: &[usize]) -> Vec<(f64, usize, usize)> {
    let times = numbers.iter().flat_map(|&number| {
        let times = table.data.series()[number].times.iter().enumerate();
        times.map(move |(index, time)| (table.origins[number] + time, number, index))
    });
    let mut times: Vec<(f64, usize, usize)> = times.collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    times
}

/// The times of the user of every series.
pub(super) fn joined_times(table: &Table) -> Vec<Vec<f64>> {
    let times = |(_, numbers): (String, Vec<usize>)| {
        let mut times: Vec<f64> = merged(table, &numbers).into_iter().map(|(time, ..)| time).collect();
        times.dedup();
        times
    };
    pieces(table).into_iter().map(times).collect()
}

/// The series of a table, in the order of their first rows; `known` are the numbers of the variables that are known
/// ahead of time. Series without a value of another variable are left out.
pub fn tracks(table: &Table, step: Step, known: &[usize]) -> Vec<Track> {
    let channels = table.data.observation().len();
    let variables = table.variables.iter().enumerate();
    let is_asked: Vec<bool> =
        variables.map(|(channel, variable)| !variable.is_static && !known.contains(&channel)).collect();
    let track = |(id, numbers): (String, Vec<usize>)| {
        let rows = merged(table, &numbers);
        let places: Vec<f64> = rows.iter().map(|(time, ..)| step.place(&table.time, *time)).collect();
        let value = |&(_, number, index): &(f64, usize, usize), channel: usize| {
            let series: &Series<f64> = &table.data.series()[number];
            match series.is_visible(channels, index, channel) {
                true => series.values[index * channels + channel],
                false => f64::NAN,
            }
        };
        let history = |channel: usize| {
            let values: Vec<f64> = rows.iter().map(|row| value(row, channel)).collect();
            History::new(&places, &values)
        };
        let is_observed = |row: &&(f64, usize, usize)| {
            (0..channels).any(|channel| is_asked[channel] && value(row, channel).is_finite())
        };
        let times: Vec<f64> = rows.iter().filter(is_observed).map(|(time, ..)| *time).collect();
        let end = *times.last()?;
        let at = times.iter().map(|&time| step.place(&table.time, time)).collect();
        let histories = (0..channels).map(|channel| is_asked[channel].then(|| history(channel)));
        let known = known.iter().filter(|&&channel| channel < channels);
        let known = known.map(|&channel| (channel, history(channel)));
        Some(Track { id, times, places: at, end, histories: histories.collect(), known: known.collect() })
    };
    pieces(table).into_iter().filter_map(track).collect()
}

impl Track {
    /// The histories of the variables that are known ahead of time.
    pub fn known_histories(&self) -> Vec<&History> {
        self.known.iter().map(|(_, history)| history).collect()
    }

    /// A variable that is to be forecast, beside those that are known ahead of time.
    pub fn explained(&self, channel: usize) -> Option<Explained<'_>> {
        Some(Explained { history: self.histories.get(channel)?.as_ref()?, known: self.known_histories() })
    }

    /// What was known at a time of the user; `None` where nothing was.
    pub fn until(&self, time: f64) -> Option<Track> {
        let count = self.times.partition_point(|&other| other <= time);
        let last = *self.places.get(count.checked_sub(1)?)?;
        let known = |history: &History| {
            history.first(history.places().partition_point(|&place| place <= last + 1e-9))
        };
        Some(Track {
            id: self.id.clone(),
            times: self.times[..count].to_vec(),
            places: self.places[..count].to_vec(),
            end: self.times[count - 1],
            histories: self.histories.iter().map(|history| history.as_ref().map(known)).collect(),
            known: self.known.clone(),
        })
    }
}
