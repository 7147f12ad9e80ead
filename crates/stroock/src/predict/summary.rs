//! Means, standard deviations and quantiles of draws.

use crate::series::quantile;

/// Summaries of draws at each of `N` places.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// `[N]`.
    pub mean: Vec<f64>,
    /// Standard deviations, `[N]`.
    pub sd: Vec<f64>,
    /// For each level its quantiles, `[N]`.
    pub quantiles: Vec<Vec<f64>>,
}

impl Summary {
    /// Summaries of draws `[S, N]` with [`quantile`]s at the given levels between 0 and 1.
    ///
    /// ```
    /// use stroock::predict::Summary;
    /// let summary = Summary::of(&[1.0, 10.0, 3.0, 10.0], 2, &[0.5]);
    /// assert_eq!(summary.mean, [2.0, 10.0]);
    /// assert_eq!(summary.sd, [1.0, 0.0]);
    /// assert_eq!(summary.quantiles, [[2.0, 10.0]]);
    /// ```
    pub fn of(draws: &[f64], places: usize, levels: &[f64]) -> Self {
        let samples = draws.len() / places.max(1);
        let mut summary = Summary {
            mean: Vec::with_capacity(places),
            sd: Vec::with_capacity(places),
            quantiles: vec![Vec::with_capacity(places); levels.len()],
        };
        for place in 0..places {
            let mut here: Vec<f64> = (0..samples).map(|s| draws[s * places + place]).collect();
            here.sort_by(f64::total_cmp);
            let mean = here.iter().sum::<f64>() / samples as f64;
            let square = here.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / samples as f64;
            summary.mean.push(mean);
            summary.sd.push(square.sqrt());
            for (quantiles, &level) in summary.quantiles.iter_mut().zip(levels) {
                quantiles.push(quantile(&here, level).unwrap_or(f64::NAN));
            }
        }
        summary
    }
}
