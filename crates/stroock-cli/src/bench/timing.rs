//! Many times of the same thing.

use serde::Serialize;
use stroock::predict::quantile;

/// Milliseconds of repeated measurements.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Timing {
    /// Median.
    pub median_ms: f64,
    /// Tenth percentile.
    pub low_ms: f64,
    /// Ninetieth percentile.
    pub high_ms: f64,
}

impl Timing {
    /// Of times in seconds.
    pub fn of(seconds: &[f64]) -> Self {
        let mut sorted: Vec<f64> = seconds.iter().map(|seconds| seconds * 1e3).collect();
        sorted.sort_by(f64::total_cmp);
        let at = |level| (quantile(&sorted, level) * 1e3).round() / 1e3;
        Self { median_ms: at(0.5), low_ms: at(0.1), high_ms: at(0.9) }
    }
}
