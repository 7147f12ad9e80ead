//! The learning rate over the epochs.

use serde::{Deserialize, Serialize};

/// How the learning rate changes from epoch to epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// Always the same.
    Constant,
    /// From the full rate to 0 over half a period and back over the other half, along a cosine.
    CyclicCosine {
        /// Epochs of a period.
        period: usize,
    },
}

impl Schedule {
    /// The rate of an epoch, counted from 0, for a full rate of `rate`.
    ///
    /// ```
    /// use stroock::training::Schedule;
    /// let schedule = Schedule::CyclicCosine { period: 60 };
    /// assert_eq!(schedule.rate(1e-3, 0), 1e-3);
    /// assert!(schedule.rate(1e-3, 30).abs() < 1e-18);
    /// assert_eq!(schedule.rate(1e-3, 60), 1e-3);
    /// ```
    pub fn rate(&self, rate: f64, epoch: usize) -> f64 {
        match *self {
            Schedule::Constant => rate,
            Schedule::CyclicCosine { period } => {
                let turn = (epoch % period.max(1)) as f64 / period.max(1) as f64;
                rate * 0.5 * (1.0 + (std::f64::consts::TAU * turn).cos())
            }
        }
    }
}
