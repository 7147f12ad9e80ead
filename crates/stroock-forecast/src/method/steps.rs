//! What methods on a grid say, step by step.

use crate::{Errors, Projection};

/// Means one step apart, and errors `e_h = sigma sum_{j < h} weights[j] eps_{h - j}`.
pub struct Steps {
    /// `[steps]`.
    pub mean: Vec<f64>,
    /// `[steps]`, the first of which is 1.
    pub weights: Vec<f64>,
    /// Standard deviation of the error of one step.
    pub sigma: f64,
}

impl Steps {
    /// The projection at distances of whole steps or between them.
    pub fn at(self, ahead: &[f64]) -> Projection {
        let mut variance = 0.0;
        let scales: Vec<f64> = self
            .weights
            .iter()
            .map(|weight| {
                variance += weight * weight;
                self.sigma * f64::sqrt(variance)
            })
            .collect();
        let between = |list: &[f64], ahead: f64| {
            let upper = (ahead.ceil().max(1.0) as usize).min(list.len());
            let lower = if upper > 1 { list[upper - 2] } else { list[0] };
            let share = (upper as f64 - ahead).clamp(0.0, 1.0);
            (1.0 - share) * list[upper - 1] + share * lower
        };
        Projection {
            log: false,
            location: ahead.iter().map(|&ahead| between(&self.mean, ahead)).collect(),
            scale: ahead.iter().map(|&ahead| between(&scales, ahead)).collect(),
            errors: Errors::Moving { ahead: ahead.to_vec(), weights: self.weights },
        }
    }
}
