//! Where the times of a series count from.

use serde::{Deserialize, Serialize};

/// Where the times of a series count from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Align {
    /// From the zero of the user: series share one axis of time.
    #[default]
    None,
    /// From the first time of the series (to the last digits), or from the beginning of its window where
    /// there are windows.
    Start,
}

/// Whether times are finite and each lies after the one before it.
pub(super) fn increases(times: &[f64]) -> bool {
    times.iter().all(|time| time.is_finite()) && times.windows(2).all(|pair| pair[0] < pair[1])
}

/// The times of the user, `origin + times`; `None` where rounding makes two of them one.
pub(super) fn from_zero(times: &[f64], origin: f64) -> Option<Vec<f64>> {
    let sums: Vec<f64> = times.iter().map(|time| origin + time).collect();
    increases(&sums).then_some(sums)
}

/// The times of the user counted from `origin`; `None` where rounding makes two of them one.
pub(super) fn since(times: &[f64], origin: f64) -> Option<Vec<f64>> {
    let differences: Vec<f64> = times.iter().map(|time| time - origin).collect();
    increases(&differences).then_some(differences)
}

/// The origin of a series that counts from its start: its first time, or the last number before that from
/// which all its times come back as they were. Predictions join with the table of the user by their times.
pub(super) fn start(times: &[f64]) -> Option<f64> {
    let (first, last) = (*times.first()?, *times.last()?);
    if times.iter().all(|time| first + (time - first) == *time) {
        return Some(first);
    }
    // A multiple of the unit in the last place of the largest time is one of all smaller units as well, so
    // that the differences are exact.
    let unit = last.abs().next_up() - last.abs();
    let origin = (first / unit).floor() * unit;
    Some(if origin.is_finite() { origin } else { first })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_as_they_were() {
        for first in [0.1, 1.0 / 3.0, 534.177, 1_262_304_000.0] {
            let times: Vec<f64> = (0..2000).map(|step| first + f64::from(step * step) * 0.013).collect();
            let origin = start(&times).unwrap();
            assert!(origin <= first && first - origin < 1e-10);
            assert_eq!(from_zero(&since(&times, origin).unwrap(), origin).unwrap(), times);
        }
        let times = [534.177, 1604.081];
        assert_ne!(times[0] + (times[1] - times[0]), times[1], "the first time would do as well");
        let origin = start(&times).unwrap();
        assert_eq!(from_zero(&since(&times, origin).unwrap(), origin).unwrap(), times);
    }

    #[test]
    fn times_that_would_fall_together_are_refused() {
        assert_eq!(since(&[-1e20, 0.0, 1.0], -1e20), None);
        assert_eq!(since(&[-1e308, 1e308], -1e308), None);
        assert_eq!(from_zero(&[0.0, 1.0], 1e20), None);
    }
}
