//! What the likelihood is scored on: the observations of a batch, ragged and with gaps.

use burn::tensor::{Tensor, TensorData};
use thiserror::Error;

use crate::series::SeriesError;

/// Which entries of the targets are observed.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed {
    /// All of them.
    All,
    /// Those at `places` of the flat `[Q, C]` values; series `b` has `places[offsets[b]..offsets[b + 1]]`.
    Entries {
        /// `[B + 1]`.
        offsets: Vec<usize>,
        /// Increasing within a series.
        places: Vec<u32>,
    },
}

/// Observations of `B` series at `Q` points, with `C` channels each.
#[derive(Clone, Debug, PartialEq)]
pub struct Targets {
    channels: usize,
    point_offsets: Vec<usize>,
    values: Vec<f32>,
    observed: Observed,
}

/// Why targets are malformed.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TargetsError {
    /// A slice has the wrong length.
    #[error("`{argument}` has {actual} entries, but its shape asks for {expected}")]
    Length {
        /// Name of the argument.
        argument: &'static str,
        /// Length by the other arguments.
        expected: usize,
        /// Given length.
        actual: usize,
    },
    /// Offsets do not describe consecutive runs.
    #[error("`point_offsets` must start at 0 and never decrease, but entry {index} does not")]
    Offsets {
        /// First entry at fault.
        index: usize,
    },
    /// An observed value is not finite.
    #[error("the value of channel {channel} at point {point} is observed but not finite")]
    NotFinite {
        /// Point, counted over the batch.
        point: usize,
        /// Channel.
        channel: usize,
    },
    /// An observation is not one of the classes.
    #[error(
        "the value of channel {channel} at point {point} is {value}, but classes are the whole numbers below {classes}"
    )]
    Class {
        /// Point, counted over the batch.
        point: usize,
        /// Channel.
        channel: usize,
        /// The value.
        value: f32,
        /// Number of classes.
        classes: usize,
    },
    /// The output of a decoder does not have the shape of the targets.
    #[error("the decoder gave {actual:?} numbers a point, but the targets need {expected}")]
    Output {
        /// Numbers a point that the likelihood needs.
        expected: usize,
        /// Shape of the output.
        actual: Vec<usize>,
    },
    /// A series cannot be read.
    #[error(transparent)]
    Series(#[from] SeriesError),
}

impl Targets {
    /// Targets from values `[Q, C]` and an optional mask `[Q, C]` (1 where observed); series `b` has the
    /// points `point_offsets[b]..point_offsets[b + 1]`.
    ///
    /// ```
    /// use stroock::batch::Targets;
    /// // One series with two points of two channels, one entry missing.
    /// let targets = Targets::new(2, vec![0, 2], vec![1.0, 2.0, 3.0, 0.0], Some(&[true, true, true, false]))?;
    /// assert_eq!(targets.counts(), [3]);
    /// # Ok::<(), stroock::batch::TargetsError>(())
    /// ```
    ///
    /// # Errors
    /// When shapes do not fit or an observed value is not finite.
    pub fn new(
        channels: usize,
        point_offsets: Vec<usize>,
        values: Vec<f32>,
        mask: Option<&[bool]>,
    ) -> Result<Self, TargetsError> {
        if point_offsets.first() != Some(&0) {
            return Err(TargetsError::Offsets { index: 0 });
        }
        if let Some(index) = point_offsets.windows(2).position(|pair| pair[1] < pair[0]) {
            return Err(TargetsError::Offsets { index: index + 1 });
        }
        let points = point_offsets.last().copied().unwrap_or_default();
        check("values", values.len(), points * channels)?;
        let observed = match mask {
            None => Observed::All,
            Some(mask) => {
                check("mask", mask.len(), values.len())?;
                Observed::entries(channels, &point_offsets, mask)
            }
        };
        let targets = Self { channels, point_offsets, values, observed };
        targets.check_finite()?;
        Ok(targets)
    }

    /// Channels `C`.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Series `B`.
    pub fn series(&self) -> usize {
        self.point_offsets.len() - 1
    }

    /// Points `Q` of all series.
    pub fn points(&self) -> usize {
        self.point_offsets[self.series()]
    }

