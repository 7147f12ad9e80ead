//! Fit of the process of a channel's residuals to held-out values.
//!
//! What is maximised is what the process is for: the density of held values given the seen ones of their series.
//! With the share `q = s^2 / (a^2 + s^2)` of the noise, conditional means depend on `(l, q)` alone and
//! variances are `(a^2 + s^2) v(l, q)`; the best total variance is then the mean of `error^2 / v`, so that
//! two numbers are left to search for: a coarse grid in `(ln l, logit q)`, and a search from its best point
//! with shrinking steps.

use super::chain::{Dynamics, Event, Filtered, append, smooth};
use super::{ChannelResidual, Shape};

/// Residuals of one channel along one series and one draw of its path: what was seen, and what was held back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResidualSample {
    /// Increasing times of the seen residuals, `[T]`.
    pub seen_times: Vec<f64>,
    /// The seen residuals, `[T]`.
    pub seen_values: Vec<f64>,
    /// Increasing times of the held residuals, `[Q]`.
    pub held_times: Vec<f64>,
    /// The held residuals, `[Q]`.
    pub held_values: Vec<f64>,
}

/// Below this many held values a process with memory is not tried.
const ENOUGH_FOR_MEMORY: usize = 16;
/// Nats that memory has to gain, for its two numbers more.
const WORTHWHILE: f64 = 3.0;
/// Values further out than this many times the size exceeded by two values in a thousand are cut off in the search:
/// rare events count, what is out of all proportion does not.
const OUTLYING: f64 = 4.0;
/// Events that the search looks at; more are thinned out by blocks.
const SEARCHED: usize = 30_000;
const BLOCK: usize = 500;
/// Bounds of `logit q`: from `s = 0.001 a` to `s = 50 a`.
const SHARES: (f64, f64) = (-14.0, 8.0);

/// The process of a channel's residuals that gives the held values of `samples` the greatest density given the
/// seen ones.
///
/// What is held back decides what is learnt: values between seen ones tell how fast the residual moves,
/// `a^2 / l`, and only values far from seen ones tell `a` and `l` apart. Hold back both where both will be
/// asked for.
///
/// Deterministic, and steady where data are poor: with few held values, or where memory gains nothing, the
/// process is white with the standard deviation of the residuals; without any value it is white with standard deviation `fallback`.
/// Values that are out of all proportion are cut off for the search and the standard deviations, but not for the
/// [`shape`](ChannelResidual::shape).
///
/// ```
/// # use stroock::residual::{ResidualSample, fit};
/// let process = fit(&[], 0.3);
/// assert_eq!((process.amplitude, process.noise), (0.0, 0.3));
/// ```
pub fn fit(samples: &[ResidualSample], fallback: f64) -> ChannelResidual {
    let fallback = if fallback.is_finite() && fallback > 0.0 { fallback } else { 1.0 };
    let smallest = 1e-6 * fallback;
    let limit = OUTLYING * outlying(samples);
    let raw = Targets::new(samples, f64::INFINITY);
    let cut = Targets::new(samples, limit);

    let mut work = Vec::new();
    let white = ChannelResidual::white(match cut.sd() {
        Some(sd) => sd.max(smallest),
        None => fallback,
    });
    let mut process = white;
    if cut.held.len() >= ENOUGH_FOR_MEMORY
        && let Some(lengths) = cut.lengths()
    {
        let part = cut.thinned();
        let best = search(lengths, |point| part.profile(point, &mut work).0);
        let (density, scale) = cut.profile(best, &mut work);
        let (plain, _) = cut.profile(Point { length: 0.0, share: f64::INFINITY }, &mut work);
        if density > plain + WORTHWHILE && scale > smallest {
            let share = best.noise_share();
            process = ChannelResidual {
                amplitude: scale * (1.0 - share).sqrt(),
                length: best.length.exp(),
                noise: scale * share.sqrt(),
                ..white
            };
        }
    }
    process.shape = raw.shape(&process, &mut work);
    if process.is_valid() { process } else { ChannelResidual::white(fallback) }
}

