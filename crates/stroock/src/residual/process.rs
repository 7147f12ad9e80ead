//! The process of the residuals of a channel, and what follows from it.

use serde::{Deserialize, Serialize};

use super::chain::{Event, append};
use super::dynamics::{Dynamics, Part};
use super::{ConditionalDraws, Shape, Smoothness};

/// Larger standard deviations and lengths are not valid: their squares would not be finite.
const LARGEST: f64 = 1e150;

/// The process of the residuals of one channel, `r(t) = a u(t) + w v(t) + s e(t)`: a quick part `u` of the given
/// smoothness, a slow part `v` with `E v(t) v(t') = exp(-|t - t'| / m)`, and white noise `e`.
///
/// ```
/// # use stroock::residual::ChannelResidual;
/// let process = ChannelResidual { amplitude: 1.0, length: 2.0, ..ChannelResidual::white(0.1) };
/// // Seen: 0.8 at time 3. Asked: right beside it, and far away.
/// let conditional = process.condition(&[3.0], &[0.8], &[3.1, 50.0]);
/// assert!((conditional.mean[0] - 0.75).abs() < 0.01 && conditional.variance[0] < 0.12);
/// assert!(conditional.mean[1].abs() < 1e-6 && (conditional.variance[1] - 1.01).abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelResidual {
    /// Standard deviation `a` of the quick part.
    pub amplitude: f64,
    /// Length `l` of the quick part, in the units of the user: the time after which its correlation is `1 / e`, or 0.48
    /// where it is smooth.
    pub length: f64,
    /// How smooth the quick part is.
    #[serde(default)]
    pub smoothness: Smoothness,
    /// Standard deviation `w` of the slow part; 0 where there is none.
    #[serde(default)]
    pub slow_amplitude: f64,
    /// Time `m` after which the slow part has a correlation of `1 / e`.
    #[serde(default = "one")]
    pub slow_length: f64,
    /// Standard deviation `s` of the white part.
    pub noise: f64,
    /// How residuals are distributed once they are divided by their conditional standard deviations. It leaves the
    /// conditional means and [`log_likelihood`](Self::log_likelihood) alone.
    #[serde(default)]
    pub shape: Shape,
    /// Factor on what the decoder says: residuals are `observation - shrinkage * decoded`.
    #[serde(default = "one")]
    pub shrinkage: f64,
}

fn one() -> f64 {
    1.0
}

/// The processes of the residuals of all channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResidualProcess {
    /// One process a channel.
    pub channels: Vec<ChannelResidual>,
}

/// Means and variances of a residual at the times asked for, each given everything that was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditional {
    /// Means, `[Q]`.
    pub mean: Vec<f64>,
    /// Variances of a new measurement, with its noise, but without the shape, `[Q]`.
    pub variance: Vec<f64>,
}

impl ResidualProcess {
    /// White residuals with the given standard deviations.
    ///
    /// ```
    /// # use stroock::residual::ResidualProcess;
    /// let process = ResidualProcess::white(&[0.1, 0.5]);
    /// assert!(process.is_valid(2));
    /// assert_eq!(process.channels[1].condition(&[0.0], &[3.0], &[0.0]).mean, [0.0]);
    /// ```
    pub fn white(scales: &[f64]) -> Self {
        ResidualProcess { channels: scales.iter().map(|&scale| ChannelResidual::white(scale)).collect() }
    }

    /// Whether there is a valid process for each of `channels` channels.
    pub fn is_valid(&self, channels: usize) -> bool {
        self.channels.len() == channels && self.channels.iter().all(ChannelResidual::is_valid)
    }
}

impl ChannelResidual {
    /// White residuals with standard deviation `scale`.
    pub const fn white(scale: f64) -> Self {
        ChannelResidual {
            amplitude: 0.0,
            length: 1.0,
            smoothness: Smoothness::Half,
            slow_amplitude: 0.0,
            slow_length: 1.0,
            noise: scale,
            shape: Shape::NORMAL,
            shrinkage: 1.0,
        }
    }

    /// Standard deviation of a residual of which nothing is known, before its shape: `sqrt(a^2 + w^2 + s^2)`.
    ///
    /// ```
    /// # use stroock::residual::ChannelResidual;
    /// let process = ChannelResidual { amplitude: 2.0, slow_amplitude: 1.0, ..ChannelResidual::white(2.0) };
    /// assert_eq!(process.sd(), 3.0);
    /// ```
    pub fn sd(&self) -> f64 {
        self.amplitude.hypot(self.slow_amplitude).hypot(self.noise)
    }

    /// Whether all numbers are finite (and their squares are), standard deviations are not negative and not all zero,
    /// lengths are positive and the shape is a distribution.
    pub fn is_valid(&self) -> bool {
        let sd = |x: f64| (0.0..=LARGEST).contains(&x);
        let positive = |x: f64| x > 0.0 && x <= LARGEST;
        [self.amplitude, self.slow_amplitude, self.noise].into_iter().all(sd)
            && self.sd() > 0.0
            && positive(self.length)
            && positive(self.slow_length)
            && self.shape.is_valid()
            && (0.0..=1.0).contains(&self.shrinkage)
    }

    /// The process in units of its standard deviation, and that.
    pub(super) fn in_units(&self) -> (Dynamics, f64) {
        let sd = self.sd();
        let unit = if sd > 0.0 && sd.is_finite() { sd } else { 1.0 };
        // Parts that are lost in the others by rounding are none.
        let variance =
            |amplitude: f64| Some((amplitude / unit).powi(2)).filter(|v| *v > 1e-30).unwrap_or(0.0);
        let dynamics = Dynamics {
            smoothness: self.smoothness,
            quick: Part { variance: variance(self.amplitude), length: self.length },
            slow: Part { variance: variance(self.slow_amplitude), length: self.slow_length },
            noise: variance(self.noise),
        };
        (dynamics, unit)
    }

