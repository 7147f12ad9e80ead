//! How far the decoder is believed, channel by channel.

use super::{ChannelResidual, ResidualSample, fit};

/// One channel along one series: what was observed and decoded, where it was seen and where it was held back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecodedSample {
    /// The observed values, seen and held back.
    pub observed: ResidualSample,
    /// What the decoder says at the seen times, `[T]`.
    pub seen_means: Vec<f64>,
    /// What the decoder says at the held times, `[Q]`.
    pub held_means: Vec<f64>,
    /// Which way values were held back, and `None` for one that is not to be judged by. Each way counts for as much as
    /// any other.
    pub way: Option<usize>,
}

/// Degrees of shrinkage that are tried, beside none.
const SHRINKAGES: [f64; 4] = [1.0, 0.75, 0.5, 0.25];
/// Another process has to lower the logarithm of the squared error by so much.
const WORTHWHILE: f64 = 0.01;
/// Noise of a process without noise, as a share of its amplitude.
const NOISELESS: f64 = 1e-3;
/// How much longer a process remembers that hardly comes back to its mean.
const WANDERING: f64 = 30.0;
/// Largest error that counts in full, in sizes that one value in a hundred exceeds.
const OUTLYING: f64 = 10.0;

/// The process of a channel together with the [`shrinkage`](ChannelResidual::shrinkage) under which held values are predicted with
/// the least squared error. Without shrinkage the process is that of the observations themselves, and predictions are lines
/// between neighbours that fall back to the mean of the training data.
///
/// Spikes that the decoder has overfitted mislead it on new series; there, less shrinkage is better. Where values
/// jump now and then, the likeliest normal distribution takes the jumps for noise, and one without noise, or one that hardly comes
/// back to its mean, may predict better.
///
/// `samples` are of series that the decoder was not trained on. A process without shrinkage does not depend on the decoder, and
/// is learnt from `others` as well, which may be any series (their means do not matter).
pub fn fit_with_shrinkage(
    samples: &[DecodedSample],
    others: &[DecodedSample],
    fallback: f64,
) -> ChannelResidual {
    let limit = limit(samples);
    let mut best = Best { error: f64::INFINITY, process: ChannelResidual::white(fallback) };
    for shrinkage in SHRINKAGES {
        let residuals = residuals(samples, shrinkage);
        for process in candidates(&residuals, shrinkage, fallback) {
            let error = log_error(&process, samples, &residuals, limit);
            best.challenge(process, error, || judged(samples, &residuals));
        }
    }
    let all: Vec<DecodedSample> = samples.iter().chain(others).cloned().collect();
    let observed = residuals(&all, 0.0);
    let mut plain = Best { error: f64::INFINITY, process: ChannelResidual::white(fallback) };
    for process in candidates(&observed, 0.0, fallback) {
        plain.challenge(process, log_error(&process, &all, &observed, limit), || judged(&all, &observed));
    }
    let own = &observed[..samples.len()];
    best.challenge(plain.process, log_error(&plain.process, samples, own, limit), || judged(&all, &observed));
    best.process
}

/// The best process so far.
struct Best {
    error: f64,
    process: ChannelResidual,
}

impl Best {
    /// Takes a process that is better by enough, with the shape of the given residuals.
    fn challenge(
        &mut self,
        process: ChannelResidual,
        error: f64,
        residuals: impl FnOnce() -> Vec<ResidualSample>,
    ) {
        if error < self.error - WORTHWHILE {
            *self = Best { error, process: process.reshaped(&residuals()) };
        }
    }
}

/// The residuals that are judged by: intervals are to hold for what will be asked. All of them where none is.
fn judged(samples: &[DecodedSample], residuals: &[ResidualSample]) -> Vec<ResidualSample> {
    let pairs = samples.iter().zip(residuals);
    let judged: Vec<ResidualSample> =
        pairs.filter(|(sample, _)| sample.way.is_some()).map(|(_, residual)| residual.clone()).collect();
    if judged.is_empty() { residuals.to_vec() } else { judged }
}

fn residuals(samples: &[DecodedSample], shrinkage: f64) -> Vec<ResidualSample> {
    samples.iter().map(|sample| sample.residuals(shrinkage)).collect()
}

/// The likeliest process, the same without noise, and one that moves as fast but hardly comes back to its mean, so that
/// predictions between neighbours are straight lines.
fn candidates(
    residuals: &[ResidualSample],
    shrinkage: f64,
    fallback: f64,
) -> impl Iterator<Item = ChannelResidual> {
    let fitted = ChannelResidual { shrinkage, ..fit(residuals, fallback) };
    let noiseless = ChannelResidual { noise: NOISELESS * fitted.amplitude, ..fitted };
    let wandering = ChannelResidual {
        amplitude: noiseless.amplitude * WANDERING.sqrt(),
        length: noiseless.length * WANDERING,
        ..noiseless
    };
    [fitted, noiseless, wandering].into_iter().filter(ChannelResidual::is_valid)
}

/// The largest error that counts in full.
fn limit(samples: &[DecodedSample]) -> f64 {
    let values = samples.iter().flat_map(|sample| &sample.observed.held_values);
    let mut sizes: Vec<f64> = values.map(|x| x.abs()).filter(|x| *x > 0.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.get(sizes.len() * 99 / 100).map_or(f64::INFINITY, |size| OUTLYING * size)
}

impl DecodedSample {
    /// What is left over of the values when the decoder is shrunk so far.
    fn residuals(&self, shrinkage: f64) -> ResidualSample {
        let over = |values: &[f64], means: &[f64]| -> Vec<f64> {
            values.iter().zip(means).map(|(value, mean)| value - shrinkage * mean).collect()
        };
        ResidualSample {
            seen_values: over(&self.observed.seen_values, &self.seen_means),
            held_values: over(&self.observed.held_values, &self.held_means),
            ..self.observed.clone()
        }
    }
}

/// The mean over the ways of holding back of the logarithm of the mean squared error: tails, which nobody predicts
/// well, do not outweigh gaps.
fn log_error(
    process: &ChannelResidual,
    samples: &[DecodedSample],
    residuals: &[ResidualSample],
    limit: f64,
) -> f64 {
    let ways = samples.iter().filter_map(|sample| sample.way).max().map_or(0, |way| way + 1);
    let mut sums = vec![(0usize, 0.0); ways];
    for (sample, residual) in samples.iter().zip(residuals) {
        let Some(way) = sample.way else { continue };
        let said = process.condition(&residual.seen_times, &residual.seen_values, &residual.held_times);
        let (count, sum) = &mut sums[way];
        for (mean, value) in said.mean.iter().zip(&residual.held_values) {
            *count += 1;
            *sum += (value - mean).abs().min(limit).powi(2);
        }
    }
    let logs: Vec<f64> = sums
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, sum)| (sum / count as f64).max(f64::MIN_POSITIVE).ln())
        .collect();
    logs.iter().sum::<f64>() / logs.len().max(1) as f64
}
