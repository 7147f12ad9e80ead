//! The stochastic Lorenz attractor.

use rand_core::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use stroock::series::{Dataset, Labels, Observation, Series};
use stroock_kernels::noise::{Purpose, Stage};

use super::SyntheticError;
use super::draw::Normals;
use super::error::require;
use super::parts::key;

const NAME: &str = "stochastic Lorenz";
const TAG: &[u8; 8] = b"lorenz63";

/// Noisy observations of the Lorenz system driven by multiplicative noise (Li et al. 2020).
///
/// ```text
/// dX = 10 (Y - X) dt          + 0.10 X dW1
/// dY = (X (28 - Z) - Y) dt    + 0.28 Y dW2      X0, Y0, Z0 ~ N(0, 1)
/// dZ = (X Y - 8/3 Z) dt       + 0.30 Z dW3
/// ```
///
/// Simulated by the method of Milstein: each noise term depends on its own coordinate alone, so the
/// correction `1/2 b^2 x (dW^2 - dt)` needs no iterated integrals and raises the strong order from 1/2 to 1
/// at no cost. Every channel is then normalised over all series and times, and observation noise is added.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StochasticLorenz {
    /// Number of series.
    pub series: usize,
    /// Observations of a series, from time 0 on.
    pub points: usize,
    /// Time between observations.
    pub interval: f64,
    /// Steps of the simulation between observations.
    pub steps: usize,
    /// Standard deviation of the observation noise, in units of the normalised channels.
    pub noise: f64,
}

/// Means and standard deviations of the channels over the whole data set: `(x - mean) / standard deviation` is normalised.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Normaliser {
    /// Means of the channels.
    pub mean: [f64; 3],
    /// Standard deviations of the channels.
    pub sd: [f64; 3],
}

/// Observations and what takes them back to the units of the system.
#[derive(Clone, Debug, PartialEq)]
pub struct LorenzData {
    /// Normalised, noisy observations of (X, Y, Z).
    pub data: Dataset,
    /// The normalisation.
    pub normaliser: Normaliser,
}

impl Default for StochasticLorenz {
    /// 1 024 series on [0, 1], observed every 0.025 with noise 0.01, simulated with step 1e-4.
    fn default() -> Self {
        Self { series: 1024, points: 41, interval: 0.025, steps: 250, noise: 0.01 }
    }
}

impl StochasticLorenz {
    /// Generates the series.
    ///
    /// ```
    /// use stroock_experiments::synthetic::StochasticLorenz;
    /// let few = StochasticLorenz { series: 8, steps: 25, ..Default::default() }.generate(1)?;
    /// assert_eq!(few.data.series()[7].times.len(), 41);
    /// assert_eq!(few.data.time_range(), Some((0.0, 1.0)));
    /// # Ok::<(), stroock_experiments::synthetic::SyntheticError>(())
    /// ```
    ///
    /// # Errors
    /// When a parameter lies outside its range.
    pub fn generate(&self, seed: u64) -> Result<LorenzData, SyntheticError> {
        self.check()?;
        let stream =
            |number, sample| key(seed, TAG, Stage::Epoch(0)).stream(Purpose::Synthetic, number, sample);
        let paths: Vec<Vec<[f64; 3]>> =
            (0..self.series as u32).into_par_iter().map(|number| self.path(&mut stream(number, 0))).collect();
        let normaliser = Normaliser::of(paths.iter().flatten());
        let series = paths.into_par_iter().enumerate().map(|(number, path)| {
            let (mut words, mut normals) = (stream(number as u32, 1), Normals::default());
            let mut observe = |x: f64| (x + self.noise * normals.next(&mut words)) as f32;
            let values =
                path.iter().flat_map(|&state| normaliser.normalise(state).map(&mut observe)).collect();
            Series {
                id: format!("path {number}"),
                times: (0..self.points).map(|i| i as f64 * self.interval).collect(),
                values,
                observed: None,
                withheld: None,
                labels: Labels::None,
            }
        });
        let data = Dataset::new(Observation::Vector { channels: 3 }, series.collect())?;
        Ok(LorenzData { data, normaliser })
    }

    /// A path of the system at the times of observation, without normalisation and noise, `[points]`.
    pub fn path(&self, words: &mut impl Rng) -> Vec<[f64; 3]> {
        let mut normals = Normals::default();
        let mut normal = || normals.next(words);
        let dt = self.interval / self.steps as f64;
        let mut state = [normal(), normal(), normal()];
        let mut path = Vec::with_capacity(self.points);
        for index in 0..self.points {
            if index > 0 {
                for _ in 0..self.steps {
                    step(&mut state, dt, [normal(), normal(), normal()]);
                }
            }
            path.push(state);
        }
        path
    }

