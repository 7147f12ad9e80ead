//! Ragged batches that the tests of the encoder share.
#![allow(dead_code, reason = "each test file uses its part")]

use std::ops::Range;

use stroock_kernels::attention::{AttentionProblem, AttentionReal, Entries};
use stroock_kernels::noise::philox;

/// A number in (-1, 1) that depends on `seed` and `i` alone.
pub fn scatter(seed: u32, i: usize) -> f64 {
    f64::from(philox([i as u32, seed, 0, 0], [0x5EED, 0])[0] as i32) / 2f64.powi(31)
}

/// An owned attention problem.
#[derive(Clone, Debug)]
pub struct Ragged<T> {
    pub width: usize,
    pub channels: usize,
    pub queries: Vec<T>,
    pub keys: Vec<T>,
    pub values: Vec<T>,
    pub offsets: Vec<usize>,
    pub points: Vec<u32>,
    pub times: Vec<u32>,
    pub point_offsets: Vec<usize>,
}

impl<T: AttentionReal> Ragged<T> {
    /// Series of 3, 0, 1, 12, 7, 3, .. points whose times are shared, with about a third of the entries.
    pub fn new(series: usize, references: usize, width: usize, channels: usize) -> Self {
        let distinct = 2 + series;
        let mut point_offsets = vec![0];
        let (mut offsets, mut points) = (vec![0], Vec::new());
        for b in 0..series {
            let first = point_offsets[b];
            let end = first + [3, 0, 1, 12, 7][(b + series) % 5].max(if b + 1 == series { 12 } else { 0 });
            for c in 0..channels {
                let is_observed = |p: &usize| scatter(1, p * channels + c) > 0.3;
                points.extend((first..end).filter(is_observed).map(|p| p as u32));
                offsets.push(points.len());
            }
            point_offsets.push(end);
        }
        let count = point_offsets[series];
        let numbers =
            |seed, count: usize, scale: f64| (0..count).map(|i| T::of(scale * scatter(seed, i))).collect();
        Self {
            width,
            channels,
            queries: numbers(2, references * width, 2.0),
            keys: numbers(3, distinct * width, 2.0),
            values: numbers(4, count * channels, 1.0),
            offsets,
            points,
            times: (0..count).map(|p| ((scatter(5, p) + 1.0) / 2.0 * distinct as f64) as u32).collect(),
            point_offsets,
        }
    }

    pub fn problem(&self) -> AttentionProblem<'_, T> {
        AttentionProblem {
            width: self.width,
            channels: self.channels,
            queries: &self.queries,
            keys: &self.keys,
            values: &self.values,
            entries: Entries {
                offsets: &self.offsets,
                points: &self.points,
                times: &self.times,
                point_offsets: &self.point_offsets,
            },
        }
    }

    /// The same in single precision.
    pub fn single(&self) -> Ragged<f32> {
        let round = |values: &[T]| values.iter().map(|x| x.as_f64() as f32).collect();
        Ragged {
            width: self.width,
            channels: self.channels,
            queries: round(&self.queries),
            keys: round(&self.keys),
            values: round(&self.values),
            offsets: self.offsets.clone(),
            points: self.points.clone(),
            times: self.times.clone(),
            point_offsets: self.point_offsets.clone(),
        }
    }

    /// Some of the series, with the distinct times that occur in them.
    pub fn part(&self, series: Range<usize>) -> Self {
        let own = self.point_offsets[series.start]..self.point_offsets[series.end];
        let runs = series.start * self.channels..series.end * self.channels;
        let entries = self.offsets[runs.start]..self.offsets[runs.end];
        let mut used: Vec<u32> = self.times[own.clone()].to_vec();
        used.sort_unstable();
        used.dedup();
        let key = |u: &u32| self.keys[*u as usize * self.width..][..self.width].to_vec();
        Self {
            width: self.width,
            channels: self.channels,
            queries: self.queries.clone(),
            keys: used.iter().flat_map(key).collect(),
            values: self.values[own.start * self.channels..own.end * self.channels].to_vec(),
            offsets: self.offsets[runs.start..=runs.end].iter().map(|o| o - entries.start).collect(),
            points: self.points[entries].iter().map(|p| p - own.start as u32).collect(),
            times: self.times[own.clone()].iter().map(|u| used.binary_search(u).unwrap() as u32).collect(),
            point_offsets: self.point_offsets[series.start..=series.end]
                .iter()
                .map(|p| p - own.start)
                .collect(),
        }
    }
}
