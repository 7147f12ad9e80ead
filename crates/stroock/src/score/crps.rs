//! Scores of a set of draws against the value that came true.

/// Continuous ranked probability score of sorted draws `[S]`, in the units of the values; smaller is better.
///
/// `mean_i |x_i - y| - 1 / (2 S (S - 1)) sum_ij |x_i - x_j|`: the fair form, whose expectation over draws is
/// the score of the distribution they come from, whatever their number. A single draw gets `|x - y|`; no draw at all
/// is not a number.
///
/// ```
/// # use stroock::score::crps;
/// assert_eq!(crps(&[2.0], 5.0), 3.0);
/// assert_eq!(crps(&[0.0, 1.0], 0.5), 0.0);
/// ```
pub fn crps(sorted: &[f64], truth: f64) -> f64 {
    let count = sorted.len() as f64;
    let (mut distance, mut inner) = (0.0, 0.0);
    for (i, x) in sorted.iter().enumerate() {
        // From the truth, for the sums then have the size of the score and not of the values.
        let x = x - truth;
        distance += x.abs();
        inner += (2.0 * i as f64 + 1.0 - count) * x;
    }
    let within = if sorted.len() > 1 { inner / (count * (count - 1.0)) } else { 0.0 };
    distance / count - within
}
