//! The distribution that a weighted average of projections gives.

use crate::Projection;
use crate::projection::uniform;
use crate::tails::{heavier, heavier_sd, heavier_slope};
use crate::{normal_probability, normal_quantile};

/// Grid in standard deviations that integrals over a normal variable are taken on. It ends where tails of logarithms
/// would weigh more than anything that was seen.
const NODES: i32 = 45;
const NODE: f64 = 0.1;

/// A predictive distribution at each of several distances: `F^{-1}(p) = sum_i w_i F_i^{-1}(Phi(c g(z_p)))`, a weighted
/// average of quantile functions whose intervals are made wider by `c`, with the tails `g` of Student's distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// Weights that sum to 1, with their projections; never empty.
    pub parts: Vec<(f64, Projection)>,
    /// The factor `c` at each distance, `[H]`.
    pub widths: Vec<f64>,
    /// No value lies below; what would is this value.
    pub floor: f64,
    /// What is added to the average at each distance, `[H]`, or nothing at all, `[]`.
    pub shift: Vec<f64>,
}

impl Forecast {
    /// Distances.
    pub fn len(&self) -> usize {
        self.widths.len()
    }

    /// Whether there are no distances.
    pub fn is_empty(&self) -> bool {
        self.widths.is_empty()
    }

    /// The value at distance `k` that is `z` standard deviations from the median, in the scale of a normal variable.
    pub fn value(&self, k: usize, z: f64) -> f64 {
        let z = self.widths[k] * heavier(z);
        let average = self.parts.iter().map(|(weight, part)| weight * part.value(k, z)).sum::<f64>();
        (average + self.shift(k)).max(self.floor)
    }

    fn shift(&self, k: usize) -> f64 {
        self.shift.get(k).copied().unwrap_or(0.0)
    }

    /// The same with a known effect added at every distance, such as that of a [`Regression`](crate::Regression), and
    /// not below another floor.
    pub fn shifted(self, shift: Vec<f64>, floor: f64) -> Self {
        Self { shift, floor, ..self }
    }

    /// The value at distance `k` that is exceeded with probability `1 - level`.
    pub fn quantile(&self, k: usize, level: f64) -> f64 {
        // Beyond these the tails of a normal distribution mean nothing.
        self.value(k, normal_quantile(level).clamp(-8.0, 8.0))
    }

    /// The point forecast at distance `k`: the average of the means of the methods, but not below the floor.
    ///
    /// Wider intervals leave it where it is. It is the mean of the distribution where that has neither logarithms nor a
    /// floor close by.
    pub fn mean(&self, k: usize) -> f64 {
        let average = self.parts.iter().map(|(weight, part)| weight * part.mean(k, 1.0)).sum::<f64>();
        (average + self.shift(k)).max(self.floor)
    }

    /// The standard deviation at distance `k`.
    pub fn sd(&self, k: usize) -> f64 {
        if self.parts.iter().all(|(_, part)| !part.log) && self.value(k, -4.0) > self.floor {
            let scale = self.parts.iter().map(|(weight, part)| weight * part.scale[k]).sum::<f64>();
            return heavier_sd() * self.widths[k] * scale;
        }
        let mean = self.integral(|z| self.value(k, z));
        self.integral(|z| (self.value(k, z) - mean).powi(2)).sqrt()
    }

    /// Where a value lies at distance `k`, as a standard normal variable would.
    pub fn standardised(&self, k: usize, value: f64) -> f64 {
        let (mut low, mut high) = (-40.0, 40.0);
        if self.value(k, high) <= value {
            return high;
        }
        if self.value(k, low) >= value {
            return low;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            match self.value(k, middle) < value {
                true => low = middle,
                false => high = middle,
            }
        }
        0.5 * (low + high)
    }

    /// The density of a value at distance `k`; `None` where it has none: at the lowest value, or where nothing varies.
    pub fn density(&self, k: usize, value: f64) -> Option<f64> {
        let z = self.standardised(k, value);
        let slope: f64 =
            self.parts.iter().map(|(weight, part)| weight * part.slope(k, self.widths[k] * heavier(z))).sum();
        let slope = self.widths[k] * heavier_slope(z) * slope;
        let density = (-0.5 * z * z).exp() / (std::f64::consts::TAU.sqrt() * slope);
        (value > self.floor && density.is_finite() && density > 0.0).then_some(density)
    }

    /// One course of the values, from standard normal numbers, `[H]`. Each distance has the distribution of
    /// [`Self::quantile`]; how distances go together is taken from one of the projections, drawn by weight.
    pub fn path(&self, mut normal: impl FnMut() -> f64) -> Vec<f64> {
        let mut chosen = uniform(normal());
        let part = self.parts.iter().find(|(weight, _)| {
            chosen -= weight;
            chosen <= 0.0
        });
        let Some((_, part)) = part.or(self.parts.last()) else { return Vec::new() };
        part.errors.path(normal).iter().enumerate().map(|(k, &z)| self.value(k, z)).collect()
    }

    /// The mean of a function of a standard normal variable.
    fn integral(&self, function: impl Fn(f64) -> f64) -> f64 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for node in -NODES..=NODES {
            let z = f64::from(node) * NODE;
            let weight = normal_probability(z + 0.5 * NODE) - normal_probability(z - 0.5 * NODE);
            sum += weight * function(z);
            weights += weight;
        }
        sum / weights
    }
}
