//! How often a series has to be differenced until it is stationary.

use crate::season::{moving_average, phase, profile};

/// The statistic of Kwiatkowski, Phillips, Schmidt and Shin that a stationary series exceeds once in twenty times.
const STATIONARY: f64 = 0.463;
/// Share of the variance without trend that a season needs for differences over it (Wang, Smith and Hyndman 2006).
const STRONG: f64 = 0.64;

/// `(1 - B)^plain (1 - B^period)^seasonal`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Differences {
    pub plain: usize,
    pub seasonal: usize,
    pub period: usize,
}

impl Differences {
    /// As many as the series needs, at most one over the period and two in all.
    pub fn needed(values: &[f64], period: Option<usize>) -> Self {
        let seasonal = usize::from(period.is_some_and(|period| strength(values, period) > STRONG));
        let mut needed = Self { plain: 0, seasonal, period: period.unwrap_or(1) };
        while needed.plain + needed.seasonal < 2 && stationarity(&needed.of(values)) > STATIONARY {
            needed.plain += 1;
        }
        needed
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.plain + self.seasonal
    }

    /// Values that are lost.
    pub fn length(&self) -> usize {
        self.plain + self.seasonal * self.period
    }

    /// The differences of a series.
    pub fn of(&self, values: &[f64]) -> Vec<f64> {
        let lags = std::iter::repeat_n(self.period, self.seasonal).chain(std::iter::repeat_n(1, self.plain));
        let mut differences = values.to_vec();
        for lag in lags {
            differences = differences
                .iter()
                .skip(lag)
                .zip(&differences)
                .map(|(after, before)| after - before)
                .collect();
        }
        differences
    }

    /// The coefficients `c` of `1 - c(B) = (1 - B)^plain (1 - B^period)^seasonal`.
    pub fn coefficients(&self) -> Vec<f64> {
        let plain: &[f64] = match self.plain {
            0 => &[],
            1 => &[1.0],
            _ => &[2.0, -1.0],
        };
        let seasonal = vec![1.0; self.seasonal];
        super::polynomial::product(plain, &seasonal, self.period)
    }
}

/// The statistic of Kwiatkowski, Phillips, Schmidt and Shin: squares of partial sums, over the long-run variance with
/// the weights of Bartlett; about 0.17 for a stationary series, and growing with the length of a random walk.
pub fn stationarity(values: &[f64]) -> f64 {
    let count = values.len();
    if count < 8 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / count as f64;
    let rest: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let covariance =
        |lag: usize| rest[lag..].iter().zip(&rest).map(|(a, b)| a * b).sum::<f64>() / count as f64;
    let lags = (3.0 * (count as f64).sqrt() / 13.0) as usize;
    let weighted = (1..=lags).map(|lag| 2.0 * (1.0 - lag as f64 / (lags + 1) as f64) * covariance(lag));
    let variance = covariance(0) + weighted.sum::<f64>();
    let mut sum = 0.0;
    let squares = rest.iter().map(|value| {
        sum += value;
        sum * sum
    });
    let squares: f64 = squares.sum::<f64>() / (count * count) as f64;
    if variance > 0.0 { squares / variance } else { 0.0 }
}

/// The strength of a season: `1 - Var(rest) / Var(season + rest)`.
fn strength(values: &[f64], period: usize) -> f64 {
    let length = period as f64;
    let trend = moving_average(values, period);
    let season = profile(values, length);
    let flat = values.iter().zip(&trend).enumerate().filter(|(_, (_, trend))| trend.is_finite());
    let (mut all, mut rest, mut sum, mut count) = (0.0, 0.0, 0.0, 0.0);
    for (t, (value, trend)) in flat {
        let flat = value - trend;
        all += flat * flat;
        rest += (flat - season[phase(t, length)]).powi(2);
        sum += flat;
        count += 1.0;
    }
    let all = all - sum * sum / f64::max(count, 1.0);
    // A profile of few cycles takes some of the noise with it.
    let freedom = f64::max(count - length, 1.0) / f64::max(count, 1.0);
    if all > 0.0 { (1.0 - rest / freedom / all).max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_undo_what_they_are_coefficients_of() {
        let values: Vec<f64> = (0..30).map(|t| (f64::from(t) * 0.9).cos() + f64::from(t * t) * 0.1).collect();
        let differences = Differences { plain: 1, seasonal: 1, period: 4 };
        let coefficients = differences.coefficients();
        let found = differences.of(&values);
        assert_eq!((found.len(), coefficients.len()), (25, 5));
        for (t, difference) in found.iter().enumerate() {
            let t = t + differences.length();
            let past: f64 = coefficients.iter().enumerate().map(|(k, c)| c * values[t - 1 - k]).sum();
            assert!((values[t] - past - difference).abs() < 1e-12);
        }
    }

    #[test]
    fn the_statistic_is_that_of_another_program() {
        // statsmodels 0.15: kpss(values, regression="c", nlags=1).
        let values: Vec<f64> =
            (0..40).map(|t| (f64::from(t) * 1.3).sin() + 0.05 * f64::from(t % 7) + 0.8).collect();
        assert!((stationarity(&values) - 0.021_427_925_833_683_1).abs() < 1e-10, "{}", stationarity(&values));
    }

    #[test]
    fn trends_and_seasons_are_differenced_and_noise_is_not() {
        let noise = |t: usize| ((t * t * 7919 + t * 104_729) % 1009) as f64 / 1009.0 - 0.5;
        let plain: Vec<f64> = (0..120).map(noise).collect();
        assert_eq!(Differences::needed(&plain, Some(12)).count(), 0);
        let trend: Vec<f64> = (0..120).map(|t| 0.1 * t as f64 + noise(t)).collect();
        assert_eq!(Differences::needed(&trend, None).plain, 1);
        let season: Vec<f64> =
            (0..120).map(|t| (t as f64 * std::f64::consts::TAU / 12.0).sin() + 0.5 * noise(t)).collect();
        assert_eq!(Differences::needed(&season, Some(12)), Differences { plain: 0, seasonal: 1, period: 12 });
    }
}
