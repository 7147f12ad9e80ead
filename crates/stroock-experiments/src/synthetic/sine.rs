//! One sine, observed at a few irregular times.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};
use stroock::series::{Dataset, Labels, Observation, Series};
use stroock_kernels::noise::{Purpose, Stage};

use super::SyntheticError;
use super::draw::choose;
use super::error::require;
use super::parts::key;

const NAME: &str = "irregular sine";
const TAG: &[u8; 8] = b"irr.sine";

/// `0.8 sin(4 pi t)` at random points of a regular grid on [0, 1], inside a window: one series of one
/// channel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IrregularSine {
    /// Observations.
    pub points: usize,
    /// Points of the grid, with both ends.
    pub grid: usize,
    /// First and last time that may be observed.
    pub window: [f64; 2],
}

impl Default for IrregularSine {
    /// 16 points of a grid of 101, inside [0.2, 0.8].
    fn default() -> Self {
        Self { points: 16, grid: 101, window: [0.2, 0.8] }
    }
}

impl IrregularSine {
    /// The function that is observed, `0.8 sin(4 pi t)`.
    pub fn truth(t: f64) -> f64 {
        0.8 * (4.0 * PI * t).sin()
    }

    /// Generates the series.
    ///
    /// ```
    /// let data = stroock_experiments::synthetic::IrregularSine::default().generate(1)?;
    /// assert_eq!(data.series()[0].times.len(), 16);
    /// # Ok::<(), stroock_experiments::synthetic::SyntheticError>(())
    /// ```
    ///
    /// # Errors
    /// When the window has fewer points of the grid than are asked for.
    pub fn generate(&self, seed: u64) -> Result<Dataset, SyntheticError> {
        require(self.grid >= 2, NAME, "grid", self.grid, "at least 2 points")?;
        let time = |index: usize| index as f64 / (self.grid - 1) as f64;
        // Half a grid step of tolerance would let a neighbour in; rounding is far smaller.
        let [first, last] = [self.window[0] - 1e-9, self.window[1] + 1e-9];
        let inside: Vec<f64> = (0..self.grid).map(time).filter(|t| (first..=last).contains(t)).collect();
        let range = format!("1 to {}, the points of the grid in the window", inside.len());
        require((1..=inside.len()).contains(&self.points), NAME, "points", self.points, range)?;
        let mut words = key(seed, TAG, Stage::Epoch(0)).stream(Purpose::Synthetic, 0, 0);
        let times: Vec<f64> =
            choose(&mut words, self.points, inside.len()).into_iter().map(|place| inside[place]).collect();
        let series = Series {
            id: "sine".into(),
            values: times.iter().map(|&t| Self::truth(t) as f32).collect(),
            times,
            observed: None,
            withheld: None,
            labels: Labels::None,
        };
        Ok(Dataset::new(Observation::Vector { channels: 1 }, vec![series])?)
    }
}
