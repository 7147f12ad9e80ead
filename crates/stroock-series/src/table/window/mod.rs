//! Long series cut into windows, and times that count from their beginnings.

mod boundary;
mod suggest;

use std::iter::repeat;

use serde::{Deserialize, Serialize};

use super::align::{self, Align};
use super::{Table, TableVariable};
use crate::{Dataset, Labels, Observation, Series};
use boundary::Boundaries;

pub(super) use suggest::Facts;
pub use suggest::Suggestion;

/// How long series become many comparable ones, and where their times count from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sampling {
    /// Length of a window in the units of [`Series::times`]; `None` leaves series whole, as does a length
    /// that is not finite and positive.
    pub window: Option<f64>,
    /// Where the times of a series count from.
    pub align: Align,
}

impl Sampling {
    /// Where the window of a time of the user begins; `None` where series are left whole.
    ///
    /// ```
    /// use stroock_series::table::{Align, Sampling};
    /// let sampling = Sampling { window: Some(24.0), align: Align::Start };
    /// assert_eq!(sampling.beginning(50.0), Some(48.0));
    /// ```
    pub fn beginning(&self, time: f64) -> Option<f64> {
        Some(self.window.and_then(Boundaries::new)?.beginning(time))
    }

    /// Cuts series, in whatever units their values are, and returns the origins of the windows with them; see
    /// [`Table::sampled`]. The points stay in their order.
    pub fn cut<V: Copy + Into<f64>>(
        self,
        data: Dataset<V>,
        origins: &[f64],
        variables: &[TableVariable],
    ) -> (Dataset<V>, Vec<f64>) {
        let observation = data.observation();
        let cut = self.cutter(observation, variables);
        let all = data.into_series().into_iter().zip(origins.iter().copied().chain(repeat(0.0)));
        let (pieces, origins) = all.flat_map(|(series, origin)| cut.pieces(series, origin)).unzip();
        let data = Dataset::new(observation, pieces).expect("parts of valid series are valid");
        (data, origins)
    }

    /// What cuts series of the given variables one by one.
    pub(super) fn cutter(self, observation: Observation, variables: &[TableVariable]) -> Cut {
        let boundaries = self.window.and_then(Boundaries::new);
        let statics = static_channels(variables);
        Cut { channels: observation.len(), statics, boundaries, align: self.align }
    }
}

impl Table {
    /// The same observations, with series cut into windows and times that count from their origins.
    ///
    /// A window `k` of length `w` has the times `k w <= t < (k + 1) w` of the user; for dates these count
    /// from the beginning of 1970 in UTC, so that windows of whole days begin at midnight there. The origin
    /// of a window is `k w`, whether or not there is a time: the time of day is the same number in all
    /// windows. Windows without any time are not made. All windows of a series have its name, its class and
    /// its static values, which are observed at the first time of each.
    ///
    /// Times of the user stay what they are: `origins[i] + times` is the same double before and after, save
    /// for the rounding of times that count from an origin below zero. A series whose times would fall
    /// together when counted from its origin counts from zero. Windows are not put together again by a later
    /// call.
    ///
    /// ```
    /// use stroock_series::table::{Align, ReadOptions, Sampling, Table};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("plant.csv");
    /// # std::fs::write(&path, "sensor,hours,load\na,23.5,0.1\na,24.25,0.2\na,49,0.3\n")?;
    ///
    /// let table = Table::read(&[path], &ReadOptions::default())?;
    /// assert_eq!(table.data.series()[0].times, [23.5, 24.25, 49.0]);
    /// let days = table.sampled(Sampling { window: Some(24.0), align: Align::Start });
    /// assert_eq!(days.origins, [0.0, 24.0, 48.0]);
    /// assert_eq!(days.data.series()[1].times, [0.25]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sampled(self, sampling: Sampling) -> Table {
        let (data, origins) = sampling.cut(self.data, &self.origins, &self.variables);
        Table { data, origins, ..self }
    }

    /// How many series the table would have with windows of this length.
    pub(super) fn window_count(&self, length: f64) -> usize {
        let series = self.data.series().iter().zip(&self.origins);
        series.map(|(series, origin)| windows_of(series, *origin, length)).sum()
    }
}