    /// `[B + 1]`: where the points of a series begin.
    pub fn point_offsets(&self) -> &[usize] {
        &self.point_offsets
    }

    /// Values `[Q, C]`; those that are not observed are without meaning.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// How many entries of each series are observed, `[B]`.
    pub fn counts(&self) -> Vec<usize> {
        match &self.observed {
            Observed::All => {
                self.point_offsets.windows(2).map(|pair| (pair[1] - pair[0]) * self.channels).collect()
            }
            Observed::Entries { offsets, .. } => offsets.windows(2).map(|pair| pair[1] - pair[0]).collect(),
        }
    }

    /// The same as a tensor of the kind of `like`, at least 1 for every series: what a sum over entries is divided by.
    pub fn counts_like<const D: usize>(&self, like: &Tensor<D>) -> Tensor<1> {
        let counts: Vec<f32> = self.counts().iter().map(|&count| count.max(1) as f32).collect();
        let shape = [counts.len()];
        Tensor::from_data(TensorData::new(counts, shape), (&like.device(), like.dtype()))
    }

    /// The same series `times` times, one set of them behind the other: for outputs of several samples that are scored
    /// sample by sample.
    ///
    /// ```
    /// use stroock::batch::Targets;
    /// let targets = Targets::new(1, vec![0, 1, 3], vec![1.0, 2.0, 3.0], Some(&[true, false, true]))?;
    /// let twice = targets.repeated(2);
    /// assert_eq!((twice.points(), twice.counts()), (6, vec![1, 1, 1, 1]));
    /// # Ok::<(), stroock::batch::TargetsError>(())
    /// ```
    pub fn repeated(&self, times: usize) -> Self {
        let runs = |offsets: &[usize]| -> Vec<usize> {
            let total = offsets.last().copied().unwrap_or_default();
            let later = (0..times).flat_map(|i| offsets[1..].iter().map(move |offset| i * total + offset));
            std::iter::once(0).chain(later).collect()
        };
        let observed = match &self.observed {
            Observed::All => Observed::All,
            Observed::Entries { offsets, places } => {
                let extent = self.values.len();
                let moved = |i: usize| places.iter().map(move |&place| (i * extent) as u32 + place);
                Observed::Entries { offsets: runs(offsets), places: (0..times).flat_map(moved).collect() }
            }
        };
        Self {
            channels: self.channels,
            point_offsets: runs(&self.point_offsets),
            values: self.values.repeat(times),
            observed,
        }
    }

    /// Calls `f` with the place in `[Q, C]` and the value of every observed entry of a series.
    pub fn for_each_entry(&self, series: usize, mut f: impl FnMut(usize, f32)) {
        match &self.observed {
            Observed::All => {
                let range = self.point_offsets[series] * self.channels
                    ..self.point_offsets[series + 1] * self.channels;
                for place in range {
                    f(place, self.values[place]);
                }
            }
            Observed::Entries { offsets, places } => {
                for &place in &places[offsets[series]..offsets[series + 1]] {
                    f(place as usize, self.values[place as usize]);
                }
            }
        }
    }

    fn check_finite(&self) -> Result<(), TargetsError> {
        let mut fault = None;
        for series in 0..self.series() {
            self.for_each_entry(series, |place, value| {
                if !value.is_finite() && fault.is_none() {
                    fault = Some(place);
                }
            });
        }
        match fault {
            Some(place) => {
                Err(TargetsError::NotFinite { point: place / self.channels, channel: place % self.channels })
            }
            None => Ok(()),
        }
    }
}

impl Observed {
    fn entries(channels: usize, point_offsets: &[usize], mask: &[bool]) -> Self {
        let mut offsets = vec![0];
        let mut places = Vec::new();
        for pair in point_offsets.windows(2) {
            let range = pair[0] * channels..pair[1] * channels;
            places.extend(range.filter(|&place| mask[place]).map(|place| place as u32));
            offsets.push(places.len());
        }
        Observed::Entries { offsets, places }
    }
}

fn check(argument: &'static str, actual: usize, expected: usize) -> Result<(), TargetsError> {
    if actual == expected { Ok(()) } else { Err(TargetsError::Length { argument, expected, actual }) }
}
