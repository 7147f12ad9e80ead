//! Numbers in as few digits as tell them apart.

/// The double with the shortest decimal text that is `value` in single precision: 0.1 for `0.1f32`, and not
/// 0.10000000149011612.
///
/// ```
/// use stroock_series::table::shortest;
/// assert_eq!(shortest(0.1), 0.1);
/// assert_ne!(f64::from(0.1f32), 0.1);
/// assert_eq!(shortest(0.1) as f32, 0.1f32);
/// ```
pub fn shortest(value: f32) -> f64 {
    // The shortest text of a float is that of a number, and infinities and NaN have texts that parse as well.
    value.to_string().parse().unwrap_or(f64::from(value))
}

/// The shortest text that reads back as `value`; empty for NaN, with an exponent where that is much shorter.
pub(super) fn text(value: f64) -> String {
    let size = value.abs();
    if value.is_nan() {
        String::new()
    } else if value.is_finite() && size != 0.0 && !(1e-5..1e16).contains(&size) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}
