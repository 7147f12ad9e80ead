//! Central finite differences: the independent check of every hand-written adjoint.

/// The gradient of `f` at `x` by central differences of sixth order with step `h`.
///
/// The truncation error is of order `h^6`, so with `h = 1e-2` to `1e-3` in double precision about ten
/// digits are right for functions of moderate curvature.
///
/// ```
/// let gradient = stroock_testing::finite_difference::gradient(&[2.0, 3.0], 1e-3, |x| x[0] * x[0] * x[1]);
/// assert!((gradient[0] - 12.0).abs() < 1e-9 && (gradient[1] - 4.0).abs() < 1e-9);
/// ```
pub fn gradient(x: &[f64], h: f64, mut f: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    const WEIGHTS: [(f64, f64); 3] = [(1.0, 3.0 / 4.0), (2.0, -3.0 / 20.0), (3.0, 1.0 / 60.0)];
    let mut point = x.to_vec();
    (0..x.len())
        .map(|i| {
            let mut slope = 0.0;
            for (multiple, weight) in WEIGHTS {
                point[i] = x[i] + multiple * h;
                let above = f(&point);
                point[i] = x[i] - multiple * h;
                let below = f(&point);
                slope += weight * (above - below) / h;
            }
            point[i] = x[i];
            slope
        })
        .collect()
}

/// Asserts that two lists agree within `tolerance`, relative to the larger of 1 and the expected magnitude.
///
/// # Panics
/// With the name, the index and both values where they do not agree.
pub fn assert_close(name: &str, actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len(), "{name}: lengths differ");
    for (i, (a, e)) in actual.iter().zip(expected).enumerate() {
        let scale = 1f64.max(e.abs());
        assert!(
            (a - e).abs() <= tolerance * scale,
            "{name}[{i}]: {a} is not {e} (difference {:e}, tolerance {tolerance:e})",
            (a - e).abs()
        );
    }
}
