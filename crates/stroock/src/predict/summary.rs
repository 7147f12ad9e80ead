//! Means, standard deviations and quantiles of draws.

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
    /// Summaries of draws `[S, N]` with quantiles at the given levels between 0 and 1.
    ///
    /// ```
    /// use stroock::predict::Summary;
    /// let summary = Summary::of(&[1.0, 10.0, 3.0, 10.0], 2, &[0.5]);
    /// assert_eq!(summary.mean, [2.0, 10.0]);
    /// assert_eq!(summary.standard deviation, [1.0, 0.0]);
    /// assert_eq!(summary.quantiles, [[2.0, 10.0]]);
    /// ```
    pub fn of(draws: &[f32], places: usize, levels: &[f64]) -> Self {
        let samples = draws.len() / places.max(1);
        let mut summary = Summary {
            mean: Vec::with_capacity(places),
            sd: Vec::with_capacity(places),
            quantiles: vec![Vec::with_capacity(places); levels.len()],
        };
        for place in 0..places {
            let mut here: Vec<f64> = (0..samples).map(|s| f64::from(draws[s * places + place])).collect();
            here.sort_by(f64::total_cmp);
            let mean = here.iter().sum::<f64>() / samples as f64;
            let square = here.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / samples as f64;
            summary.mean.push(mean);
            summary.sd.push(square.sqrt());
            for (quantiles, &level) in summary.quantiles.iter_mut().zip(levels) {
                quantiles.push(quantile(&here, level));
            }
        }
        summary
    }
}

/// The quantile of sorted numbers, linear between neighbours; NaN of none.
///
/// ```
/// assert_eq!(stroock::predict::quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
/// ```
pub fn quantile(sorted: &[f64], level: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = level.clamp(0.0, 1.0) * last as f64;
    let below = sorted[place.floor() as usize];
    below + (sorted[place.ceil() as usize] - below) * place.fract()
}
