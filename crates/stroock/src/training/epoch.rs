//! Means of the parts of the loss over an epoch.

use crate::entries::entries;
use crate::objective::Objective;

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
    /// Takes in a batch: its objective, and the losses of its series as numbers.
    pub fn add(&mut self, losses: &[f32], objective: &Objective) {
        let count = losses.len() as f64;
        self.series += count;
        let series = self.series;
        let mean = |mean: &mut f64, entries: &[f32]| {
            *mean += (entries.iter().map(|&x| f64::from(x)).sum::<f64>() - count * *mean) / series;
        };
        mean(&mut self.loss, losses);
        if self.parts.is_empty() {
            self.parts = objective.parts.iter().map(|(name, _)| (*name, 0.0)).collect();
        }
        for ((_, sum), (_, part)) in self.parts.iter_mut().zip(&objective.parts) {
            mean(sum, &entries(part.clone()));
        }
    }
}
