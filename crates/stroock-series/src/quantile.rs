//! The one definition of a quantile.

/// Quantile of the distribution behind sorted numbers `[S]`: the number at place `share (S + 1)`, counted from 1, on
/// the line between neighbours.
///
/// A further draw of the same distribution lies below the `k`-th of `S` draws with probability `k / (S + 1)`, so
/// intervals between these quantiles cover what they promise, also with few draws. Beyond the outermost
/// numbers, the outermost number. `None` without numbers.
///
/// ```
/// use stroock_series::quantile;
/// assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), Some(2.0));
/// assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.625), Some(3.0));
/// assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.01), Some(1.0));
/// ```
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    // A share that is not a number becomes zero.
    let place = (share * (sorted.len() + 1) as f64 - 1.0).max(0.0).min(last as f64);
    let below = place as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    let weight = place - below as f64;
    // Weights, and not a difference, which overflows between the largest numbers.
    Some(if low == high { low } else { (1.0 - weight) * low + weight * high })
}