    fn check(&self) -> Result<(), SyntheticError> {
        let series = 2..=u32::MAX as usize;
        require(series.contains(&self.series), NAME, "series", self.series, "2 to 2^32 - 1 series")?;
        require(self.points > 0, NAME, "points", self.points, "at least one")?;
        let positive = self.interval.is_finite() && self.interval > 0.0;
        require(positive, NAME, "interval", self.interval, "a positive time")?;
        require(self.steps > 0, NAME, "steps", self.steps, "at least one")?;
        require(self.noise.is_finite(), NAME, "noise", self.noise, "a finite number")
    }
}

/// One step of Milstein's method.
fn step(state: &mut [f64; 3], dt: f64, normals: [f64; 3]) {
    const DIFFUSION: [f64; 3] = [0.1, 0.28, 0.3];
    let [x, y, z] = *state;
    let drift = [10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z];
    for i in 0..3 {
        let dw = dt.sqrt() * normals[i];
        let b = DIFFUSION[i];
        state[i] += drift[i] * dt + state[i] * (b * dw + 0.5 * b * b * (dw * dw - dt));
    }
}

impl Normaliser {
    /// Mean and unbiased standard deviation of some states.
    fn of<'a>(states: impl Iterator<Item = &'a [f64; 3]>) -> Self {
        let (mut count, mut mean, mut squares) = (0.0, [0.0; 3], [0.0; 3]);
        for state in states {
            count += 1.0;
            for i in 0..3 {
                let step = state[i] - mean[i];
                mean[i] += step / count;
                squares[i] += step * (state[i] - mean[i]);
            }
        }
        Self { mean, sd: squares.map(|sum: f64| (sum / (count - 1.0)).sqrt()) }
    }

    /// From the units of the system to normalised ones.
    pub fn normalise(&self, state: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|i| (state[i] - self.mean[i]) / self.sd[i])
    }

    /// From normalised units to those of the system.
    ///
    /// ```
    /// let normaliser =
    ///     stroock_experiments::synthetic::Normaliser { mean: [1.0, 0.0, 20.0], sd: [2.0, 1.0, 4.0] };
    /// assert_eq!(normaliser.restore([0.5, 0.0, -1.0]), [2.0, 0.0, 16.0]);
    /// ```
    pub fn restore(&self, normalised: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|i| normalised[i] * self.sd[i] + self.mean[i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::draw::Normals;
    use stroock_kernels::noise::NoiseKey;

    /// Of one step, everything up to the square of the noise is exact: what is left is of order 3/2 in `dt`.
    #[test]
    fn single_steps_have_local_order_three_halves() {
        for normal in [-3.0, -1.0, 2.0] {
            let error = |dt: f64| {
                let mut state = [0.0, 0.0, 1.0];
                step(&mut state, dt, [0.0, 0.0, normal]);
                let exact = (-(8.0 / 3.0 + 0.3 * 0.3 / 2.0) * dt + 0.3 * dt.sqrt() * normal).exp();
                (state[2] - exact).abs()
            };
            let order = (error(4e-6) / error(1e-6)).log2() / 2.0;
            assert!((1.45..1.55).contains(&order), "measured order {order}");
        }
    }

    /// With X = Y = 0 the third coordinate is a geometric Brownian motion, whose paths are known.
    #[test]
    fn the_strong_order_is_one() {
        let mut words = NoiseKey::new(1, 0).stream(Purpose::Synthetic, 0, 0);
        let mut normals = Normals::default();
        let (finest, paths) = (256, 500);
        let mut errors = [0.0; 2];
        for _ in 0..paths {
            let fine: Vec<f64> = (0..finest).map(|_| normals.next(&mut words)).collect();
            let path = fine.iter().sum::<f64>() / (finest as f64).sqrt();
            let exact = (-8.0 / 3.0 - 0.3 * 0.3 / 2.0 + 0.3 * path).exp();
            for (error, together) in errors.iter_mut().zip([4, 2]) {
                let mut state = [0.0, 0.0, 1.0];
                for some in fine.chunks_exact(together) {
                    let normal = some.iter().sum::<f64>() / (together as f64).sqrt();
                    step(&mut state, together as f64 / finest as f64, [0.0, 0.0, normal]);
                }
                assert_eq!(state[..2], [0.0; 2]);
                *error += (state[2] - exact).abs() / f64::from(paths);
            }
        }
        let order = (errors[0] / errors[1]).log2();
        assert!((0.85..1.15).contains(&order), "measured order {order}");
    }
}