/// How many windows of a length a series would have.
pub(super) fn windows_of(series: &Series<f64>, origin: f64, length: f64) -> usize {
    let Some(boundaries) = Boundaries::new(length) else { return 1 };
    let beginnings: Vec<f64> = series.times.iter().map(|time| boundaries.beginning(origin + time)).collect();
    beginnings.chunk_by(|one, next| one == next).count().max(1)
}

fn static_channels(variables: &[TableVariable]) -> Vec<usize> {
    (0..variables.len()).filter(|&channel| variables[channel].is_static).collect()
}

/// The series with times that count from the origin that is returned beside it.
fn aligned<V>(mut series: Series<V>, beginning: Option<f64>, align: Align) -> (Series<V>, f64) {
    let origin = match align {
        Align::None => None,
        Align::Start => beginning.or_else(|| align::start(&series.times)),
    };
    match origin.and_then(|origin| Some((align::since(&series.times, origin)?, origin))) {
        Some((times, origin)) => {
            series.times = times;
            (series, origin)
        }
        None => (series, 0.0),
    }
}

/// Cuts series one by one.
pub(super) struct Cut {
    channels: usize,
    statics: Vec<usize>,
    boundaries: Option<Boundaries>,
    align: Align,
}

impl Cut {
    /// The windows of a series whose times count from `origin`, each with its own origin.
    pub(super) fn pieces<V: Copy>(&self, mut series: Series<V>, origin: f64) -> Vec<(Series<V>, f64)> {
        let Some(times) = align::from_zero(&series.times, origin) else { return vec![(series, origin)] };
        series.times = times;
        let windows = self.windows(series).into_iter();
        windows.map(|(series, beginning)| aligned(series, beginning, self.align)).collect()
    }

    /// The windows of a series that have a time, each with its beginning.
    fn windows<V: Copy>(&self, series: Series<V>) -> Vec<(Series<V>, Option<f64>)> {
        let Some(boundaries) = self.boundaries.filter(|_| !series.times.is_empty()) else {
            return vec![(series, None)];
        };
        let beginnings: Vec<f64> = series.times.iter().map(|&time| boundaries.beginning(time)).collect();
        let runs: Vec<&[f64]> = beginnings.chunk_by(|one, next| one == next).collect();
        if runs.len() == 1 {
            return vec![(series, Some(beginnings[0]))];
        }
        let mut first = 0;
        let piece = |run: &[f64]| {
            let piece = self.piece(&series, first, first + run.len());
            first += run.len();
            (piece, Some(run[0]))
        };
        runs.into_iter().map(piece).collect()
    }

    /// The times `first..end` of a series.
    fn piece<V: Copy>(&self, series: &Series<V>, first: usize, end: usize) -> Series<V> {
        let places = first * self.channels..end * self.channels;
        let mask = |mask: &Option<Vec<bool>>| Some(mask.as_ref()?[places.clone()].to_vec());
        let mut piece = Series {
            id: series.id.clone(),
            times: series.times[first..end].to_vec(),
            values: series.values[places.clone()].to_vec(),
            observed: mask(&series.observed),
            withheld: mask(&series.withheld),
            labels: labels(&series.labels, first, end),
        };
        for &channel in &self.statics {
            // The first window has its static values, and without a mask every time has them.
            let Some(observed) = piece.observed.as_mut().filter(|observed| first > 0 && !observed[channel])
            else {
                continue;
            };
            if series.is_observed(self.channels, 0, channel) {
                observed[channel] = true;
                piece.values[channel] = series.values[channel];
                if let (Some(piece), Some(whole)) = (&mut piece.withheld, &series.withheld) {
                    piece[channel] = whole[channel];
                }
            }
        }
        piece
    }
}

fn labels(labels: &Labels, first: usize, end: usize) -> Labels {
    match labels {
        Labels::None => Labels::None,
        Labels::Class(class) => Labels::Class(*class),
        Labels::ClassPerTime(classes) => Labels::ClassPerTime(classes[first..end].to_vec()),
        Labels::RealPerTime { width, values } => {
            Labels::RealPerTime { width: *width, values: values[first * width..end * width].to_vec() }
        }
    }
}
