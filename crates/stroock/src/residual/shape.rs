//! How standardised residuals are distributed: most of them narrowly, a few widely.

use serde::{Deserialize, Serialize};

use super::process::log_density;

/// A mixture of two centred normal distributions, `(1 - w) N(0, s^2) + w N(0, t^2)`, for residuals that are divided by the
/// standard deviations a process gives them. Real residuals have heavier tails than one normal distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Standard deviation `s` of most residuals.
    pub spread: f64,
    /// Share `w` of the others.
    pub tail_share: f64,
    /// Their standard deviation `t`.
    pub tail_spread: f64,
}

impl Default for Shape {
    /// The standard normal distribution.
    fn default() -> Self {
        Self::NORMAL
    }
}

/// Below this many residuals the shape stays normal.
const ENOUGH: usize = 30;
const ROUNDS: usize = 60;
/// Narrowest and widest standard deviation; zeros without number must not make a distribution that is sure of everything.
const NARROWEST: f64 = 0.02;
const WIDEST: f64 = 50.0;

impl Shape {
    pub(super) const NORMAL: Self = Self { spread: 1.0, tail_share: 0.0, tail_spread: 1.0 };

    /// The shape under which standardised residuals are likeliest, by expectation and maximisation.
    ///
    /// ```
    /// use stroock::residual::Shape;
    /// let few_are_large: Vec<f64> = (1..=1000).map(|i| if i % 20 == 0 { 8.0 } else { 0.5 }).collect();
    /// let shape = Shape::fit(&few_are_large);
    /// assert!((shape.tail_share - 0.05).abs() < 0.01);
    /// assert!((shape.spread - 0.5).abs() < 0.05 && (shape.tail_spread - 8.0).abs() < 0.5);
    /// ```
    pub fn fit(residuals: &[f64]) -> Self {
        let mut sizes: Vec<f64> = residuals.iter().map(|x| x.abs()).filter(|x| x.is_finite()).collect();
        if sizes.len() < ENOUGH {
            return Self::default();
        }
        sizes.sort_by(f64::total_cmp);
        let bounded = |sd: f64| sd.clamp(NARROWEST, WIDEST);
        // The median of a normal distribution's size is 0.6745 standard deviations.
        let spread = bounded(sizes[sizes.len() / 2] / 0.6745);
        let mut shape = Self { spread, tail_share: 0.1, tail_spread: bounded(3.0 * spread) };
        for _ in 0..ROUNDS {
            let (mut wide, mut narrow_squares, mut wide_squares) = (0.0, 0.0, 0.0);
            for &size in &sizes {
                let weight = shape.tail_weight(size);
                wide += weight;
                narrow_squares += (1.0 - weight) * size * size;
                wide_squares += weight * size * size;
            }
            let count = sizes.len() as f64;
            if wide < 1.0 || count - wide < 1.0 {
                break;
            }
            shape = Self {
                spread: bounded((narrow_squares / (count - wide)).sqrt()),
                tail_share: wide / count,
                tail_spread: bounded((wide_squares / wide).sqrt()),
            };
        }
        shape
    }

    /// Mean square.
    pub fn variance(&self) -> f64 {
        (1.0 - self.tail_share) * self.spread.powi(2) + self.tail_share * self.tail_spread.powi(2)
    }

    /// The standard deviation of one of the two processes, chosen by a uniform number.
    pub fn choose(&self, uniform: f64) -> f64 {
        if uniform < self.tail_share { self.tail_spread } else { self.spread }
    }

    /// Shares and standard deviations of the two processes.
    pub fn components(&self) -> [(f64, f64); 2] {
        [(1.0 - self.tail_share, self.spread), (self.tail_share, self.tail_spread)]
    }

    /// The number that a share `level` of all residuals lies below.
    ///
    /// ```
    /// use stroock::residual::Shape;
    /// assert!((Shape::default().quantile(0.975) - 1.959963984540054).abs() < 1e-9);
    /// let heavy = Shape { spread: 0.5, tail_share: 0.2, tail_spread: 3.0 };
    /// assert!(heavy.quantile(0.75) < 0.5 && heavy.quantile(0.99) > 4.0);
    /// assert_eq!(heavy.quantile(0.5), 0.0);
    /// ```
    pub fn quantile(&self, level: f64) -> f64 {
        // The upper tail is as the lower one, where the error function keeps its digits.
        if level > 0.5 {
            return -self.quantile(1.0 - level);
        }
        if !(level > 0.0 && level < 0.5) {
            return if level == 0.5 {
                0.0
            } else if level == 0.0 {
                f64::NEG_INFINITY
            } else {
                f64::NAN
            };
        }
        let below = |x: f64| -> f64 {
            let normal = |sd: f64| 0.5 * libm::erfc(-x / (sd * std::f64::consts::SQRT_2));
            self.components().into_iter().map(|(share, sd)| share * normal(sd)).sum()
        };
        let (mut low, mut high) = (-40.0 * self.spread.max(self.tail_spread), 0.0);
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            if below(middle) < level { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }

    /// Whether it is a distribution.
    pub fn is_valid(&self) -> bool {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        positive(self.spread) && positive(self.tail_spread) && (0.0..=1.0).contains(&self.tail_share)
    }

    /// How likely a residual of this size is one of the wide ones.
    fn tail_weight(&self, size: f64) -> f64 {
        let log = |(share, sd): (f64, f64)| share.ln() + log_density(size, sd * sd);
        let [narrow, wide] = self.components().map(log);
        1.0 / (1.0 + (narrow - wide).exp())
    }
}
