//! Fit of the process of a channel's residuals to held-out values.
//!
//! What is maximised is what the process is for: the density of held values given the seen ones of their series, or of
//! every value given those before it.
//! With the share `q` of the noise in the total variance, and the share `p` of the slow part in the rest, conditional
//! means depend on `(l, q)` and `(m, p)` alone, and variances are proportional to the total; the best total variance
//! is then the mean of `error^2 / v`. One part alone is searched for on a grid in `(ln l, logit q)`, and from its best point
//! with shrinking steps; a smooth one, and two parts, by a simplex from there. Every further part has to gain enough.

use super::dynamics::{Dynamics, Part};
use super::search::simplex;
use super::targets::{Targets, outlying};
use super::{ChannelResidual, Smoothness};

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

/// Below this many targets a process with memory is not tried, and below that many none of two parts.
const ENOUGH_FOR_MEMORY: usize = 16;
const ENOUGH_FOR_TWO: usize = 60;
/// Nats that a part has to gain, for its two numbers more.
const WORTHWHILE: f64 = 3.0;
/// Values further out than this many times the size exceeded by two values in a thousand are cut off in the search:
/// rare events count, what is out of all proportion does not.
const OUTLYING: f64 = 4.0;
/// Events that the search for one part looks at, and those for more; what is beyond is thinned out by blocks.
const SEARCHED: usize = 30_000;
const SEARCHED_RICHLY: usize = 3_000;
/// Bounds of the logit of the share of the noise: from `s = 0.001 a` to `s = 50 a`.
const NOISES: (f64, f64) = (-14.0, 8.0);
/// Bounds of the logit of the share of the slow part.
const SLOWS: (f64, f64) = (-9.0, 9.0);

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
    Fit::new(samples, fallback).best().reshaped(samples)
}

impl ChannelResidual {
    /// The same process with the shape that the held values of samples have under it.
    pub(super) fn reshaped(self, samples: &[ResidualSample]) -> Self {
        Self { shape: Targets::new(samples, f64::INFINITY).shape(&self), ..self }
    }
}

/// The fit of one part, from which others go on.
pub(super) struct Fit {
    targets: Targets,
    fallback: f64,
    /// Range of logarithms of lengths worth looking at; `None` where there is too little to look at.
    lengths: Option<(f64, f64)>,
    /// The best process of one part or none.
    pub one_part: ChannelResidual,
    /// Its density, without what its part has to gain.
    density: f64,
}

impl Fit {
    /// To held values given the seen ones of their series.
    pub fn new(samples: &[ResidualSample], fallback: f64) -> Self {
        Self::of(Targets::new(samples, OUTLYING * outlying(samples)), fallback)
    }

    /// To every value given those before it: the greatest likelihood, which makes the most of few series.
    pub fn ahead(samples: &[ResidualSample], fallback: f64) -> Self {
        Self::of(Targets::ahead(samples, OUTLYING * outlying(samples)), fallback)
    }

    fn of(targets: Targets, fallback: f64) -> Self {
        let fallback = if fallback.is_finite() && fallback > 0.0 { fallback } else { 1.0 };
        let sd = targets.sd().map_or(fallback, |sd| sd.max(1e-6 * fallback));
        let white = Some(ChannelResidual::white(sd)).filter(ChannelResidual::is_valid);
        let white = white.unwrap_or(ChannelResidual::white(fallback));
        // From a third of the short gaps to a hundred times the longest series.
        let lengths = targets
            .spans()
            .map(|(short, longest)| ((short / 3.0).ln(), (100.0 * longest).ln()))
            .filter(|range| range.0.is_finite() && range.1.is_finite())
            .filter(|_| targets.len() >= ENOUGH_FOR_MEMORY);
        let (density, _) = targets.profile(&Point::WHITE.dynamics());
        let mut fit = Self { targets, fallback, lengths, one_part: white, density };
        if let Some(lengths) = lengths {
            let part = fit.targets.thinned(SEARCHED);
            let point = coarse_to_fine(lengths, |point| part.profile(&point.dynamics()).0);
            if let Some((process, density)) = fit.worthwhile(&point, fit.density + WORTHWHILE) {
                (fit.one_part, fit.density) = (process, density - WORTHWHILE);
            }
        }
        fit
    }

    /// The best process of one part, smooth or not, or of two, where that gains enough.
    pub fn best(&self) -> ChannelResidual {
        let mut best = (self.one_part, self.density);
        let Some(lengths) = self.lengths else { return best.0 };
        let part = self.targets.thinned(SEARCHED_RICHLY);
        let value = |point: &Point| part.profile(&point.dynamics()).0;
        let rough = self.start(lengths);
        let smooth = Point { smoothness: Smoothness::ThreeHalves, ..rough }.climbed_alone(lengths, value);
        let mut points = vec![(smooth, WORTHWHILE)];
        if self.targets.len() >= ENOUGH_FOR_TWO {
            for alone in [rough, smooth] {
                let starts = alone.with_another(&rough, lengths);
                let climbed = starts.map(|start| start.climbed(lengths, value));
                let better = usize::from(climbed[1].1 > climbed[0].1);
                points.push((climbed[better].0, 2.0 * WORTHWHILE));
            }
        }
        for (point, price) in points {
            if let Some((process, density)) = self.worthwhile(&point, best.1 + price) {
                best = (process, density - price);
            }
        }
        best.0
    }

