//! Negative log density of a mixture.

/// `-ln (1/S sum_s N(truth; means_s, deviations_s^2))`: what a Gaussian decoder says of a value, over `S`
/// draws of the path.
///
/// A single standard deviation serves all means. Components are as many as both lists have; without any, or with a
/// standard deviation that is not positive, the result is infinite or not a number. Stable where every density
/// underflows.
///
/// ```
/// # use stroock::score::gaussian_mixture_nll;
/// let one = gaussian_mixture_nll(&[0.0], &[1.0], 100.0);
/// assert!((one - (5000.0 + 0.5 * std::f64::consts::TAU.ln())).abs() < 1e-9);
/// // A second component far away takes half of the weight.
/// let two = gaussian_mixture_nll(&[0.0, 1e6], &[1.0], 100.0);
/// assert!((two - one - 2f64.ln()).abs() < 1e-9);
/// ```
pub fn gaussian_mixture_nll(means: &[f64], sds: &[f64], truth: f64) -> f64 {
    let shared = if sds.len() == 1 { means.len() } else { 1 };
    let components = || {
        let sds = sds.iter().flat_map(|d| std::iter::repeat_n(*d, shared));
        means.iter().zip(sds).map(|(mean, sd)| {
            let ratio = (truth - mean) / sd;
            -0.5 * ratio * ratio - sd.ln()
        })
    };
    let largest = components().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return f64::INFINITY;
    }
    let count = components().count() as f64;
    let sum: f64 = components().map(|log| (log - largest).exp()).sum();
    0.5 * std::f64::consts::TAU.ln() - largest - (sum / count).ln()
}
