//! Means of the parts of the loss over an epoch.

use crate::entries::entries;
use crate::objective::Objective;

/// The losses of some series and the parts of these losses, as numbers: first all losses, then all entries of one part
/// after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SeriesLosses {
    pub names: Vec<&'static str>,
    pub numbers: Vec<f64>,
}

impl SeriesLosses {
    pub fn of(objective: &Objective) -> Self {
        let parts = objective.parts.iter().map(|(_, part)| part);
        let numbers = [&objective.losses].into_iter().chain(parts).flat_map(|part| entries(part.clone()));
        Self {
            names: objective.parts.iter().map(|(name, _)| *name).collect(),
            numbers: numbers.map(f64::from).collect(),
        }
    }

    /// Those of neighbouring pieces of a batch, of which piece `i` has `counts[i]` series.
    pub fn joined(names: Vec<&'static str>, pieces: &[Vec<f64>], counts: &[usize]) -> Self {
        let width =
            pieces.first().zip(counts.first()).map_or(0, |(piece, count)| piece.len() / count.max(&1));
        let part = |part: usize| {
            let of_piece =
                move |(piece, &count): (&Vec<f64>, &usize)| piece[part * count..][..count].to_vec();
            pieces.iter().zip(counts).flat_map(of_piece)
        };
        Self { names, numbers: (0..width).flat_map(part).collect() }
    }
}

/// Means over the series of an epoch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EpochMeans {
    /// What is minimised.
    pub loss: f64,
    /// The parts of the loss, by name.
    pub parts: Vec<(&'static str, f64)>,
    series: f64,
}

impl EpochMeans {
    /// Takes in a batch of so many series.
    pub(super) fn add(&mut self, losses: &SeriesLosses, count: usize) {
        self.series += count as f64;
        let series = self.series;
        let mut parts = losses.numbers.chunks_exact(count.max(1));
        let mut mean = |mean: &mut f64| {
            if let Some(part) = parts.next() {
                *mean += (part.iter().sum::<f64>() - count as f64 * *mean) / series;
            }
        };
        mean(&mut self.loss);
        if self.parts.is_empty() {
            self.parts = losses.names.iter().map(|name| (*name, 0.0)).collect();
        }
        self.parts.iter_mut().for_each(|(_, part)| mean(part));
    }
}
