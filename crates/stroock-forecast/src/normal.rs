//! The standard normal distribution.

use std::f64::consts::{PI, SQRT_2};

/// `P(Z <= z)`.
pub fn normal_probability(z: f64) -> f64 {
    0.5 * libm::erfc(-z / SQRT_2)
}

/// The `z` with `P(Z <= z) = p`; infinite at 0 and 1, and not a number outside.
///
/// A rational approximation (P. J. Acklam), made exact to the last digits by a step of Halley's method.
///
/// ```
/// # use stroock_forecast::{normal_probability, normal_quantile};
/// assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
/// assert!((normal_probability(normal_quantile(1e-9)) - 1e-9).abs() < 1e-20);
/// ```
pub fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e+01,
        2.209460984245205e+02,
        -2.759285104469687e+02,
        1.38357751867269e+02,
        -3.066479806614716e+01,
        2.506628277459239e+00,
    ];
    const B: [f64; 6] = [
        -5.447609879822406e+01,
        1.615858368580409e+02,
        -1.556989798598866e+02,
        6.680131188771972e+01,
        -1.328068155288572e+01,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-03,
        -3.223964580411365e-01,
        -2.400758277161838e+00,
        -2.549732539343734e+00,
        4.374664141464968e+00,
        2.938163982698783e+00,
    ];
    const D: [f64; 5] =
        [7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00, 1.0];
    let polynomial = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    let tail = |p: f64| {
        let q = (-2.0 * p.ln()).sqrt();
        polynomial(&C, q) / polynomial(&D, q)
    };
    let z = match p {
        _ if !(0.0..=1.0).contains(&p) => return f64::NAN,
        0.0 => return f64::NEG_INFINITY,
        1.0 => return f64::INFINITY,
        _ if p < 0.02425 => tail(p),
        _ if p > 1.0 - 0.02425 => -tail(1.0 - p),
        _ => {
            let q = p - 0.5;
            q * polynomial(&A, q * q) / polynomial(&B, q * q)
        }
    };
    let error = normal_probability(z) - p;
    let step = error * (2.0 * PI).sqrt() * (0.5 * z * z).exp();
    z - step / (1.0 + 0.5 * z * step)
}
