//! What one method says about the steps after a history.

use crate::normal_probability;

/// Horizon up to which the joint distribution of errors is exact; beyond it, only that of neighbours is.
const EXACT: usize = 512;

/// Normal distributions, of the values or of their logarithms, at given distances after the last value.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// Whether the numbers are about logarithms.
    pub log: bool,
    /// Means, `[H]`.
    pub location: Vec<f64>,
    /// Standard deviations, `[H]`.
    pub scale: Vec<f64>,
    /// How the errors at several distances go together.
    pub errors: Errors,
}

/// How forecast errors at several distances go together.
#[derive(Clone, Debug, PartialEq)]
pub enum Errors {
    /// `e_h = sum_{j < h} weights[j] eps_{h - j}` in whole steps `h`.
    Moving {
        /// Distances in steps, `[H]`.
        ahead: Vec<f64>,
        /// `[steps]`, the first of which is 1.
        weights: Vec<f64>,
    },
    /// A hidden `dx = -rate x dt + sqrt(diffusion) dW` with variance `start` at the last value, and white noise.
    Markov {
        /// Distances in steps, `[H]`.
        ahead: Vec<f64>,
        /// Pull towards zero, for each step; 0 is a random walk.
        rate: f64,
        /// Variance that comes in, for each step.
        diffusion: f64,
        /// Variance at the last value.
        start: f64,
        /// Variance of the noise.
        noise: f64,
    },
}

impl Projection {
    /// The value at distance `k` that lies `z` standard deviations from the middle.
    pub fn value(&self, k: usize, z: f64) -> f64 {
        let value = self.location[k] + z * self.scale[k];
        if self.log { value.exp() } else { value }
    }

    /// How fast [`Self::value`] grows with `z`.
    pub fn slope(&self, k: usize, z: f64) -> f64 {
        if self.log { self.scale[k] * self.value(k, z) } else { self.scale[k] }
    }

    /// The mean at distance `k`, where the scale is multiplied by `width`.
    pub fn mean(&self, k: usize, width: f64) -> f64 {
        match self.log {
            true => (self.location[k] + 0.5 * (width * self.scale[k]).powi(2)).exp(),
            false => self.location[k],
        }
    }

    /// Whether every number is one.
    pub fn is_valid(&self) -> bool {
        let numbers = self.location.iter().chain(&self.scale);
        numbers.clone().all(|number| number.is_finite())
            && self.scale.iter().all(|&scale| scale >= 0.0)
            && (!self.log || self.location.iter().all(|location| location.abs() < 600.0))
    }
}

/// Variance of a hidden path `distance` after it was known with variance `start`.
pub fn hidden_variance(start: f64, rate: f64, diffusion: f64, distance: f64) -> f64 {
    match rate > 1e-12 {
        true => {
            let kept = (-2.0 * rate * distance).exp();
            start * kept + diffusion * (1.0 - kept) / (2.0 * rate)
        }
        false => start + diffusion * distance,
    }
}

impl Errors {
    /// Errors along one path, each divided by its standard deviation, from standard normal numbers; `[H]`.
    pub fn path(&self, mut normal: impl FnMut() -> f64) -> Vec<f64> {
        match self {
            Errors::Moving { ahead, weights } => {
                let steps = ahead.iter().fold(0.0f64, |most, &a| most.max(a.ceil())).max(1.0) as usize;
                let weights = |j: usize| weights.get(j).copied().unwrap_or(0.0);
                let whole = match steps <= EXACT {
                    true => moving(steps, weights, &mut normal),
                    false => neighbouring(steps, weights, &mut normal),
                };
                let at = |&ahead: &f64| {
                    // Between two steps: the line between them.
                    let upper = (ahead.ceil() as usize).clamp(1, steps);
                    let share = upper as f64 - ahead.clamp(upper as f64 - 1.0, upper as f64);
                    let lower = if upper > 1 { whole[upper - 2] } else { whole[0] };
                    let value = (1.0 - share) * whole[upper - 1] + share * lower;
                    let length = ((1.0 - share).powi(2) + share.powi(2)).sqrt();
                    if lower == whole[upper - 1] { value } else { value / length.max(0.9) }
                };
                ahead.iter().map(at).collect()
            }
            &Errors::Markov { ref ahead, rate, diffusion, start, noise } => {
                let mut hidden = start.max(0.0).sqrt() * normal();
                let (mut before, mut path) = (0.0, Vec::with_capacity(ahead.len()));
                for &distance in ahead {
                    let gap = (distance - before).max(0.0);
                    before = distance;
                    let fresh = hidden_variance(0.0, rate, diffusion, gap);
                    hidden = hidden * (-rate * gap).exp() + fresh.sqrt() * normal();
                    let sd = (hidden_variance(start, rate, diffusion, distance) + noise).sqrt();
                    let error = hidden + noise.max(0.0).sqrt() * normal();
                    path.push(if sd > 0.0 { error / sd } else { 0.0 });
                }
                path
            }
        }
    }
}

/// Exact errors, each divided by its standard deviation.
fn moving(steps: usize, weights: impl Fn(usize) -> f64, normal: &mut impl FnMut() -> f64) -> Vec<f64> {
    let shocks: Vec<f64> = (0..steps).map(|_| normal()).collect();
    let mut variance = 0.0;
    let error = |h: usize| {
        variance += weights(h).powi(2);
        let error: f64 = (0..=h).map(|j| weights(j) * shocks[h - j]).sum();
        if variance > 0.0 { error / variance.sqrt() } else { 0.0 }
    };
    (0..steps).map(error).collect()
}

/// Errors whose neighbours go together as they should, in linear time.
fn neighbouring(steps: usize, weights: impl Fn(usize) -> f64, normal: &mut impl FnMut() -> f64) -> Vec<f64> {
    let (mut variance, mut product, mut z) = (0.0f64, 0.0, 0.0);
    let error = |h: usize| {
        // Between this step and the one before: products of neighbouring weights.
        let before = variance;
        variance += weights(h).powi(2);
        if h > 0 {
            product += weights(h) * weights(h - 1);
        }
        let correlation = match before > 0.0 && variance > 0.0 {
            true => (product / (before * variance).sqrt()).clamp(-1.0, 1.0),
            false => 0.0,
        };
        z = correlation * z + (1.0 - correlation * correlation).sqrt() * normal();
        z
    };
    (0..steps).map(error).collect()
}

/// A number between 0 and 1 from a standard normal one.
pub fn uniform(normal: f64) -> f64 {
    normal_probability(normal)
}
