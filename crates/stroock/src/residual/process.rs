//! The process of the residuals of a channel, and what follows from it.

use serde::{Deserialize, Serialize};

use super::Shape;
use super::chain::{Backward, Dynamics, Event, LARGEST, append, smooth};

/// The process of the residuals of one channel: `r(t) = a u(t) + s e(t)`, `E u(t) u(t') = exp(-|t - t'| / l)`.
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
    /// Standard deviation `a` of the part that persists.
    pub amplitude: f64,
    /// Time `l` after which the part that persists has a correlation of `1 / e`, in the units of the user.
    pub length: f64,
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

/// How new measurements differ from their conditional means, together.
#[derive(Clone, Debug)]
pub struct ConditionalDraws {
    /// From the last time to the first.
    steps: Vec<DrawStep>,
    noise: f64,
}

/// One time of the chain, given the one after it.
#[derive(Clone, Copy, Debug)]
struct DrawStep {
    slope: f64,
    sd: f64,
    is_asked: bool,
}

impl ConditionalDraws {
    /// A draw `[Q]`, multiplied by `factor`, for instance one that the shape [chooses](Shape::choose). `normal` gives
    /// independent standard normals: one for every time, seen or asked for, and one more for every time asked for.
    pub fn draw(&self, factor: f64, normal: &mut impl FnMut() -> f64) -> Vec<f64> {
        let (mut draws, mut state) = (Vec::new(), 0.0);
        for step in &self.steps {
            state = step.slope * state + step.sd * normal();
            if step.is_asked {
                draws.push(factor * (state + self.noise * normal()));
            }
        }
        draws.reverse();
        draws
    }
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
    pub fn white(scale: f64) -> Self {
        ChannelResidual { amplitude: 0.0, length: 1.0, noise: scale, shape: Shape::default(), shrinkage: 1.0 }
    }

    /// Whether all numbers are finite (and their squares are), standard deviations are not negative and not all zero,
    /// the length is positive and the shape is a distribution.
    pub fn is_valid(&self) -> bool {
        let sd = |x: f64| (0.0..=LARGEST).contains(&x);
        let positive = |x: f64| x > 0.0 && x <= LARGEST;
        sd(self.amplitude)
            && sd(self.noise)
            && self.amplitude + self.noise > 0.0
            && positive(self.length)
            && self.shape.is_valid()
            && (0.0..=1.0).contains(&self.shrinkage)
    }

    fn dynamics(&self) -> Dynamics {
        Dynamics {
            variance: self.amplitude * self.amplitude,
            length: self.length,
            noise: self.noise * self.noise,
        }
    }

    /// Mean and variance of a new measurement at each of the increasing times `at` `[Q]`, given the residuals
    /// `values` `[T]` seen at increasing `times` `[T]`.
    ///
    /// A new measurement has noise of its own, at a seen time too. Seen values that are not finite count as
    /// not seen. Exact, in `O(T + Q)`.
    pub fn condition(&self, times: &[f64], values: &[f64], at: &[f64]) -> Conditional {
        let dynamics = self.dynamics();
        let (events, mut states) = (chain(times, values, at), Vec::new());
        dynamics.filtered(&events, &mut states);
        let mut conditional =
            Conditional { mean: Vec::with_capacity(at.len()), variance: Vec::with_capacity(at.len()) };
        smooth(&events, &states, |_, moments| {
            conditional.mean.push(moments.mean);
            conditional.variance.push(moments.variance + dynamics.noise);
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
        let events = chain(times, &vec![0.0; times.len()], at);
        let mut states = Vec::new();
        self.dynamics().filtered(&events, &mut states);
        let steps = states.iter().enumerate().zip(&events).map(|((k, state), event)| {
            let Backward { slope, variance, .. } = Backward::new(state, states.get(k + 1));
            DrawStep { slope, sd: variance.sqrt(), is_asked: event.seen.is_none() }
        });
        ConditionalDraws { steps: steps.rev().collect(), noise: self.noise }
    }

    /// `ln p(values)` of residuals `[T]` at increasing `times` `[T]`, all together. The shape has no part in
    /// it.
    pub fn log_likelihood(&self, times: &[f64], values: &[f64]) -> f64 {
        let dynamics = self.dynamics();
        let mut sum = 0.0;
        dynamics.filter(&chain(times, values, &[]), |event, state| {
            if let Some(value) = event.seen {
                let variance = state.predicted.variance + dynamics.noise;
                sum += log_density(value - state.predicted.mean, variance);
            }
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

fn chain(times: &[f64], values: &[f64], at: &[f64]) -> Vec<Event> {
    let mut events = Vec::new();
    append(&mut events, times, values, at);
    events
}

/// `ln N(difference; 0, variance)`; a variance of zero is taken for the smallest positive one, so that the
/// result is never without meaning.
pub(super) fn log_density(difference: f64, variance: f64) -> f64 {
    let variance = variance.max(f64::MIN_POSITIVE);
    let ratio = difference / variance.sqrt();
    -0.5 * (ratio * ratio + variance.ln() + std::f64::consts::TAU.ln())
}