    /// The process at a point and its density, if that is beyond `least`.
    fn worthwhile(&self, point: &Point, least: f64) -> Option<(ChannelResidual, f64)> {
        let unit = point.dynamics();
        let (density, scale) = self.targets.profile(&unit);
        let process = ChannelResidual {
            amplitude: scale * unit.quick.variance.sqrt(),
            length: unit.quick.length,
            smoothness: unit.smoothness,
            slow_amplitude: scale * unit.slow.variance.sqrt(),
            slow_length: unit.slow.length,
            ..ChannelResidual::white(scale * unit.noise.sqrt())
        };
        (density > least && scale > 1e-6 * self.fallback && process.is_valid()).then_some((process, density))
    }

    /// Where the search for more begins: at the one part, or in the middle where there is none.
    fn start(&self, lengths: (f64, f64)) -> Point {
        let ChannelResidual { amplitude, length, noise, .. } = self.one_part;
        let share = 2.0 * (noise / amplitude).ln();
        match amplitude > 0.0 {
            true => Point { length: length.ln(), noise: share.clamp(NOISES.0, NOISES.1), ..Point::WHITE },
            false => Point { length: lengths.0 + 0.3 * (lengths.1 - lengths.0), noise: 1.0, ..Point::WHITE },
        }
    }
}

/// A point of the search: logarithms of lengths, logits of shares.
#[derive(Clone, Copy, Debug)]
struct Point {
    smoothness: Smoothness,
    length: f64,
    noise: f64,
    /// `(ln m, logit p)`.
    slow: Option<(f64, f64)>,
}

impl Point {
    const WHITE: Self = Point { smoothness: Smoothness::Half, length: 0.0, noise: f64::INFINITY, slow: None };

    /// The process with a total variance of one.
    fn dynamics(&self) -> Dynamics {
        let share = |logit: f64| 1.0 / (1.0 + (-logit).exp());
        let noise = share(self.noise);
        let (length, slow) = self.slow.map_or((1.0, 0.0), |(length, logit)| (length.exp(), share(logit)));
        Dynamics {
            smoothness: self.smoothness,
            quick: Part { variance: (1.0 - noise) * (1.0 - slow), length: self.length.exp() },
            slow: Part { variance: (1.0 - noise) * slow, length },
            noise,
        }
    }

    fn bounded(&self, lengths: (f64, f64)) -> Self {
        let within = |x: f64, (low, high): (f64, f64)| x.clamp(low, high);
        Point {
            length: within(self.length, lengths),
            noise: within(self.noise, NOISES),
            slow: self.slow.map(|(length, share)| (within(length, lengths), within(share, SLOWS))),
            ..*self
        }
    }

    /// The best point of one part, from three lengths.
    fn climbed_alone(&self, lengths: (f64, f64), value: impl Fn(&Point) -> f64) -> Point {
        let at =
            |[length, noise]: &[f64; 2]| Point { length: *length, noise: *noise, ..*self }.bounded(lengths);
        let climbed = [0.0, -1.5, -3.0].map(|by| {
            let start = [(self.length + by).max(lengths.0), self.noise];
            simplex(start, 1.0, 40, 0.02, |point| value(&at(point)))
        });
        let best = climbed.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map_or(*self, |(point, _)| at(&point))
    }

    /// Points of two parts to begin at: this part on one that is much slower, and this part as a quick one on the
    /// given one.
    fn with_another(&self, other: &Point, lengths: (f64, f64)) -> [Point; 2] {
        let slower = Point { slow: Some((self.length + 3.0, -0.5)), ..*self };
        let quick = f64::min(self.length - 2.0, lengths.0 + 1.5);
        // What was noise is divided among noise and a quick part.
        let quicker = Point {
            length: quick,
            noise: other.noise - 0.7,
            slow: Some((other.length, (-other.noise).clamp(-1.0, 2.0))),
            ..*self
        };
        [slower.bounded(lengths), quicker.bounded(lengths)]
    }

    /// The best point of two parts from this one on, and its value.
    fn climbed(&self, lengths: (f64, f64), value: impl Fn(&Point) -> f64) -> (Point, f64) {
        let at = |[length, noise, slow, share]: &[f64; 4]| {
            Point { length: *length, noise: *noise, slow: Some((*slow, *share)), ..*self }.bounded(lengths)
        };
        let (slow, share) = self.slow.unwrap_or((self.length, 0.0));
        let start = [self.length, self.noise, slow, share];
        let (point, best) = simplex(start, 1.0, 110, 0.05, |point| value(&at(point)));
        (at(&point), best)
    }
}

/// The best point of a grid of one part, improved by steps to its eight neighbours that shrink when none is better.
fn coarse_to_fine(lengths: (f64, f64), mut density: impl FnMut(Point) -> f64) -> Point {
    const LENGTHS: usize = 10;
    const NOISES_OF_GRID: [f64; 5] = [-6.0, -3.0, -1.0, 1.0, 3.0];
    let spacing = (lengths.1 - lengths.0) / (LENGTHS - 1) as f64;
    let mut best = (f64::NEG_INFINITY, Point { length: lengths.0, noise: 0.0, ..Point::WHITE });
    let mut improve = |best: &mut (f64, Point), point: Point| {
        let value = density(point);
        let better = value > best.0;
        if better {
            *best = (value, point);
        }
        better
    };
    for i in 0..LENGTHS {
        for noise in NOISES_OF_GRID {
            improve(&mut best, Point { length: lengths.0 + spacing * i as f64, noise, ..Point::WHITE });
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
                length: centre.length + f64::from(along) * step,
                noise: centre.noise + f64::from(across) * step,
                ..centre
            };
            evaluations += 1;
            moved |= improve(&mut best, point.bounded(lengths));
        }
        if !moved {
            step /= 2.0;
        }
    }
    best.1
}
