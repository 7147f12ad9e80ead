//! Windows that lie across the borders of others.
//!
//! A long series is cut into windows, and near the border of one its neighbour knows more about a gap than itself. A
//! *bridge* is the window from the middle of one to the middle of the next. It answers for the last quarter of the one
//! and for the first quarter of the other, so that whatever is asked for has a quarter of a window around it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::{EstimatorError, Prepared};
use crate::series::table::{Align, Sampling, TableVariable};
use crate::series::{Dataset, Labels, Observation, Series, SeriesError, SeriesSource};

/// The part of a window that it answers for itself, as a share of its length, where bridges answer for the rest.
pub(super) const OWN: Range<f64> = 0.25..0.75;

/// How windows of one length lie across each other.
#[derive(Debug)]
pub(super) struct Bridges {
    sampling: Sampling,
    window: f64,
    channels: usize,
    statics: Vec<usize>,
}

impl Bridges {
    /// `None` where series are not cut into windows that count from their beginnings.
    pub fn new(sampling: Sampling, variables: &[TableVariable]) -> Option<Self> {
        let window = sampling.window.filter(|_| sampling.align == Align::Start)?;
        let statics = (0..variables.len()).filter(|&channel| variables[channel].is_static).collect();
        Some(Self { sampling, window, channels: variables.len(), statics })
    }

    /// The pairs of series that are neighbouring windows, in the order of the first of them.
    pub fn pairs(&self, data: &Dataset, origins: &[f64]) -> Vec<(usize, usize)> {
        let inside = |series: &Series| series.times.iter().all(|time| (0.0..self.window).contains(time));
        let windows = || data.series().iter().zip(origins).enumerate().filter(|(_, (one, _))| inside(one));
        let places: HashMap<(&str, u64), usize> =
            windows().map(|(number, (one, origin))| ((one.id.as_str(), origin.to_bits()), number)).collect();
        let next = |(number, (one, origin)): (usize, (&Series, &f64))| {
            let beginning = self.sampling.beginning(origin + 1.5 * self.window)?;
            Some((number, *places.get(&(one.id.as_str(), beginning.to_bits()))?))
        };
        windows().filter_map(next).collect()
    }

    /// Those of them that have a bridge.
    pub fn pairs_with_bridge(&self, data: &Dataset, origins: &[f64]) -> Vec<(usize, usize)> {
        let window = |number: usize| (&data.series()[number], origins[number]);
        let has_bridge =
            |&(first, second): &(usize, usize)| self.between(window(first), window(second)).is_some();
        self.pairs(data, origins).into_iter().filter(has_bridge).collect()
    }

    /// The pairs of series of a source that are neighbouring windows with a bridge between them, in the order of the first
    /// of them. Windows of a series follow each other there.
    pub fn neighbours(
        &self,
        data: &dyn SeriesSource,
        origins: &[f64],
    ) -> Result<Vec<(usize, usize)>, SeriesError> {
        let mut pairs = Vec::new();
        let mut before: Option<Series> = None;
        data.for_each(&mut |number, series| {
            if let Some(before) = before.as_ref().filter(|before| before.id == series.id) {
                let beginning = self.sampling.beginning(origins[number - 1] + 1.5 * self.window);
                let inside = |one: &Series| one.times.iter().all(|time| (0.0..self.window).contains(time));
                let is_next = beginning == Some(origins[number]) && inside(before) && inside(series);
                let windows = [(before, origins[number - 1]), (series, origins[number])];
                if is_next && self.between(windows[0], windows[1]).is_some() {
                    pairs.push((number - 1, number));
                }
            }
            before = Some(series.clone());
            Ok(())
        })?;
        Ok(pairs)
    }

    /// Where the bridge from a window to the next counts its times from.
    fn origin(&self, origin: f64) -> f64 {
        origin + 0.5 * self.window
    }

