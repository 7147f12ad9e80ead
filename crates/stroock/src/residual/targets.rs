//! Held values as targets of the fit.

use super::chain::{Event, Moments, append};
use super::dynamics::Dynamics;
use super::{ChannelResidual, ResidualSample, Shape};

/// Events of a block, which is thinned out as a whole.
const BLOCK: usize = 500;

/// All samples as one chain, and the held values in its order.
pub(super) struct Targets {
    events: Vec<Event>,
    held: Vec<f64>,
    /// Whether every value is a target, given those before it, in place of the held ones given the seen ones.
    is_ahead: bool,
}

impl Targets {
    /// Values beyond `limit` are cut off; those that are not finite are left out.
    pub fn new(samples: &[ResidualSample], limit: f64) -> Self {
        let (mut events, mut held) = (Vec::new(), Vec::new());
        let cut = |times, values| finite(times, values).map(|(t, x)| (t, x.clamp(-limit, limit)));
        for sample in samples {
            let (times, values): (Vec<f64>, Vec<f64>) = cut(&sample.held_times, &sample.held_values).unzip();
            let (seen_times, seen_values): (Vec<f64>, Vec<f64>) =
                cut(&sample.seen_times, &sample.seen_values).unzip();
            append(&mut events, &seen_times, &seen_values, &times, 1.0);
            held.extend(values);
        }
        Targets { events, held, is_ahead: false }
    }

    /// Every value of samples, seen or held, as a target given those before it.
    pub fn ahead(samples: &[ResidualSample], limit: f64) -> Self {
        let merged = |sample: &ResidualSample| {
            let seen = finite(&sample.seen_times, &sample.seen_values);
            let mut all: Vec<(f64, f64)> =
                seen.chain(finite(&sample.held_times, &sample.held_values)).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (seen_times, seen_values) = all.into_iter().unzip();
            ResidualSample { seen_times, seen_values, ..ResidualSample::default() }
        };
        let whole: Vec<ResidualSample> = samples.iter().map(merged).collect();
        Targets { is_ahead: true, ..Self::new(&whole, limit) }
    }

    /// Values that are targets.
    pub fn len(&self) -> usize {
        if self.is_ahead { self.events.len() } else { self.held.len() }
    }

    /// Root of the mean square of the held values, or of the seen ones where nothing is held.
    pub fn sd(&self) -> Option<f64> {
        let root = |count: usize, sum: f64| (count > 0).then(|| (sum / count as f64).sqrt());
        let seen = || self.events.iter().filter_map(|event| event.seen);
        root(self.held.len(), self.held.iter().map(|x| x * x).sum())
            .or_else(|| root(seen().count(), seen().map(|x| x * x).sum()))
    }

    /// A short gap between times and the longest series; `None` where no time passes.
    pub fn spans(&self) -> Option<(f64, f64)> {
        let mut gaps: Vec<f64> =
            self.events.iter().map(|event| event.gap).filter(|gap| *gap > 0.0 && gap.is_finite()).collect();
        let (mut span, mut longest) = (0.0, 0.0f64);
        for event in &self.events {
            span = if event.gap.is_finite() { span + event.gap } else { 0.0 };
            longest = longest.max(span);
        }
        Some((order_statistic(&mut gaps, 0.1)?, longest))
    }

    /// At most about `most` events, in whole blocks spread over all of them. A block forgets what was before it.
    pub fn thinned(&self, most: usize) -> Targets {
        let stride = self.events.len().div_ceil(most).max(1);
        let block = if stride == 1 { usize::MAX } else { BLOCK };
        let mut part = Targets { events: Vec::new(), held: Vec::new(), is_ahead: self.is_ahead };
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

    /// Log density of the held values under the best total variance (up to a constant), and its root, for a process
    /// whose variances add up to one.
    pub fn profile(&self, unit: &Dynamics) -> (f64, f64) {
        let (mut logarithms, mut ratios) = (0.0, 0.0);
        // Logarithms of products of a few variances, which lie in [1e-7, 1], for the logarithm is dear.
        let (mut product, mut factors) = (1.0, 0);
        self.judge(unit, |value, Moments { mean, variance }| {
            ratios += (value - mean) * (value - mean) / variance;
            product *= variance;
            factors += 1;
            if factors == 16 {
                logarithms += f64::ln(product);
                (product, factors) = (1.0, 0);
            }
        });
        logarithms += f64::ln(product);
        let count = self.len() as f64;
        let scale = (ratios / count).max(f64::MIN_POSITIVE);
        (-0.5 * (logarithms + count * scale.ln()), scale.sqrt())
    }

    /// The shape of the held values under a process.
    pub fn shape(&self, process: &ChannelResidual) -> Shape {
        let mut errors = Vec::with_capacity(self.held.len());
        let (dynamics, unit) = process.in_units();
        let events = self.events.iter().map(|event| Event { seen: event.seen.map(|x| x / unit), ..*event });
        let held = self.held.iter().map(|x| x / unit).collect();
        let scaled = Targets { events: events.collect(), held, is_ahead: self.is_ahead };
        scaled.judge(&dynamics, |value, Moments { mean, variance }| {
            errors.push((value - mean) / variance.sqrt());
        });
        Shape::fit(&errors)
    }

    /// Hands every target with its conditional mean and variance to `each`.
    fn judge(&self, dynamics: &Dynamics, mut each: impl FnMut(f64, Moments)) {
        if self.is_ahead {
            return dynamics.ahead(&self.events, each);
        }
        let mut held = self.held.iter().rev();
        dynamics.smooth(&self.events, |moments| {
            if let Some(&value) = held.next() {
                each(value, moments);
            }
        });
    }
}

/// The finite pairs of times and values.
fn finite<'a>(times: &'a [f64], values: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + 'a {
    let pairs = times.iter().copied().zip(values.iter().copied());
    pairs.filter(|(time, value)| time.is_finite() && value.is_finite())
}

/// The size that two values in a thousand exceed, or the largest where that is zero.
pub(super) fn outlying(samples: &[ResidualSample]) -> f64 {
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
