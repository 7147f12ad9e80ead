//! The learning rate over the epochs and their steps.

use serde::{Deserialize, Serialize};

/// How the learning rate changes: from epoch to epoch, or from step to step where a variant says so.
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
    /// From 0 to the full rate along a line, then to a share of it along half a cosine, and there it stays. It changes
    /// at every step.
    WarmCosine {
        /// Epochs until the lowest rate, those of the line among them.
        epochs: usize,
        /// Epochs until the full rate; parts of an epoch are possible.
        #[serde(default)]
        warm_up: f64,
        /// The lowest rate as a share of the full one.
        #[serde(default)]
        floor: f64,
    },
}

/// The period of the published runs.
fn period() -> usize {
    60
}

impl Schedule {
    /// The rate at the beginning of an epoch, counted from 0, for a full rate of `rate`.
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
        self.rate_at(rate, epoch as f64)
    }

    /// The rate after `time` epochs, parts of an epoch counted, for a full rate of `rate`. Schedules that change from
    /// epoch to epoch have the rate of the epoch under way.
    ///
    /// ```
    /// use stroock::training::Schedule;
    /// let schedule = Schedule::WarmCosine { epochs: 60, warm_up: 2.0, floor: 0.01 };
    /// assert_eq!(schedule.rate_at(1e-3, 0.5), 0.25e-3);
    /// assert_eq!(schedule.rate_at(1e-3, 2.0), 1e-3);
    /// assert_eq!(schedule.rate_at(1e-3, 60.0), 1e-5);
    /// ```
    pub fn rate_at(&self, rate: f64, time: f64) -> f64 {
        let epoch = time.floor();
        match *self {
            Schedule::Constant => rate,
            Schedule::Cosine { epochs, floor } => {
                rate * half_cosine((epoch / epochs.max(1) as f64).min(1.0), floor)
            }
            Schedule::CyclicCosine { period } => {
                let turn = (epoch as usize % period.max(1)) as f64 / period.max(1) as f64;
                rate * 0.5 * (1.0 + (std::f64::consts::TAU * turn).cos())
            }
            Schedule::WarmCosine { epochs, floor, .. } if time >= epochs as f64 => rate * floor,
            Schedule::WarmCosine { warm_up, .. } if time < warm_up => rate * (time / warm_up),
            Schedule::WarmCosine { epochs, warm_up, floor } => {
                rate * half_cosine((time - warm_up) / (epochs as f64 - warm_up), floor)
            }
        }
    }
}

/// From 1 to `floor` as `done` goes from 0 to 1.
fn half_cosine(done: f64, floor: f64) -> f64 {
    floor + (1.0 - floor) * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_cosine_climbs_along_a_line_and_falls_along_half_a_cosine() {
        let schedule = Schedule::WarmCosine { epochs: 10, warm_up: 2.0, floor: 0.1 };
        let wanted =
            [(0.0, 0.0), (0.125, 0.0625), (1.0, 0.5), (2.0, 1.0), (6.0, 0.55), (10.0, 0.1), (99.5, 0.1)];
        for (time, share) in wanted {
            let rate = schedule.rate_at(2e-3, time);
            assert!((rate - 2e-3 * share).abs() < 1e-15, "{time}: {rate}");
        }
        let quarter = 0.1 + 0.9 * 0.5 * (1.0 + 0.5_f64.sqrt());
        assert!((schedule.rate_at(1.0, 4.0) - quarter).abs() < 1e-15);
        let rates: Vec<f64> = (0..1200).map(|i| schedule.rate_at(1.0, f64::from(i) / 100.0)).collect();
        assert!(rates.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 0.006), "no jumps");
    }

    #[test]
    fn a_warm_cosine_without_warm_up_is_the_cosine_at_the_beginning_of_every_epoch() {
        let warm = Schedule::WarmCosine { epochs: 7, warm_up: 0.0, floor: 0.25 };
        let cosine = Schedule::Cosine { epochs: 7, floor: 0.25 };
        assert!((0..20).all(|epoch| warm.rate(1e-3, epoch) == cosine.rate(1e-3, epoch)));
    }

    #[test]
    fn a_warm_up_that_is_longer_than_the_run_is_a_line_that_is_cut_off() {
        let schedule = Schedule::WarmCosine { epochs: 2, warm_up: 4.0, floor: 0.5 };
        assert_eq!([0.0, 1.0, 2.0, 5.0].map(|time| schedule.rate_at(1.0, time)), [0.0, 0.25, 0.5, 0.5]);
        let none = Schedule::WarmCosine { epochs: 0, warm_up: 0.0, floor: 0.5 };
        assert_eq!(none.rate_at(1.0, 0.0), 0.5);
    }

    /// The rates of the published runs do not move with the steps of an epoch.
    #[test]
    fn the_other_schedules_change_from_epoch_to_epoch_alone() {
        let schedules = [
            Schedule::Constant,
            Schedule::Cosine { epochs: 9, floor: 0.125 },
            Schedule::CyclicCosine { period: 7 },
        ];
        for schedule in schedules {
            for epoch in 0..30_usize {
                let rate = schedule.rate(1e-3, epoch);
                assert!(
                    [0.001, 0.5, 0.999]
                        .iter()
                        .all(|part| schedule.rate_at(1e-3, epoch as f64 + part) == rate)
                );
            }
        }
    }
}