    /// The bridge between two windows, each with its origin; `None` where there is nothing in it.
    pub fn between(&self, first: (&Series, f64), second: (&Series, f64)) -> Option<Series> {
        let origin = self.origin(first.1);
        let middle = |series: &Series| series.times.partition_point(|&time| time < 0.5 * self.window);
        let parts = [
            (first.0, first.1, middle(first.0)..first.0.times.len()),
            (second.0, second.1, 0..middle(second.0)),
        ];
        let mut bridge = Series { id: first.0.id.clone(), ..Series::default() };
        let (mut observed, mut withheld) = (Vec::new(), Vec::new());
        for (series, shift, times) in parts.clone() {
            bridge.times.extend(series.times[times.clone()].iter().map(|time| (shift + time) - origin));
            let places = times.start * self.channels..times.end * self.channels;
            bridge.values.extend_from_slice(&series.values[places.clone()]);
            let entries = places.map(|place| (place / self.channels, place % self.channels));
            for (index, channel) in entries {
                let is_observed = series.is_observed(self.channels, index, channel);
                observed.push(is_observed);
                withheld.push(is_observed && !series.is_visible(self.channels, index, channel));
            }
        }
        if bridge.times.is_empty() {
            return None;
        }
        self.move_statics(&mut bridge.values, &mut observed, [first.0, second.0]);
        bridge.observed = Some(observed);
        bridge.withheld = withheld.contains(&true).then_some(withheld);
        bridge.labels = labels(&first.0.labels, &second.0.labels, [&parts[0].2, &parts[1].2]);
        Some(bridge)
    }

    /// Static values are observed at the first time, as in every window, and nowhere else.
    fn move_statics(&self, values: &mut [f32], observed: &mut [bool], of: [&Series; 2]) {
        for &channel in &self.statics {
            observed.iter_mut().skip(channel).step_by(self.channels).for_each(|observed| *observed = false);
            let has =
                |series: &&Series| !series.times.is_empty() && series.is_visible(self.channels, 0, channel);
            if let Some(series) = of.into_iter().find(has) {
                values[channel] = series.values[channel];
                observed[channel] = true;
            }
        }
    }
}

/// Windows and, after them, the bridges between some of them, each made when it is asked for.
#[derive(Debug)]
pub(super) struct WithBridges<'a> {
    pub data: &'a dyn SeriesSource,
    pub origins: &'a [f64],
    pub bridges: Bridges,
    pub pairs: Vec<(usize, usize)>,
}

impl SeriesSource for WithBridges<'_> {
    fn observation(&self) -> Observation {
        self.data.observation()
    }

    fn len(&self) -> usize {
        self.data.len() + self.pairs.len()
    }

    fn get(&self, number: usize) -> Result<Cow<'_, Series>, SeriesError> {
        let Some(place) = number.checked_sub(self.data.len()) else { return self.data.get(number) };
        let (first, second) = self.pairs[place];
        let windows = (self.data.get(first)?, self.data.get(second)?);
        let origins = (self.origins[first], self.origins[second]);
        let bridge = self.bridges.between((&windows.0, origins.0), (&windows.1, origins.1));
        Ok(Cow::Owned(bridge.unwrap_or_default()))
    }
}

fn labels(first: &Labels, second: &Labels, [late, early]: [&Range<usize>; 2]) -> Labels {
    match (first, second) {
        (Labels::ClassPerTime(first), Labels::ClassPerTime(second)) => {
            Labels::ClassPerTime([&first[late.clone()], &second[early.clone()]].concat())
        }
        (Labels::Class(class), _) => Labels::Class(*class),
        _ => Labels::None,
    }
}

/// The windows that answer for a series, as numbers in their data set: the bridge to the one before, the bridge to the
/// one after.
pub(super) type Around = [Option<usize>; 2];

/// Windows with the bridges between them, and which of them answers for what.
pub(super) struct Bridged {
    /// The windows, and after them their bridges.
    pub prepared: Prepared,
    around: Vec<Around>,
    window: f64,
}

impl Bridged {
    /// Adds the bridges between windows.
    ///
    /// # Errors
    /// Never for valid series.
    pub fn new(bridges: Option<Bridges>, prepared: Prepared) -> Result<Self, EstimatorError> {
        let mut around: Vec<Around> = vec![[None; 2]; prepared.data.series().len()];
        let Some(bridges) = bridges else { return Ok(Self { prepared, around, window: f64::INFINITY }) };
        let pairs = bridges.pairs(&prepared.data, &prepared.origins);
        let Prepared { data, mut origins, mut user_times, warnings } = prepared;
        let observation = data.observation();
        let mut all = data.into_series();
        for (first, second) in pairs {
            let windows = [first, second].map(|number| (&all[number], origins[number]));
            let Some(bridge) = bridges.between(windows[0], windows[1]) else { continue };
            around[first][1] = Some(all.len());
            around[second][0] = Some(all.len());
            let origin = bridges.origin(origins[first]);
            user_times.push(bridge.times.iter().map(|time| origin + time).collect());
            origins.push(origin);
            all.push(bridge);
        }
        let data = Dataset::new(observation, all)?;
        Ok(Self {
            prepared: Prepared { data, origins, user_times, warnings },
            around,
            window: bridges.window,
        })
    }

