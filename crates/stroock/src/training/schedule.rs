//! The learning rate over the epochs.

use serde::{Deserialize, Serialize};

/// How the learning rate changes from epoch to epoch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Schedule {
    /// Always the same.
    Constant,
    /// From the full rate to a share of it along half a cosine, and there it stays: a run that goes on beyond the
    /// epochs that it was planned for goes on at the lowest rate, and the rate never climbs.
    Cosine {
        /// Epochs until the lowest rate.
        epochs: usize,
        /// The lowest rate as a share of the full one.
        #[serde(default)]
        floor: f64,
    },
    /// From the full rate to 0 over half a period and back over the other half, along a cosine.
    CyclicCosine {
        /// Epochs of a period.
        #[serde(default = "period")]
        period: usize,
    },
}

/// The period of the published runs.
fn period() -> usize {
    60
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
    /// let schedule = Schedule::Cosine { epochs: 60, floor: 0.01 };
    /// assert_eq!(schedule.rate(1e-3, 0), 1e-3);
    /// assert_eq!(schedule.rate(1e-3, 90), 1e-5);
    /// ```
    pub fn rate(&self, rate: f64, epoch: usize) -> f64 {
        match *self {
            Schedule::Constant => rate,
            Schedule::Cosine { epochs, floor } => {
                let done = (epoch as f64 / epochs.max(1) as f64).min(1.0);
                rate * (floor + (1.0 - floor) * 0.5 * (1.0 + (std::f64::consts::PI * done).cos()))
            }
            Schedule::CyclicCosine { period } => {
                let turn = (epoch % period.max(1)) as f64 / period.max(1) as f64;
                rate * 0.5 * (1.0 + (std::f64::consts::TAU * turn).cos())
            }
        }
    }
}
