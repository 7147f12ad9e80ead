//! Scores to probabilities.

/// Sharpness below and above which it is not looked for.
const SHARPNESS: (f64, f64) = (0.05, 200.0);

/// `softmax(sharpness * scores)`.
pub(super) fn probabilities(scores: &[f64], sharpness: f64) -> Vec<f64> {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| (sharpness * (score - most)).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// The sharpness with which scores `[N, K]` of series that were left out give their classes the least log loss, and
/// that loss. Without an error among few series the data allow any sharpness: targets are `(N + 1) / (N + 2)` and not 1
/// (Platt 1999).
pub(super) fn sharpness(scores: &[f64], classes: usize, truths: &[usize]) -> (f64, f64) {
    let count = truths.len() as f64;
    let doubt = 1.0 / (count + 2.0) / (classes as f64 - 1.0).max(1.0);
    let loss = |logarithm: f64| {
        let sharpness = logarithm.exp();
        let of_row = |(row, &truth): (&[f64], &usize)| {
            let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = row.iter().map(|score| (sharpness * (score - most)).exp()).sum();
            let minus_log = |score: f64| sum.ln() - sharpness * (score - most);
            let all: f64 = row.iter().map(|&score| minus_log(score)).sum();
            doubt * all + (1.0 - doubt * classes as f64) * minus_log(row[truth])
        };
        scores.chunks(classes.max(1)).zip(truths).map(of_row).sum::<f64>() / count.max(1.0)
    };
    // Convex in the sharpness, so that it has one valley in the logarithm, too.
    let (mut low, mut high) = (SHARPNESS.0.ln(), SHARPNESS.1.ln());
    for _ in 0..40 {
        let third = (high - low) / 3.0;
        match loss(low + third) < loss(high - third) {
            true => high -= third,
            false => low += third,
        }
    }
    let best = 0.5 * (low + high);
    (best.exp(), loss(best))
}
