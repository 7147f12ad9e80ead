//! Tails of forecast distributions.

/// The larger, the closer to a normal distribution; that of Student with about five degrees of freedom.
const NORMALITY: f64 = 17.0;
/// The normal quantile at 95 %, where nothing is changed.
const FIXED: f64 = 1.644_853_626_951_472_2;

/// A standard normal variable with heavier tails, `g(z) = z (K + z^2) / (K + z_0^2)`: the first terms of the expansion
/// of Cornish and Fisher for Student's distribution, scaled such that 90 % intervals stay as they are.
///
/// Errors of forecasts are a mixture of calm and rough times: intervals of 90 % that hold what they should are too wide
/// in the middle, if taken for those of a normal distribution.
pub fn heavier(z: f64) -> f64 {
    z * (NORMALITY + z * z) / (NORMALITY + FIXED * FIXED)
}

/// How fast [`heavier`] grows.
pub fn heavier_slope(z: f64) -> f64 {
    (NORMALITY + 3.0 * z * z) / (NORMALITY + FIXED * FIXED)
}

/// The standard deviation of `g(Z)`: `E (K Z + Z^3)^2 = K^2 + 6 K + 15`.
pub fn heavier_sd() -> f64 {
    (NORMALITY * NORMALITY + 6.0 * NORMALITY + 15.0).sqrt() / (NORMALITY + FIXED * FIXED)
}

/// The mean of `|g(Z)|`: `E (K |Z| + |Z|^3) = (K + 2) sqrt(2 / pi)`.
pub fn heavier_size() -> f64 {
    (NORMALITY + 2.0) * (2.0 / std::f64::consts::PI).sqrt() / (NORMALITY + FIXED * FIXED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal_quantile;

    #[test]
    fn moments_and_slopes_are_those_of_the_function() {
        let count = 200_000;
        let levels = (0..count).map(|k| (f64::from(k) + 0.5) / f64::from(count));
        let (mut squares, mut sizes) = (0.0, 0.0);
        for z in levels.map(normal_quantile) {
            squares += heavier(z).powi(2) / f64::from(count);
            sizes += heavier(z).abs() / f64::from(count);
        }
        assert!((squares.sqrt() - heavier_sd()).abs() < 1e-3, "{} for {}", squares.sqrt(), heavier_sd());
        assert!((sizes - heavier_size()).abs() < 1e-4, "{sizes} for {}", heavier_size());
        let slope = (heavier(0.7 + 1e-6) - heavier(0.7 - 1e-6)) / 2e-6;
        assert!((slope - heavier_slope(0.7)).abs() < 1e-8);
        assert!((heavier(normal_quantile(0.95)) - normal_quantile(0.95)).abs() < 1e-12);
    }
}
