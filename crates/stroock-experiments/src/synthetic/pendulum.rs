//! The pendulum: a rod that turns about one end, with friction, and with noise in its velocity.

use std::f64::consts::{PI, TAU};

use rand_core::Rng;
use serde::{Deserialize, Serialize};

use super::SyntheticError;
use super::draw::{Normals, choose, uniform};
use super::error::require;

/// A rod under gravity, `theta'' = c sin(theta) - friction theta'`, where `theta = 0` is upright.
///
/// Integrated by the semi-implicit Euler method with a fixed small step: the velocity first, then the angle
/// with the new velocity. Without friction and noise the energy `theta'^2 / 2 + c cos(theta)` then stays
/// within O(step) of its start for all times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pendulum {
    /// `c = g l m / I`; for a rod, `I = m l^2 / 3` and `c = 3 g / l`.
    pub gravity: f64,
    /// Friction per unit of velocity.
    pub friction: f64,
    /// Time step of the integration in seconds.
    pub step: f64,
    /// Standard deviation of what is added to the velocity after every recorded step.
    pub velocity_noise: f64,
}

/// Where the pendulum is, and how fast it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swing {
    /// `theta - pi`, in [-pi, pi): zero where it hangs down.
    pub angle: f64,
    /// `theta'`.
    pub velocity: f64,
}

impl Default for Pendulum {
    /// A rod of 1 m and 1 kg: `c = 29.43`, friction 0.1, step 1e-4 s, velocity noise 0.1.
    fn default() -> Self {
        Self { gravity: 3.0 * 9.81, friction: 0.1, step: 1e-4, velocity_noise: 0.1 }
    }
}

impl Pendulum {
    /// The first `count` recorded swings, `interval` seconds apart, of a pendulum let go at `theta = start`.
    /// The interval is rounded to whole steps of the integration.
    ///
    /// ```
    /// use stroock_experiments::synthetic::Pendulum;
    /// use stroock_kernels::noise::{NoiseKey, Purpose};
    /// let mut words = NoiseKey::new(1, 0).stream(Purpose::Synthetic, 0, 0);
    /// let hanging = Pendulum { velocity_noise: 0.0, ..Pendulum::default() };
    /// let swings = hanging.record(std::f64::consts::PI, 0.05, 100, &mut words);
    /// assert!(swings.iter().all(|swing| swing.angle.abs() < 1e-9));
    /// ```
    pub fn record(&self, start: f64, interval: f64, count: usize, words: &mut impl Rng) -> Vec<Swing> {
        let steps = (interval / self.step).round() as usize;
        let mut normals = Normals::default();
        let (mut theta, mut velocity) = (start.rem_euclid(TAU), 0.0);
        let mut swings = Vec::with_capacity(count);
        for index in 0..count {
            if index > 0 {
                for _ in 0..steps {
                    velocity += self.step * (self.gravity * theta.sin() - self.friction * velocity);
                    theta += self.step * velocity;
                }
                velocity += self.velocity_noise * normals.next(words);
                theta = theta.rem_euclid(TAU);
            }
            swings.push(Swing { angle: theta - PI, velocity });
        }
        swings
    }
}

/// How a pendulum is recorded, and which of the recorded steps are kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// The pendulum.
    pub pendulum: Pendulum,
    /// Seconds between recorded steps.
    pub interval: f64,
    /// Recorded steps, with the start.
    pub recorded: usize,
    /// Steps that are kept, at random.
    pub kept: usize,
}

impl Recording {
    /// The paper's recording at an interval: 50 of 100 steps.
    pub(super) fn every(interval: f64) -> Self {
        Self { pendulum: Pendulum::default(), interval, recorded: 100, kept: 50 }
    }

    /// The swings of a pendulum let go at a random angle, and the increasing numbers of those that are kept.
    pub(super) fn draw(&self, swings: &mut impl Rng, kept: &mut impl Rng) -> (Vec<Swing>, Vec<usize>) {
        let start = uniform(swings, 0.0, TAU);
        let swings = self.pendulum.record(start, self.interval, self.recorded, swings);
        (swings, choose(kept, self.kept, self.recorded))
    }

    pub(super) fn check(&self, set: &'static str) -> Result<(), SyntheticError> {
        let Pendulum { gravity, friction, step, velocity_noise } = self.pendulum;
        let positive = |x: f64| x.is_finite() && x > 0.0;
        require(gravity.is_finite(), set, "gravity", gravity, "a finite number")?;
        require(friction.is_finite(), set, "friction", friction, "a finite number")?;
        require(positive(step), set, "step", step, "a positive time")?;
        require(velocity_noise.is_finite(), set, "velocity_noise", velocity_noise, "a finite number")?;
        let whole = positive(self.interval) && (self.interval / step).round() >= 1.0;
        require(whole, set, "interval", self.interval, format!("at least one step of {step} s"))?;
        let kept = (1..=self.recorded).contains(&self.kept);
        require(kept, set, "kept", self.kept, format!("1 to {} recorded steps", self.recorded))
    }
}
