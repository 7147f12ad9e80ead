//! Numbers for readers.

/// A number with four digits.
///
/// ```
/// use stroock_model_report::short;
/// assert_eq!([1234.56, 0.012345, 1.5e-9, f64::NAN].map(short), ["1235", "0.01235", "1.50e-9", "-"]);
/// ```
pub fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { "-".into() };
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    match digits {
        ..=-3 | 8.. => format!("{value:.2e}"),
        _ => format!("{value:.*}", digits.max(0) as usize),
    }
}