    /// Mean and variance of a new measurement at each of the increasing times `at` `[Q]`, given the residuals
    /// `values` `[T]` seen at increasing `times` `[T]`.
    ///
    /// A new measurement has noise of its own, at a seen time too. Seen values that are not finite count as
    /// not seen. Exact, in `O(T + Q)`.
    pub fn condition(&self, times: &[f64], values: &[f64], at: &[f64]) -> Conditional {
        let (dynamics, unit) = self.in_units();
        let mut conditional =
            Conditional { mean: Vec::with_capacity(at.len()), variance: Vec::with_capacity(at.len()) };
        dynamics.smooth(&chain(times, values, at, unit), |moments| {
            conditional.mean.push(unit * moments.mean);
            conditional.variance.push(unit * unit * moments.variance);
        });
        conditional.mean.reverse();
        conditional.variance.reverse();
        conditional
    }

    /// A draw of new measurements at the increasing times `at` `[Q]` together, given the residuals `values` `[T]` seen
    /// at increasing `times` `[T]`: the conditional means, and one of the [draws](Self::draws) around them.
    ///
    /// ```
    /// # use stroock::residual::ChannelResidual;
    /// let process = ChannelResidual { amplitude: 1.0, length: 2.0, ..ChannelResidual::white(0.0) };
    /// // With normals that are all zero, the draw is the conditional mean.
    /// let draw = process.draw(&[0.0], &[1.0], &[0.0, 2.0], 1.0, &mut || 0.0);
    /// assert!((draw[0] - 1.0).abs() < 1e-12 && (draw[1] - (-1f64).exp()).abs() < 1e-12);
    /// ```
    pub fn draw(
        &self,
        times: &[f64],
        values: &[f64],
        at: &[f64],
        factor: f64,
        normal: &mut impl FnMut() -> f64,
    ) -> Vec<f64> {
        let (seen, _): (Vec<f64>, Vec<f64>) =
            times.iter().zip(values).filter(|(_, value)| value.is_finite()).unzip();
        let around = self.draws(&seen, at).draw(factor, normal);
        self.condition(times, values, at)
            .mean
            .iter()
            .zip(around)
            .map(|(mean, around)| mean + around)
            .collect()
    }

    /// How new measurements at the increasing times `at` `[Q]` lie together, given that residuals were seen at
    /// increasing `times` `[T]`: [draws](ConditionalDraws::draw) of what they differ by from the conditional means,
    /// which does not depend on the values that were seen.
    ///
    /// ```
    /// # use stroock::residual::ChannelResidual;
    /// let process = ChannelResidual { amplitude: 1.0, length: 2.0, ..ChannelResidual::white(0.0) };
    /// // What was seen leaves nothing open at its own time.
    /// let draw = process.draws(&[0.0], &[0.0, 2.0]).draw(1.0, &mut || 1.0);
    /// assert!(draw[0].abs() < 1e-12 && draw[1] > 0.5);
    /// ```
    pub fn draws(&self, times: &[f64], at: &[f64]) -> ConditionalDraws {
        let (dynamics, unit) = self.in_units();
        ConditionalDraws::new(&dynamics, &chain(times, &vec![0.0; times.len()], at, unit), unit)
    }

    /// `ln p(values)` of residuals `[T]` at increasing `times` `[T]`, all together. The shape has no part in
    /// it.
    pub fn log_likelihood(&self, times: &[f64], values: &[f64]) -> f64 {
        let (dynamics, unit) = self.in_units();
        let mut sum = 0.0;
        dynamics.ahead(&chain(times, values, &[], unit), |value, ahead| {
            sum += log_density(value - ahead.mean, ahead.variance) - unit.ln();
        });
        sum
    }

    /// The sum of the log densities of `held` values, each given what was `seen` (and on its own, as predictions are):
    /// the [`condition`](Self::condition)al process with the shape. Both are (times, values). Held values that are not
    /// finite count for nothing.
    pub fn predictive_log_likelihood(&self, seen: (&[f64], &[f64]), held: (&[f64], &[f64])) -> f64 {
        let Conditional { mean, variance } = self.condition(seen.0, seen.1, held.0);
        let places = held.1.iter().zip(mean.iter().zip(&variance));
        let density = |(x, (mean, v)): (&f64, (&f64, &f64))| {
            let [narrow, wide] =
                self.shape.components().map(|(share, sd)| share.ln() + log_density(x - mean, v * sd * sd));
            let largest = f64::max(narrow, wide);
            if largest == f64::NEG_INFINITY {
                return largest;
            }
            largest + ((narrow - largest).exp() + (wide - largest).exp()).ln()
        };
        places.filter(|(x, _)| x.is_finite()).map(density).sum()
    }
}

fn chain(times: &[f64], values: &[f64], at: &[f64], unit: f64) -> Vec<Event> {
    let mut events = Vec::new();
    append(&mut events, times, values, at, unit);
    events
}

/// `ln N(difference; 0, variance)`; a variance of zero is taken for the smallest positive one, so that the
/// result is never without meaning.
pub(super) fn log_density(difference: f64, variance: f64) -> f64 {
    let variance = variance.max(f64::MIN_POSITIVE);
    let ratio = difference / variance.sqrt();
    -0.5 * (ratio * ratio + variance.ln() + std::f64::consts::TAU.ln())
}
