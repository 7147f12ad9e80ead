//! Where the middle of some numbers is, and how far they reach.

use serde::Serialize;

use crate::quantile;

/// Quantiles of some numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The smallest.
    pub min: f64,
    /// One in twenty lies below.
    pub low: f64,
    /// Half of them lie below.
    pub median: f64,
    /// One in twenty lies above.
    pub high: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// The quantiles of numbers in any order; `None` where there are none. Between two numbers a quantile is
    /// interpolated; see [`quantile`].
    ///
    /// ```
    /// use stroock_series::table::Spread;
    /// assert_eq!(Spread::of(vec![4.0, 1.0, 2.0]).unwrap().median, 2.0);
    /// ```
    pub fn of(mut values: Vec<f64>) -> Option<Spread> {
        values.sort_unstable_by(f64::total_cmp);
        Some(Spread {
            min: *values.first()?,
            low: quantile(&values, 0.05)?,
            median: quantile(&values, 0.5)?,
            high: quantile(&values, 0.95)?,
            max: *values.last()?,
        })
    }
}
