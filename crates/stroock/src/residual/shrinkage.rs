//! How far the decoder is believed, channel by channel.

use std::collections::BTreeMap;

use super::fit::Fit;
use super::{ChannelResidual, ResidualSample};

/// One channel along one series: what was observed and decoded, where it was seen and where it was held back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecodedSample {
    /// The observed values, seen and held back.
    pub observed: ResidualSample,
    /// What the decoder says at the seen times, `[T]`.
    pub seen_means: Vec<f64>,
    /// What the decoder says at the held times, `[Q]`.
    pub held_means: Vec<f64>,
    /// Which series it is: what several samples of one say about a decoder is not independent.
    pub series: usize,
    /// Which way values were held back, and `None` for one that is not to be judged by. Each way counts for as much as
    /// any other.
    pub way: Option<usize>,
}

/// One channel along series, without what a decoder says about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedSamples {
    /// Each series once, with all its values; which of them are seen does not matter.
    pub whole: Vec<ResidualSample>,
    /// Series with values held back, perhaps several times; their means do not matter.
    pub held: Vec<DecodedSample>,
}

/// Degrees of shrinkage that are tried, beside none.
const SHRINKAGES: [f64; 4] = [1.0, 0.75, 0.5, 0.25];
/// Another process has to lower the logarithm of the squared error by so much.
const WORTHWHILE: f64 = 0.01;
/// Noise of a process without noise, as a share of its amplitude.
const NOISELESS: f64 = 1e-3;
/// How much longer a process remembers that hardly comes back to its mean.
const WANDERING: f64 = 30.0;
/// Series without which nothing is known about a decoder, and standard errors that it has to gain.
const ENOUGH_SERIES: usize = 12;
const BY_CHANCE: f64 = 1.0;
/// Largest error that counts in full, in sizes that one value in a hundred exceeds.
const OUTLYING: f64 = 10.0;

/// The process of a channel together with the [`shrinkage`](ChannelResidual::shrinkage) under which held values are predicted with
/// the least squared error. Without shrinkage the process is that of the observations themselves: a Gaussian process of
/// the channel, which falls back to the mean of the training data.
///
/// Spikes that the decoder has overfitted mislead it on new series; there, less shrinkage is better, and none where the
/// gain may be chance. Where values jump now and then, the likeliest normal distribution takes the jumps for noise, and
/// one without noise, or one that hardly comes back to its mean, may predict better.
///
/// `samples` are of values that the decoder was not trained on. A process without shrinkage does not depend on the decoder, and
/// is the likeliest one of what was `observed`, of any series.
pub fn fit_with_shrinkage(
    samples: &[DecodedSample],
    observed: &ObservedSamples,
    fallback: f64,
) -> ChannelResidual {
    let all: Vec<DecodedSample> = samples.iter().chain(&observed.held).cloned().collect();
    let limit = limit(&all);
    let likeliest = Fit::ahead(&observed.whole, fallback).best();
    let plain = ChannelResidual { shrinkage: 0.0, ..likeliest };
    let mut decoded: Option<(Best, Judge, Fit)> = None;
    for shrinkage in SHRINKAGES {
        let judge = Judge::new(samples, shrinkage, limit);
        let fit = Fit::new(&judge.residuals, fallback);
        let mut best = Best::new(ChannelResidual { shrinkage, ..fit.one_part }, &judge);
        candidates(&fit, shrinkage).for_each(|process| best.challenge(process, &judge));
        if decoded.as_ref().is_none_or(|(before, ..)| best.error < before.error - WORTHWHILE) {
            decoded = Some((best, judge, fit));
        }
    }
    if let Some((variant, judge, fit)) = decoded {
        // The likeliest process has the better intervals: others have to predict better.
        let likeliest = ChannelResidual { shrinkage: variant.process.shrinkage, ..fit.best() };
        let mut best = Best::new(likeliest, &judge);
        best.challenge(variant.process, &judge);
        if judge.prefers(&best.process, &plain, &Judge::new(samples, 0.0, limit)) {
            return best.process.reshaped(&judge.judged());
        }
    }
    plain.reshaped(&Judge::new(&all, 0.0, limit).judged())
}

/// The best process so far.
struct Best {
    error: f64,
    process: ChannelResidual,
}

impl Best {
    fn new(process: ChannelResidual, judge: &Judge) -> Self {
        Self { error: judge.log_error(&process), process }
    }

