//! Statistical bounds for tests on random samples.

/// Mean and standard error of a sample.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// Sample mean.
    pub mean: f64,
    /// Standard deviation of the mean.
    pub standard_error: f64,
}

/// Estimates the mean of independent draws.
///
/// ```
/// let estimate = stroock_testing::statistics::estimate([1.0, 3.0, 1.0, 3.0]);
/// assert_eq!(estimate.mean, 2.0);
/// ```
pub fn estimate(draws: impl IntoIterator<Item = f64>) -> Estimate {
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for draw in draws {
        count += 1.0;
        let step = draw - mean;
        mean += step / count;
        squares += step * (draw - mean);
    }
    let variance = squares / (count - 1.0);
    Estimate { mean, standard_error: (variance / count).sqrt() }
}

impl Estimate {
    /// Asserts that `expected` lies within five standard errors of the mean: with a fixed seed the
    /// outcome is fixed, and a correct program would have passed with probability 1 - 6e-7.
    ///
    /// # Panics
    /// When it does not, or when the standard error is not a positive number.
    pub fn assert_mean(&self, name: &str, expected: f64) {
        assert!(self.standard_error > 0.0, "{name}: standard error is {}", self.standard_error);
        let distance = (self.mean - expected) / self.standard_error;
        assert!(
            distance.abs() <= 5.0,
            "{name}: mean {} is {distance:.1} standard errors from {expected}",
            self.mean
        );
    }
}
