//! What the encoder sees of a batch: points in time with some of their channels.

use super::Targets;
use crate::series::Observation;

/// Which values of the points are there.
#[derive(Clone, Debug, PartialEq)]
pub enum InputEntries {
    /// Each channel of each point on its own: channel `c` of series `b` is observed at the points
    /// `points[offsets[b C + c]..offsets[b C + c + 1]]`.
    PerChannel {
        /// `[B C + 1]`.
        offsets: Vec<usize>,
        /// Series after series, channel after channel.
        points: Vec<u32>,
    },
    /// Every point as a whole: images.
    Whole,
}

/// The inputs of `B` series, `N` points in all, with `C` numbers each.
#[derive(Clone, Debug, PartialEq)]
pub struct EncoderInput {
    /// What is observed at a point.
    pub observation: Observation,
    /// `[B + 1]`: where the points of a series begin.
    pub point_offsets: Vec<usize>,
    /// Values `[N, C]`; 0 where nothing is observed.
    pub values: Vec<f32>,
    /// The distinct times of the batch, increasing, in model time.
    pub distinct_times: Vec<f64>,
    /// `[N]`: the distinct time of each point.
    pub times: Vec<u32>,
    /// Which values are there.
    pub entries: InputEntries,
}

/// The points of one series that the encoder sees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputPoints {
    /// Model times `[T]`.
    pub times: Vec<f64>,
    /// Values `[T, C]`.
    pub values: Vec<f32>,
    /// Which of them are seen, `[T, C]`; without meaning for images, which are seen as a whole.
    pub seen: Vec<bool>,
}

impl EncoderInput {
    /// Collects the points of a batch.
    pub fn new(observation: Observation, series: &[InputPoints]) -> Self {
        let mut distinct_times: Vec<f64> = series.iter().flat_map(|points| &points.times).copied().collect();
        distinct_times.sort_by(f64::total_cmp);
        distinct_times.dedup();
        let entries = match observation {
            Observation::Vector { .. } => InputEntries::PerChannel { offsets: vec![0], points: Vec::new() },
            Observation::Image { .. } => InputEntries::Whole,
        };
        let (point_offsets, values, times) = (vec![0], Vec::new(), Vec::new());
        let mut input = Self { observation, point_offsets, values, distinct_times, times, entries };
        for points in series {
            input.push(points);
        }
        input
    }

    /// Numbers `C` of a point.
    pub fn channels(&self) -> usize {
        self.observation.len()
    }

    /// Series `B`.
    pub fn series(&self) -> usize {
        self.point_offsets.len() - 1
    }

    /// Points `N`.
    pub fn points(&self) -> usize {
        self.times.len()
    }

    /// The model time of a point.
    pub fn time(&self, point: usize) -> f64 {
        self.distinct_times[self.times[point] as usize]
    }

    /// Which values of the points are there, `[N, C]`.
    pub fn seen(&self) -> Vec<bool> {
        let channels = self.channels();
        let InputEntries::PerChannel { offsets, points } = &self.entries else {
            return vec![true; self.values.len()];
        };
        let mut seen = vec![false; self.values.len()];
        for (row, pair) in offsets.windows(2).enumerate() {
            points[pair[0]..pair[1]]
                .iter()
                .for_each(|&point| seen[point as usize * channels + row % channels] = true);
        }
        seen
    }

    /// Every point as a series of its own, at time 0.
    pub fn point_by_point(&self) -> Self {
        let offsets: Vec<usize> = (0..=self.points()).collect();
        let mut points = self.collected(&offsets);
        points.iter_mut().for_each(|point| point.times = vec![0.0]);
        Self::new(self.observation, &points)
    }

    /// The points between two offsets each, as they are collected from.
    pub(crate) fn collected(&self, offsets: &[usize]) -> Vec<InputPoints> {
        let (channels, seen) = (self.channels(), self.seen());
        let between = |pair: &[usize]| {
            let entries = pair[0] * channels..pair[1] * channels;
            InputPoints {
                times: (pair[0]..pair[1]).map(|point| self.time(point)).collect(),
                values: self.values[entries.clone()].to_vec(),
                seen: seen[entries].to_vec(),
            }
        };
        offsets.windows(2).map(between).collect()
    }

    /// Where `features` numbers of every point are there: as [`InputEntries::PerChannel`] has it. Whole points
    /// have all of their features; those that are there channel by channel have just as many features as
    /// channels.
    pub fn entries_of(&self, features: usize) -> (Vec<usize>, Vec<u32>) {
        match &self.entries {
            InputEntries::PerChannel { offsets, points } => (offsets.clone(), points.clone()),
            InputEntries::Whole => {
                let mut offsets = vec![0];
                let mut points = Vec::with_capacity(self.points() * features);
                for pair in self.point_offsets.windows(2) {
                    for _ in 0..features {
                        points.extend((pair[0]..pair[1]).map(|point| point as u32));
                        offsets.push(points.len());
                    }
                }
                (offsets, points)
            }
        }
    }

    fn push(&mut self, points: &InputPoints) {
        let (first, channels) = (self.times.len(), self.channels());
        for time in &points.times {
            let index = self.distinct_times.binary_search_by(|t| t.total_cmp(time)).unwrap_or_default();
            self.times.push(index as u32);
        }
        match &mut self.entries {
            InputEntries::Whole => self.values.extend_from_slice(&points.values),
            InputEntries::PerChannel { offsets, points: entries } => {
                let values = points.values.iter().zip(&points.seen);
                self.values.extend(values.map(|(&value, &seen)| if seen { value } else { 0.0 }));
                for channel in 0..channels {
                    let seen = (0..points.times.len()).filter(|i| points.seen[i * channels + channel]);
                    entries.extend(seen.map(|i| (first + i) as u32));
                    offsets.push(entries.len());
                }
            }
        }
        self.point_offsets.push(self.times.len());
    }
}

/// Every point of the targets as the only one of a series, at time 0.
pub(crate) fn target_points(targets: &Targets) -> impl Iterator<Item = InputPoints> {
    let channels = targets.channels().max(1);
    let mut observed = vec![false; targets.values().len()];
    (0..targets.series()).for_each(|b| targets.for_each_entry(b, |place, _| observed[place] = true));
    targets.values().chunks_exact(channels).enumerate().map(move |(point, values)| InputPoints {
        times: vec![0.0],
        values: values.to_vec(),
        seen: observed[point * channels..][..channels].to_vec(),
    })
}
