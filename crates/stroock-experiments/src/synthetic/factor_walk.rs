//! How much of a picture is seen through the noise: a bounded random walk.

use rand_core::Rng;
use serde::{Deserialize, Serialize};

use super::SyntheticError;
use super::draw::uniform;
use super::error::require;

/// The visibility of consecutive frames, from 0 (noise alone) to 1 (clean).
///
/// A walk `f_0 ~ U(0, 1)`, `f_{i+1} = clip(f_i + U(-s, s))` is stretched by thresholds that are drawn once a
/// sequence, `f <- clip((f - t1) / (t2 - t1))`, so that it rests at 0 and at 1 for some time. All clips are
/// to [0, 1]. The first frames stay clean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactorWalk {
    /// Largest change `s` between frames.
    pub change: f64,
    /// Range of the lower threshold `t1`.
    pub lower: [f64; 2],
    /// Range of the upper threshold `t2`.
    pub upper: [f64; 2],
    /// How many of the first frames are clean.
    pub clean: usize,
}

impl Default for FactorWalk {
    /// `s = 0.2`, `t1` in [0, 0.25), `t2` in [0.75, 1), five clean frames.
    fn default() -> Self {
        Self { change: 0.2, lower: [0.0, 0.25], upper: [0.75, 1.0], clean: 5 }
    }
}

impl FactorWalk {
    /// The factors of `count` frames.
    pub fn draw(&self, count: usize, words: &mut impl Rng) -> Vec<f64> {
        let lower = uniform(words, self.lower[0], self.lower[1]);
        let upper = uniform(words, self.upper[0], self.upper[1]);
        let mut walk = uniform(words, 0.0, 1.0);
        let mut factors = Vec::with_capacity(count);
        for index in 0..count {
            let stretched = ((walk - lower) / (upper - lower)).clamp(0.0, 1.0);
            factors.push(if index < self.clean { 1.0 } else { stretched });
            walk = (walk + uniform(words, -self.change, self.change)).clamp(0.0, 1.0);
        }
        factors
    }

    pub(super) fn check(&self, set: &'static str) -> Result<(), SyntheticError> {
        let finite = self.change.is_finite() && self.change >= 0.0;
        require(finite, set, "change", self.change, "a number of at least 0")?;
        let [a, b] = self.lower;
        let [c, d] = self.upper;
        let ordered = 0.0 <= a && a <= b && b < c && c <= d && d <= 1.0;
        require(ordered, set, "lower, upper", [a, b, c, d], "ranges with 0 <= lower < upper <= 1")
    }
}
