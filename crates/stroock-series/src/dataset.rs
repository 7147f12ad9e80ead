//! The data model: every series has its own times, and every value may be missing.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What is observed at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Observation {
    /// A vector of numbers, any of which may be missing.
    Vector {
        /// Its length.
        channels: usize,
    },
    /// An image, present as a whole or missing as a whole.
    Image {
        /// Colours.
        channels: usize,
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
    },
}

impl Observation {
    /// Numbers in one observation.
    pub fn len(&self) -> usize {
        match *self {
            Observation::Vector { channels } => channels,
            Observation::Image { channels, height, width } => {
                channels.saturating_mul(height).saturating_mul(width)
            }
        }
    }

    /// Whether an observation has no numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What is to be predicted beside the observations.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Labels {
    /// Nothing.
    #[default]
    None,
    /// A class for the whole series.
    Class(u32),
    /// A class at every time; `None` where it is unknown.
    ClassPerTime(Vec<Option<u32>>),
    /// Real numbers at every time, `[T, width]`.
    RealPerTime {
        /// Numbers a time.
        width: usize,
        /// `[T, width]`.
        values: Vec<f32>,
    },
}

/// One time series.
///
/// `V` is `f64` for values in the units of the user, which come back as they were given, and `f32` (the default) for
/// values in the units of a model, which takes them in single precision: large sets of images stay half as large.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series<V = f32> {
    /// Name of the series.
    pub id: String,
    /// Increasing times in the units of the user, `[T]`.
    pub times: Vec<f64>,
    /// Values `[T, C]`; those that are not observed are without meaning.
    pub values: Vec<V>,
    /// Which values are observed, `[T, C]`; `None` means all of them.
    pub observed: Option<Vec<bool>>,
    /// Which values the encoder must not see although they are observed, `[T, C]`; `None` means none of them.
    pub withheld: Option<Vec<bool>>,
    /// What is to be predicted beside the observations.
    pub labels: Labels,
}

/// Series with observations of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset<V = f32> {
    observation: Observation,
    series: Vec<Series<V>>,
}

/// Why series do not make a data set.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SeriesError {
    /// A list of a series has the wrong length.
    #[error("series `{series}`: `{list}` has {actual} entries, but {expected} are needed")]
    Length {
        /// Name of the series.
        series: String,
        /// Name of the list.
        list: &'static str,
        /// Length by the times and the kind of observation.
        expected: usize,
        /// Given length.
        actual: usize,
    },
    /// Times do not increase, or one is not a number.
    #[error("series `{series}`: time {index} ({time}) does not lie after the one before it")]
    Times {
        /// Name of the series.
        series: String,
        /// Index of the time.
        index: usize,
        /// The time.
        time: f64,
    },
    /// An observed value is not finite.
    #[error("series `{series}`: the value of channel {channel} at time {index} is observed but not finite")]
    NotFinite {
        /// Name of the series.
        series: String,
        /// Index of the time.
        index: usize,
        /// Channel.
        channel: usize,
    },
    /// A temporary file cannot be written or read.
    #[error("a temporary file in `{folder}`: {message}; name a folder on a disk with more room")]
    Scratch {
        /// The folder.
        folder: String,
        /// The reason.
        message: String,
    },
}

impl SeriesError {
    /// An error of the operating system about a temporary file in a folder.
    pub(crate) fn scratch(folder: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |error| SeriesError::Scratch { folder: folder.display().to_string(), message: error.to_string() }
    }
}

impl<V> Series<V> {
    /// Whether the value of `channel` at time `index` is observed, for observations of `channels` numbers.
    pub fn is_observed(&self, channels: usize, index: usize, channel: usize) -> bool {
        self.observed.as_ref().is_none_or(|observed| observed[index * channels + channel])
    }

    /// Whether an encoder may see the value of `channel` at time `index`: it is observed and not withheld.
    pub fn is_visible(&self, channels: usize, index: usize, channel: usize) -> bool {
        let withheld = self.withheld.as_ref().is_some_and(|withheld| withheld[index * channels + channel]);
        self.is_observed(channels, index, channel) && !withheld
    }
}

impl<V: Copy + Into<f64>> Series<V> {
    pub(crate) fn check(&self, observation: Observation) -> Result<(), SeriesError> {
        let (count, channels) = (self.times.len(), observation.len());
        let length = |list, expected, actual| {
            if expected == actual {
                return Ok(());
            }
            Err(SeriesError::Length { series: self.id.clone(), list, expected, actual })
        };
        length("values", count * channels, self.values.len())?;
        for (list, mask) in [("observed", &self.observed), ("withheld", &self.withheld)] {
            if let Some(mask) = mask {
                length(list, count * channels, mask.len())?;
            }
        }
        match &self.labels {
            Labels::None | Labels::Class(_) => {}
            Labels::ClassPerTime(classes) => length("target", count, classes.len())?,
            Labels::RealPerTime { width, values } => length("target", count * width, values.len())?,
        }
        let increases = |index: usize| {
            self.times[index].is_finite() && (index == 0 || self.times[index] > self.times[index - 1])
        };
        if let Some(index) = (0..count).find(|&index| !increases(index)) {
            return Err(SeriesError::Times { series: self.id.clone(), index, time: self.times[index] });
        }
        let missing = |place: &usize| self.observed.as_ref().is_some_and(|observed| !observed[*place]);
        match (0..self.values.len()).find(|place| !self.values[*place].into().is_finite() && !missing(place))
        {
            Some(place) => Err(SeriesError::NotFinite {
                series: self.id.clone(),
                index: place / channels,
                channel: place % channels,
            }),
            None => Ok(()),
        }
    }
}

impl<V: Copy + Into<f64>> Dataset<V> {
    /// A data set of series with observations of one kind.
    ///
    /// ```
    /// use stroock_series::{Dataset, Observation, Series};
    /// let series = Series {
    ///     id: "patient 7".into(),
    ///     times: vec![0.0, 0.7, 2.5],
    ///     values: vec![36.6, 80.0, 37.1, f64::NAN, 37.4, 92.0],
    ///     observed: Some(vec![true, true, true, false, true, true]),
    ///     ..Series::default()
    /// };
    /// let dataset = Dataset::new(Observation::Vector { channels: 2 }, vec![series])?;
    /// assert_eq!(dataset.series().len(), 1);
    /// # Ok::<(), stroock_series::SeriesError>(())
    /// ```
    ///
    /// # Errors
    /// When lengths do not fit, times do not increase, or an observed value is not finite.
    pub fn new(observation: Observation, series: Vec<Series<V>>) -> Result<Self, SeriesError> {
        series.iter().try_for_each(|series| series.check(observation))?;
        Ok(Self { observation, series })
    }

    /// What is observed at a time.
    pub fn observation(&self) -> Observation {
        self.observation
    }

    /// All series.
    pub fn series(&self) -> &[Series<V>] {
        &self.series
    }

    /// The series themselves.
    pub fn into_series(self) -> Vec<Series<V>> {
        self.series
    }

    /// Earliest and latest time of all series; `None` where there is no time at all.
    pub fn time_range(&self) -> Option<(f64, f64)> {
        let firsts = self.series.iter().filter_map(|series| series.times.first());
        let lasts = self.series.iter().filter_map(|series| series.times.last());
        Some((firsts.copied().reduce(f64::min)?, lasts.copied().reduce(f64::max)?))
    }
}
