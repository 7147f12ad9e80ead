//! Many times of the same thing.

use std::fmt;

use serde::Serialize;
use stroock::series::quantile;

use super::memory::peak_memory_mb;

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
        let at = |level| rounded(quantile(&sorted, level).unwrap_or(f64::NAN));
        Self {
            median_ms: at(0.5),
            low_ms: at(0.1),
            high_ms: at(0.9),
            times_ms: times_ms.into_iter().map(rounded).collect(),
        }
    }
}

/// A computation that was repeated forward and backward, as reports have it.
#[derive(Clone, Debug, Serialize)]
pub struct Passes {
    threads: usize,
    repeat: usize,
    #[serde(flatten)]
    both: Timing,
    forward_ms: f64,
    backward_ms: f64,
    peak_memory_mb: Option<f64>,
}

impl Passes {
    /// Of the seconds of every forward and every backward pass.
    pub fn of(forwards: &[f64], backwards: &[f64]) -> Self {
        let both: Vec<f64> = forwards.iter().zip(backwards).map(|(a, b)| a + b).collect();
        Self {
            threads: rayon::current_num_threads(),
            repeat: both.len(),
            both: Timing::of(&both),
            forward_ms: Timing::of(forwards).median_ms,
            backward_ms: Timing::of(backwards).median_ms,
            peak_memory_mb: peak_memory_mb(),
        }
    }
}

impl fmt::Display for Passes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { threads, repeat, both, forward_ms, backward_ms, .. } = self;
        let Timing { median_ms, low_ms, high_ms, .. } = both;
        write!(
            f,
            "{threads} threads: {median_ms:.2} ms forward and backward (median of {repeat}; 80 % between {low_ms:.2} and \
             {high_ms:.2})\n  forward {forward_ms:.2} + backward {backward_ms:.2} ms"
        )
    }
}