    /// Takes a process that is better by enough.
    fn challenge(&mut self, process: ChannelResidual, judge: &Judge) {
        let error = judge.log_error(&process);
        if error < self.error - WORTHWHILE {
            *self = Self { error, process };
        }
    }
}

/// Variants of the process of one part: itself, the same without noise, and one that moves as fast but hardly comes
/// back to its mean, so that predictions between neighbours are straight lines.
fn candidates(fit: &Fit, shrinkage: f64) -> impl Iterator<Item = ChannelResidual> {
    let fitted = ChannelResidual { shrinkage, ..fit.one_part };
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

/// Residuals under one shrinkage, and what processes are judged by.
struct Judge {
    residuals: Vec<ResidualSample>,
    series: Vec<usize>,
    ways: Vec<Option<usize>>,
    limit: f64,
}

/// What a process is wrong by in one sample.
struct Wrong {
    series: usize,
    way: usize,
    count: usize,
    /// Sum of squared errors.
    squares: f64,
}

impl Judge {
    fn new(samples: &[DecodedSample], shrinkage: f64, limit: f64) -> Self {
        Self {
            residuals: samples.iter().map(|sample| sample.residuals(shrinkage)).collect(),
            series: samples.iter().map(|sample| sample.series).collect(),
            ways: samples.iter().map(|sample| sample.way).collect(),
            limit,
        }
    }

    /// The residuals that are judged by: intervals are to hold for what will be asked. All of them where none is.
    fn judged(&self) -> Vec<ResidualSample> {
        let pairs = self.ways.iter().zip(&self.residuals).filter(|(way, _)| way.is_some());
        let judged: Vec<ResidualSample> = pairs.map(|(_, residual)| residual.clone()).collect();
        if judged.is_empty() { self.residuals.clone() } else { judged }
    }

    /// What a process is wrong by in the samples that are judged by.
    fn wrong(&self, process: &ChannelResidual) -> Vec<Wrong> {
        let of_sample = |(i, residual): (usize, &ResidualSample)| {
            let way = self.ways[i]?;
            let said = process.condition(&residual.seen_times, &residual.seen_values, &residual.held_times);
            let errors = said.mean.iter().zip(&residual.held_values).map(|(mean, value)| value - mean);
            let squares = errors.map(|error| error.abs().min(self.limit).powi(2)).sum();
            Some(Wrong { series: self.series[i], way, count: residual.held_values.len(), squares })
        };
        self.residuals.iter().enumerate().filter_map(of_sample).collect()
    }

    /// The mean over the ways of holding back of the logarithm of the mean squared error: tails, which nobody predicts
    /// well, do not outweigh gaps.
    fn log_error(&self, process: &ChannelResidual) -> f64 {
        log_of(&totals(&self.wrong(process)))
    }

    /// Whether a process is better than another one, judged on the same values, by enough and by more than the
    /// differences among series would have it by chance.
    fn prefers(&self, process: &ChannelResidual, other: &ChannelResidual, of_other: &Judge) -> bool {
        let (ours, theirs) = (self.wrong(process), of_other.wrong(other));
        let totals_of_other = totals(&theirs);
        let mut gains: BTreeMap<usize, f64> = BTreeMap::new();
        for (ours, theirs) in ours.iter().zip(&theirs) {
            let gain = (theirs.squares - ours.squares) / totals_of_other[ours.way].1.max(f64::MIN_POSITIVE);
            *gains.entry(ours.series).or_default() += gain;
        }
        let sum: f64 = gains.values().sum();
        let mean = sum / gains.len().max(1) as f64;
        let spread = gains.values().map(|gain| (gain - mean).powi(2)).sum::<f64>().sqrt();
        gains.len() >= ENOUGH_SERIES
            && log_of(&totals(&ours)) < log_of(&totals_of_other) - WORTHWHILE
            && sum > BY_CHANCE * spread
    }
}

/// Values and sums of squared errors of each way of holding back.
fn totals(wrong: &[Wrong]) -> Vec<(usize, f64)> {
    let ways = wrong.iter().map(|wrong| wrong.way + 1).max().unwrap_or(0);
    let mut totals = vec![(0usize, 0.0); ways];
    for Wrong { way, count, squares, .. } in wrong {
        totals[*way].0 += count;
        totals[*way].1 += squares;
    }
    totals
}

fn log_of(totals: &[(usize, f64)]) -> f64 {
    let logs: Vec<f64> = totals
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, sum)| (sum / *count as f64).max(f64::MIN_POSITIVE).ln())
        .collect();
    logs.iter().sum::<f64>() / logs.len().max(1) as f64
}
