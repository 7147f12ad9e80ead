//! The exponent of a power law.

use serde::Serialize;

/// `time = scale * value^exponent`, by least squares of the logarithms.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PowerLaw {
    /// Smallest and largest value that it is fitted to.
    pub from: f64,
    pub to: f64,
    /// How many there are.
    pub points: usize,
    pub scale_ms: f64,
    pub exponent: f64,
    /// Of the exponent, from the scatter about the law.
    pub standard_error: f64,
}

impl PowerLaw {
    /// The law nearest to pairs of values and times. Fewer than three, or values and times that are not positive,
    /// have none.
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let positive = |&(value, time): &(f64, f64)| value > 0.0 && time > 0.0;
        if points.len() < 3 || !points.iter().all(positive) {
            return None;
        }
        let count = points.len() as f64;
        let logs = || points.iter().map(|(value, time)| (value.ln(), time.ln()));
        let (x, y) = logs().fold((0.0, 0.0), |(x, y), (u, v)| (x + u / count, y + v / count));
        let spread: f64 = logs().map(|(u, _)| (u - x).powi(2)).sum();
        let exponent = logs().map(|(u, v)| (u - x) * (v - y)).sum::<f64>() / spread;
        let residual = |(u, v): (f64, f64)| v - y - exponent * (u - x);
        let variance = logs().map(|point| residual(point).powi(2)).sum::<f64>() / (count - 2.0);
        let values = || points.iter().map(|(value, _)| *value);
        // Equal values have no slope.
        exponent.is_finite().then(|| Self {
            from: values().fold(f64::INFINITY, f64::min),
            to: values().fold(0.0, f64::max),
            points: points.len(),
            scale_ms: (y - exponent * x).exp(),
            exponent,
            standard_error: (variance / spread).sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_is_found_exactly() {
        let points: Vec<(f64, f64)> = [1.0f64, 2.0, 7.0, 30.0].map(|x| (x, 3.0 * x.powf(1.7))).to_vec();
        let law = PowerLaw::fit(&points).unwrap();
        assert!((law.exponent - 1.7).abs() < 1e-12 && (law.scale_ms - 3.0).abs() < 1e-12);
        assert!(law.standard_error < 1e-12);
        assert_eq!((law.from, law.to, law.points), (1.0, 30.0, 4));
    }

    #[test]
    fn the_standard_error_is_that_of_a_regression() {
        // Logarithms 0, 1, 2 against 0, 1 + h, 2: the slope is 1, the residuals are -h/3, 2h/3, -h/3.
        let h = 0.3f64;
        let points = [(1.0, 1.0), (1f64.exp(), (1.0 + h).exp()), (2f64.exp(), 2f64.exp())];
        let law = PowerLaw::fit(&points).unwrap();
        assert!((law.exponent - 1.0).abs() < 1e-12);
        assert!((law.standard_error - (h * h * 6.0 / 9.0 / 2.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn too_little_has_no_law() {
        assert!(PowerLaw::fit(&[(1.0, 1.0), (2.0, 2.0)]).is_none());
        assert!(PowerLaw::fit(&[(1.0, 1.0), (2.0, 0.0), (3.0, 1.0)]).is_none());
        assert!(PowerLaw::fit(&[(2.0, 1.0); 3]).is_none());
    }
}
