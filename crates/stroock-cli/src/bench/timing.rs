//! Many times of the same thing.

use serde::Serialize;
use stroock::predict::quantile;

/// Milliseconds of repeated measurements.
#[derive(Clone, Debug, Serialize)]
pub struct Timing {
    /// Median.
    pub median_ms: f64,
    /// Tenth percentile.
    pub low_ms: f64,
    /// Ninetieth percentile.
    pub high_ms: f64,
    /// All of them, in their order.
    pub times_ms: Vec<f64>,
}

impl Timing {
    /// Of times in seconds.
    pub fn of(seconds: &[f64]) -> Self {
        let rounded = |ms: f64| (ms * 1e3).round() / 1e3;
        let times_ms: Vec<f64> = seconds.iter().map(|seconds| seconds * 1e3).collect();
        let mut sorted = times_ms.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |level| rounded(quantile(&sorted, level));
        Self {
            median_ms: at(0.5),
            low_ms: at(0.1),
            high_ms: at(0.9),
            times_ms: times_ms.into_iter().map(rounded).collect(),
        }
    }
}
