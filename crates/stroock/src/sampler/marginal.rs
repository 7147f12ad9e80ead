//! The distribution of the values of a variable.

use crate::series::quantile;

/// Pieces of a map.
const PIECES: usize = 64;
/// Values of either side without which nothing is mapped.
const ENOUGH: usize = 100;

/// An increasing map that takes one distribution to another: quantile to quantile, linear between.
///
/// With it values that are drawn from smooth processes have the skewness, the bounds and the frequent values of those
/// that were observed. Nothing is mapped to what lies beyond the observed values.
///
/// ```
/// use stroock::sampler::MarginalMap;
/// let drawn: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
/// let observed: Vec<f64> = drawn.iter().map(|x| x * x).collect();
/// let map = MarginalMap::between(drawn, observed);
/// assert!((map.apply(0.5) - 0.25).abs() < 1e-3);
/// assert_eq!(map.apply(-7.0), 0.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarginalMap {
    /// Increasing values, or none where nothing is mapped.
    from: Vec<f64>,
    /// As many values that do not decrease.
    to: Vec<f64>,
}

impl MarginalMap {
    /// The map that takes values as they are drawn to those that are observed, both in any order. Where there are too
    /// few of them it leaves values as they are.
    pub fn between(drawn: Vec<f64>, observed: Vec<f64>) -> Self {
        if drawn.len().min(observed.len()) < ENOUGH {
            return Self::default();
        }
        let quantiles = |mut values: Vec<f64>| -> Vec<f64> {
            values.sort_by(f64::total_cmp);
            // Closest at both ends, where a step from one quantile to the next is longest.
            let level = |k: usize| (std::f64::consts::FRAC_PI_2 * k as f64 / PIECES as f64).sin().powi(2);
            (0..=PIECES).filter_map(|k| quantile(&values, level(k))).collect()
        };
        Self::new(quantiles(drawn), quantiles(observed)).unwrap_or_default()
    }

    /// The map between pairs of quantiles; `None` where these do not make one.
    pub(super) fn new(from: Vec<f64>, to: Vec<f64>) -> Option<Self> {
        let grows = |values: &[f64]| values.iter().all(|x| x.is_finite()) && values.is_sorted();
        (from.len() == to.len() && grows(&from) && grows(&to)).then_some(Self { from, to })
    }

    /// The quantiles of both sides.
    pub(super) fn quantiles(&self) -> (&[f64], &[f64]) {
        (&self.from, &self.to)
    }

    /// What a value becomes.
    pub fn apply(&self, value: f64) -> f64 {
        let Some(last) = self.from.len().checked_sub(1) else { return value };
        let above = self.from.partition_point(|&from| from <= value);
        if above == 0 || above > last {
            return self.to[above.min(last)];
        }
        let share = (value - self.from[above - 1]) / (self.from[above] - self.from[above - 1]);
        (1.0 - share) * self.to[above - 1] + share * self.to[above]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_distributed_as_those_that_were_observed() {
        let drawn: Vec<f64> = (0..2000).map(|i| (f64::from(i) - 1000.0) / 300.0).collect();
        // Half of them are zero, the rest has a long tail.
        let observed: Vec<f64> = (0..2000).map(|i| (f64::from(i) / 1000.0 - 1.0).max(0.0).powi(3)).collect();
        let map = MarginalMap::between(drawn.clone(), observed.clone());
        let mapped: Vec<f64> = drawn.iter().map(|&x| map.apply(x)).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean(&mapped) - mean(&observed)).abs() < 2e-3);
        let zeros = mapped.iter().filter(|x| **x == 0.0).count();
        assert!((900..=1000).contains(&zeros), "{zeros}");
        assert!(mapped.is_sorted() && mapped.iter().all(|x| (0.0..=1.0).contains(x)));
    }

    #[test]
    fn few_values_and_constant_ones_do_no_harm() {
        assert_eq!(MarginalMap::between(vec![0.0; 20], vec![1.0; 500]).apply(0.3), 0.3);
        let constant = MarginalMap::between(vec![2.0; 200], vec![5.0; 200]);
        assert_eq!([1.0, 2.0, 3.0].map(|x| constant.apply(x)), [5.0; 3]);
    }
}