impl ChannelResidual {
    /// The same process with the shape that the held values of samples have under it.
    pub(super) fn reshaped(self, samples: &[ResidualSample]) -> Self {
        let shape = Targets::new(samples, f64::INFINITY).shape(&self, &mut Vec::new());
        Self { shape, ..self }
    }
}

/// A point of the search: `ln l` and `logit q`.
#[derive(Clone, Copy, Debug)]
struct Point {
    length: f64,
    share: f64,
}

impl Point {
    fn noise_share(self) -> f64 {
        1.0 / (1.0 + (-self.share).exp())
    }
}

/// All samples as one chain, and the held values in its order.
struct Targets {
    events: Vec<Event>,
    held: Vec<f64>,
}

impl Targets {
    /// Values beyond `limit` are cut off; those that are not finite are left out.
    fn new(samples: &[ResidualSample], limit: f64) -> Self {
        let (mut events, mut held) = (Vec::new(), Vec::new());
        let cut = |times, values| finite(times, values).map(|(t, x)| (t, x.clamp(-limit, limit)));
        for sample in samples {
            let (times, values): (Vec<f64>, Vec<f64>) = cut(&sample.held_times, &sample.held_values).unzip();
            let (seen_times, seen_values): (Vec<f64>, Vec<f64>) =
                cut(&sample.seen_times, &sample.seen_values).unzip();
            append(&mut events, &seen_times, &seen_values, &times);
            held.extend(values);
        }
        Targets { events, held }
    }

    /// Root of the mean square of the held values, or of the seen ones where nothing is held.
    fn sd(&self) -> Option<f64> {
        let root = |count: usize, sum: f64| (count > 0).then(|| (sum / count as f64).sqrt());
        let seen = || self.events.iter().filter_map(|event| event.seen);
        root(self.held.len(), self.held.iter().map(|x| x * x).sum())
            .or_else(|| root(seen().count(), seen().map(|x| x * x).sum()))
    }

    /// Range of `ln l` worth looking at: from a third of the short gaps to ten times the longest series.
    /// `None` where no time passes.
    fn lengths(&self) -> Option<(f64, f64)> {
        let mut gaps: Vec<f64> =
            self.events.iter().map(|event| event.gap).filter(|gap| *gap > 0.0 && gap.is_finite()).collect();
        let (mut span, mut longest) = (0.0, 0.0f64);
        for event in &self.events {
            span = if event.gap.is_finite() { span + event.gap } else { 0.0 };
            longest = longest.max(span);
        }
        let place = gaps.len() / 10;
        let (_, short, _) = (!gaps.is_empty()).then(|| gaps.select_nth_unstable_by(place, f64::total_cmp))?;
        let range = ((*short / 3.0).ln(), (10.0 * longest).ln());
        (range.0.is_finite() && range.1.is_finite()).then_some(range)
    }

    /// At most about [`SEARCHED`] events, in whole blocks spread over all of them. A block forgets what was
    /// before it.
    fn thinned(&self) -> Targets {
        let stride = self.events.len().div_ceil(SEARCHED).max(1);
        let block = if stride == 1 { usize::MAX } else { BLOCK };
        let mut part = Targets { events: Vec::new(), held: Vec::new() };
        let mut held = self.held.iter();
        for (k, event) in self.events.iter().enumerate() {
            let value = if event.seen.is_none() { held.next() } else { None };
            if (k / block).is_multiple_of(stride) {
                let gap = if k % block == 0 { f64::INFINITY } else { event.gap };
                part.events.push(Event { gap, ..*event });
                part.held.extend(value);
            }
        }
        part
    }

    /// Hands every held value, last first, with its conditional mean and variance to `each`.
    fn judge(&self, dynamics: Dynamics, work: &mut Vec<Filtered>, mut each: impl FnMut(f64, f64, f64)) {
        dynamics.filtered(&self.events, work);
        let mut held = self.held.iter().rev();
        smooth(&self.events, work, |_, moments| {
            if let Some(&value) = held.next() {
                each(value, moments.mean, moments.variance + dynamics.noise);
            }
        });
    }