    /// Windows that are no bridges.
    pub fn windows(&self) -> usize {
        self.around.len()
    }

    /// Which window answers for a time of window `number`, and the time as that window counts it.
    pub fn answering(&self, number: usize, time: f64) -> (usize, f64) {
        let [before, after] = self.around[number];
        let bridge = match time {
            _ if time < OWN.start * self.window => before,
            _ if time >= OWN.end * self.window => after,
            _ => None,
        };
        match bridge {
            Some(bridge) => {
                let origins = &self.prepared.origins;
                (bridge, (origins[number] + time) - origins[bridge])
            }
            None => (number, time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLING: Sampling = Sampling { window: Some(8.0), align: Align::Start };

    fn variables() -> Vec<TableVariable> {
        ["age", "load"].map(|name| TableVariable { name: name.into(), is_static: name == "age" }).to_vec()
    }

    /// A window with an age of 70 and the load `begin + t` at every hour.
    fn window(id: &str, begin: f32) -> Series {
        let hours: Vec<f64> = (0..8).map(f64::from).collect();
        Series {
            id: id.into(),
            values: hours.iter().flat_map(|&hour| [70.0, begin + hour as f32]).collect(),
            observed: Some((0..8).flat_map(|hour| [hour == 0, true]).collect()),
            withheld: Some((0..8).flat_map(|hour| [false, hour == 7]).collect()),
            times: hours,
            ..Series::default()
        }
    }

    fn bridged() -> Bridged {
        let windows = vec![window("a", 0.0), window("a", 8.0), window("a", 24.0), window("b", 16.0)];
        let data = Dataset::new(Observation::Vector { channels: 2 }, windows).unwrap();
        let prepared = Prepared::new(data, vec![0.0, 8.0, 24.0, 16.0]);
        Bridged::new(Bridges::new(SAMPLING, &variables()), prepared).unwrap()
    }

    #[test]
    fn a_bridge_has_the_halves_of_its_windows_and_their_statics() {
        let bridged = bridged();
        // Window 16 of `a` is missing, and `b` is another series.
        assert_eq!(bridged.prepared.data.series().len(), 5);
        let bridge = &bridged.prepared.data.series()[4];
        assert_eq!(bridge.times, (0..8).map(f64::from).collect::<Vec<_>>());
        assert_eq!(bridged.prepared.origins[4], 4.0);
        let loads: Vec<f32> = bridge.values.iter().skip(1).step_by(2).copied().collect();
        assert_eq!(loads, (4..12).map(|load| load as f32).collect::<Vec<_>>());
        assert_eq!(bridge.values[0], 70.0);
        let ages: Vec<bool> = (0..8).map(|i| bridge.is_observed(2, i, 0)).collect();
        assert_eq!(ages, (0..8).map(|i| i == 0).collect::<Vec<_>>());
        // What was withheld of a window is withheld of its bridge.
        let visible: Vec<bool> = (0..8).map(|i| bridge.is_visible(2, i, 1)).collect();
        assert_eq!(visible, (0..8).map(|i| i != 3).collect::<Vec<_>>());
    }

    #[test]
    fn every_time_is_answered_by_the_window_it_lies_deepest_in() {
        let bridged = bridged();
        assert_eq!(bridged.answering(0, 0.0), (0, 0.0), "nothing lies before the first window");
        assert_eq!(bridged.answering(0, 5.9), (0, 5.9));
        assert_eq!(bridged.answering(0, 6.0), (4, 2.0));
        assert_eq!(bridged.answering(1, 1.5), (4, 5.5));
        assert_eq!(bridged.answering(1, 2.0), (1, 2.0));
        assert_eq!(bridged.answering(1, 7.5), (1, 7.5), "the next window is not there");
        assert_eq!(bridged.answering(3, 7.5), (3, 7.5));
    }

    #[test]
    fn whole_series_have_no_bridges() {
        let data = Dataset::new(Observation::Vector { channels: 2 }, vec![window("a", 0.0); 2]).unwrap();
        let prepared = Prepared::new(data, vec![0.0, 8.0]);
        let bridged = Bridged::new(Bridges::new(Sampling::default(), &variables()), prepared).unwrap();
        assert_eq!((bridged.windows(), bridged.prepared.data.series().len()), (2, 2));
        assert_eq!(bridged.answering(1, 7.9), (1, 7.9));
    }
}