    /// Log density of the held values under the best total variance (up to a constant), and its root.
    fn profile(&self, point: Point, work: &mut Vec<Filtered>) -> (f64, f64) {
        let share = point.noise_share();
        let unit = Dynamics { variance: 1.0 - share, length: point.length.exp(), noise: share };
        let (mut logarithms, mut ratios) = (0.0, 0.0);
        // Logarithms of products of a few variances, which lie in [1e-7, 1], for the logarithm is dear.
        let (mut product, mut factors) = (1.0, 0);
        self.judge(unit, work, |value, mean, variance| {
            ratios += (value - mean) * (value - mean) / variance;
            product *= variance;
            factors += 1;
            if factors == 16 {
                logarithms += f64::ln(product);
                (product, factors) = (1.0, 0);
            }
        });
        logarithms += f64::ln(product);
        let count = self.held.len() as f64;
        let scale = (ratios / count).max(f64::MIN_POSITIVE);
        (-0.5 * (logarithms + count * scale.ln()), scale.sqrt())
    }

    /// Factor on the standard deviations with which nine in ten held values lie in their intervals of 90 %.
    fn shape(&self, process: &ChannelResidual, work: &mut Vec<Filtered>) -> Shape {
        let mut errors = Vec::with_capacity(self.held.len());
        let dynamics = Dynamics {
            variance: process.amplitude * process.amplitude,
            length: process.length,
            noise: process.noise * process.noise,
        };
        self.judge(dynamics, work, |value, mean, variance| errors.push((value - mean) / variance.sqrt()));
        Shape::fit(&errors)
    }
}

/// The best point of a grid, improved by steps to its eight neighbours that shrink when none is better.
fn search(lengths: (f64, f64), mut density: impl FnMut(Point) -> f64) -> Point {
    const LENGTHS: usize = 9;
    const SHARES_OF_GRID: [f64; 5] = [-6.0, -3.0, -1.0, 1.0, 3.0];
    let spacing = (lengths.1 - lengths.0) / (LENGTHS - 1) as f64;
    let mut best = (f64::NEG_INFINITY, Point { length: lengths.0, share: 0.0 });
    let mut improve = |best: &mut (f64, Point), point: Point| {
        let value = density(point);
        let better = value > best.0;
        if better {
            *best = (value, point);
        }
        better
    };
    for i in 0..LENGTHS {
        for share in SHARES_OF_GRID {
            improve(&mut best, Point { length: lengths.0 + spacing * i as f64, share });
        }
    }
    // What is known best is `a^2 / l`, a ridge along which `ln l + logit q` stays: equal steps follow it
    // diagonally.
    let (mut step, mut evaluations) = (1.0, 0);
    while step > 0.02 && evaluations < 160 {
        let centre = best.1;
        let mut moved = false;
        for (along, across) in [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)] {
            let point = Point {
                length: (centre.length + f64::from(along) * step).clamp(lengths.0, lengths.1),
                share: (centre.share + f64::from(across) * step).clamp(SHARES.0, SHARES.1),
            };
            evaluations += 1;
            moved |= improve(&mut best, point);
        }
        if !moved {
            step /= 2.0;
        }
    }
    best.1
}

/// The finite pairs of times and values.
fn finite<'a>(times: &'a [f64], values: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + 'a {
    let pairs = times.iter().copied().zip(values.iter().copied());
    pairs.filter(|(time, value)| time.is_finite() && value.is_finite())
}

/// The size that two values in a thousand exceed, or the largest where that is zero.
fn outlying(samples: &[ResidualSample]) -> f64 {
    let mut sizes: Vec<f64> = samples
        .iter()
        .flat_map(|sample| {
            let seen = finite(&sample.seen_times, &sample.seen_values);
            seen.chain(finite(&sample.held_times, &sample.held_values))
        })
        .map(|(_, value)| value.abs())
        .collect();
    match order_statistic(&mut sizes, 0.998) {
        Some(size) if size > 0.0 => size,
        _ => sizes.into_iter().fold(0.0, f64::max),
    }
}

/// The value with a share of the values below it; puts them in another order.
fn order_statistic(values: &mut [f64], share: f64) -> Option<f64> {
    let place = (values.len() as f64 * share) as usize;
    let place = place.min(values.len().checked_sub(1)?);
    Some(*values.select_nth_unstable_by(place, f64::total_cmp).1)
}
