//! What mean paths leave over, as a process of its own: nothing of it is known in advance.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use stroock_kernels::noise::Stream;

use crate::predict::normal;
use crate::residual::ChannelResidual;

/// A series beside its mean path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remainder {
    /// Increasing times, `[T]`.
    pub times: Vec<f64>,
    /// Observed values, `[T, C]`; not a number where there is none.
    pub values: Vec<f64>,
    /// The mean path, `[T, C]`.
    pub mean_path: Vec<f64>,
}

/// Stationary residuals of all channels: `x_c(t) = b_c m_c(t) + a_c u_c(t) + s_c e_c(t)` around a mean path `m`, with
/// Ornstein-Uhlenbeck processes `u_c` of length `l_c` and white `e_c`. The noise that drives the channels is correlated
/// between them as the residuals are.
///
/// This is not the process that predictions are made with ([`ResidualProcess`](crate::residual::ResidualProcess)), which
/// is chosen such that it fills gaps well, and tells little about how residuals look where nothing is to be predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct StationaryResidual {
    /// One process for each channel.
    pub channels: Vec<StationaryChannel>,
    /// The lower triangle `L`, `[C, C]`, of the correlations `L L^T` between channels; empty where they are independent.
    pub factor: Vec<f64>,
}

/// The residuals of one channel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationaryChannel {
    /// Factor `b` on the mean path, from 0 to 1.
    pub shrinkage: f64,
    /// Standard deviation `a` of the part that persists.
    pub amplitude: f64,
    /// Time `l` after which that part has a correlation of `1 / e`, in the units of the user.
    pub length: f64,
    /// Standard deviation `s` of the white part.
    pub noise: f64,
}

/// Values of a channel without which nothing is learned about it.
const ENOUGH: usize = 30;
/// Shares of the variance that may persist.
const SHARES: [f64; 9] = [0.1, 0.3, 0.5, 0.7, 0.85, 0.93, 0.97, 0.99, 0.999];
/// Lengths that are tried, from the shortest to the longest.
const LENGTHS: usize = 14;
/// Channels whose correlations are found. Those of more would take room with the square of their number, and time with its
/// cube; then channels are independent of each other, given their mean paths.
const MOST_CORRELATED: usize = 512;
/// Correlations of so many values at common times count half.
const HALF: f64 = 30.0;

impl StationaryChannel {
    /// Residuals that vanish.
    const NONE: Self = Self { shrinkage: 1.0, amplitude: 0.0, length: 1.0, noise: 0.0 };

    /// Whether all numbers are finite and within their bounds.
    pub fn is_valid(&self) -> bool {
        let sd = |x: f64| x >= 0.0 && x.is_finite();
        (0.0..=1.0).contains(&self.shrinkage)
            && sd(self.amplitude)
            && sd(self.noise)
            && self.length > 0.0
            && self.length.is_finite()
    }

    /// The process of one channel: the shrinkage by regression, the variance of the residuals as it is, and its share
    /// that persists, and for how long, by the likelihood.
    fn fit(series: &[Remainder], channels: usize, channel: usize) -> Self {
        let pairs = || series.iter().flat_map(|series| series.pairs(channels, channel));
        let count = pairs().count();
        if count < ENOUGH {
            return Self::NONE;
        }
        let mean = |f: fn((f64, f64)) -> f64| pairs().map(f).sum::<f64>() / count as f64;
        let (observed, said) = (mean(|pair| pair.0), mean(|pair| pair.1));
        let moment = |f: &dyn Fn(f64, f64) -> f64| {
            pairs().map(|(value, path)| f(value - observed, path - said)).sum::<f64>() / count as f64
        };
        let variance = moment(&|_, path| path * path);
        let slope = if variance > 0.0 { moment(&|value, path| value * path) / variance } else { 0.0 };
        let shrinkage = slope.clamp(0.0, 1.0);
        let sd = moment(&|value, path| (value - shrinkage * path).powi(2)).sqrt();
        if !(sd > 0.0 && sd.is_finite()) {
            return Self { shrinkage, ..Self::NONE };
        }
        let residuals: Vec<(Vec<f64>, Vec<f64>)> = (series.iter())
            .map(|series| series.residuals(channels, channel, shrinkage, observed - shrinkage * said))
            .collect();
        let of = |share: f64, length: f64| {
            let (amplitude, noise) = (sd * share.sqrt(), sd * (1.0 - share).sqrt());
            Self { shrinkage, amplitude, length, noise }
        };
        let likelihood = |process: &Self| -> f64 {
            let process = process.process();
            residuals.iter().map(|(times, values)| process.log_likelihood(times, values)).sum()
        };
        let mut best = (likelihood(&of(0.0, 1.0)), of(0.0, 1.0));
        for length in lengths(series) {
            for share in SHARES {
                let tried = of(share, length);
                let found = likelihood(&tried);
                if found > best.0 {
                    best = (found, tried);
                }
            }
        }
        best.1
    }

    fn process(&self) -> ChannelResidual {
        let &Self { shrinkage, amplitude, length, noise } = self;
        ChannelResidual { amplitude, length, shrinkage, ..ChannelResidual::white(noise) }
    }
}

impl StationaryResidual {
    /// The process under which series lie around their mean paths, for `channels` channels.
    pub fn fit(series: &[Remainder], channels: usize) -> Self {
        let fit = |channel: usize| StationaryChannel::fit(series, channels, channel);
        let found: Vec<StationaryChannel> = (0..channels).into_par_iter().map(fit).collect();
        let factor = match channels {
            0..=MOST_CORRELATED => factor(&correlations(series, &found), channels),
            _ => Vec::new(),
        };
        Self { channels: found, factor }
    }

    /// Whether there is a valid process for each of so many channels.
    pub fn is_valid(&self, channels: usize) -> bool {
        self.channels.len() == channels
            && self.channels.iter().all(StationaryChannel::is_valid)
            && (self.factor.is_empty() || Some(self.factor.len()) == channels.checked_mul(channels))
            && self.factor.iter().all(|number| number.is_finite())
    }

    /// Draws a series `[T, C]` around a mean path `[T, C]` at increasing times `[T]`.
    pub fn draw(&self, times: &[f64], mean_path: &[f64], stream: &mut Stream) -> Vec<f64> {
        let channels = self.channels.len();
        let mut states = vec![0.0; channels];
        let mut drawn = Vec::with_capacity(mean_path.len());
        for (index, &time) in times.iter().enumerate() {
            let (lasting, white) = (self.correlated(stream), self.correlated(stream));
            for (channel, process) in self.channels.iter().enumerate() {
                let gap = if index > 0 { time - times[index - 1] } else { f64::INFINITY };
                let kept = (-gap / process.length).exp();
                states[channel] = kept * states[channel] + (1.0 - kept * kept).sqrt() * lasting[channel];
                let residual = process.amplitude * states[channel] + process.noise * white[channel];
                drawn.push(process.shrinkage * mean_path[index * channels + channel] + residual);
            }
        }
        drawn
    }

    /// Standard normals of all channels with their correlations.
    fn correlated(&self, stream: &mut Stream) -> Vec<f64> {
        let channels = self.channels.len();
        let independent: Vec<f64> = (0..channels).map(|_| normal(stream)).collect();
        if self.factor.is_empty() {
            return independent;
        }
        let row = |channel: usize| &self.factor[channel * channels..=channel * channels + channel];
        (0..channels).map(|c| row(c).iter().zip(&independent).map(|(l, e)| l * e).sum()).collect()
    }
}

impl Remainder {
    /// Observed values of a channel beside the mean path.
    fn pairs(&self, channels: usize, channel: usize) -> impl Iterator<Item = (f64, f64)> + '_ {
        let values = self.values.iter().skip(channel).step_by(channels);
        let paths = self.mean_path.iter().skip(channel).step_by(channels);
        values.zip(paths).map(|(&value, &path)| (value, path)).filter(|pair| pair.0.is_finite())
    }

    /// Times and residuals of a channel.
    fn residuals(&self, channels: usize, channel: usize, shrinkage: f64, shift: f64) -> (Vec<f64>, Vec<f64>) {
        let place = |index: usize| index * channels + channel;
        let seen = (0..self.times.len()).filter(|&index| self.values[place(index)].is_finite());
        let residual =
            |index: usize| self.values[place(index)] - shrinkage * self.mean_path[place(index)] - shift;
        seen.map(|index| (self.times[index], residual(index))).unzip()
    }
}

/// Lengths from half of a usual step to four times the longest series.
fn lengths(series: &[Remainder]) -> Vec<f64> {
    let ends = series.iter().filter_map(|series| series.times.first().zip(series.times.last()));
    let longest = ends.map(|(first, last)| last - first).fold(0.0, f64::max);
    let steps = series.iter().map(|series| series.times.len().saturating_sub(1)).max().unwrap_or(0);
    if !(longest > 0.0 && longest.is_finite()) || steps == 0 {
        return Vec::new();
    }
    let (shortest, longest) = (0.5 * longest / steps as f64, 4.0 * longest);
    let ratio = (longest / shortest).powf(1.0 / (LENGTHS - 1) as f64);
    (0..LENGTHS).map(|k| shortest * ratio.powi(k as i32)).collect()
}

/// Correlations of the residuals of channels at the same time, `[C, C]`; less of them where there are few such times.
fn correlations(series: &[Remainder], processes: &[StationaryChannel]) -> Vec<f64> {
    let channels = processes.len();
    let mut sums = vec![(0.0, 0.0, 0.0, 0.0); channels * channels];
    for series in series {
        for index in 0..series.times.len() {
            let residual = |channel: usize| {
                let place = index * channels + channel;
                series.values[place] - processes[channel].shrinkage * series.mean_path[place]
            };
            for a in 0..channels {
                for b in 0..a {
                    let (x, y) = (residual(a), residual(b));
                    if x.is_finite() && y.is_finite() {
                        let sums = &mut sums[a * channels + b];
                        *sums = (sums.0 + x * y, sums.1 + x * x, sums.2 + y * y, sums.3 + 1.0);
                    }
                }
            }
        }
    }
    let mut found = vec![0.0; channels * channels];
    for a in 0..channels {
        found[a * channels + a] = 1.0;
        for b in 0..a {
            let (product, x, y, count) = sums[a * channels + b];
            let scale = (x * y).sqrt();
            let correlation = if scale > 0.0 { product / scale * count / (count + HALF) } else { 0.0 };
            found[a * channels + b] = correlation;
            found[b * channels + a] = correlation;
        }
    }
    found
}

/// The lower triangle `L` with `L L^T` the given correlations `[n, n]`; where these are of no distribution, because each
/// was found at other times, those that are as close to them as needed to independent ones.
fn factor(correlations: &[f64], n: usize) -> Vec<f64> {
    let mut weight = 0.99;
    while weight > 0.01 {
        let entry = |i: usize, j: usize| if i == j { 1.0 } else { weight * correlations[i * n + j] };
        if let Some(found) = cholesky(entry, n) {
            return found;
        }
        weight *= 0.8;
    }
    (0..n * n).map(|place| if place / n == place % n { 1.0 } else { 0.0 }).collect()
}

fn cholesky(entry: impl Fn(usize, usize) -> f64, n: usize) -> Option<Vec<f64>> {
    let mut factor = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| factor[i * n + k] * factor[j * n + k]).sum();
            let rest = entry(i, j) - known;
            factor[i * n + j] = match i == j {
                true if rest > 1e-6 => rest.sqrt(),
                true => return None,
                false => rest / factor[j * n + j],
            };
        }
    }
    Some(factor)
}

#[cfg(test)]
mod tests {
    use stroock_kernels::noise::{NoiseKey, Purpose};

    use super::*;

    /// What was drawn from a process is found to come from it.
    #[test]
    fn a_process_is_found_in_what_it_draws() {
        let channel =
            |amplitude, length, noise| StationaryChannel { shrinkage: 0.5, amplitude, length, noise };
        let truth = StationaryResidual {
            channels: vec![channel(1.0, 3.0, 0.3), channel(0.0, 1.0, 2.0)],
            factor: vec![1.0, 0.0, 0.6, 0.8],
        };
        let times: Vec<f64> = (0..60).map(f64::from).collect();
        let key = NoiseKey::new(2, 0);
        let series: Vec<Remainder> = (0..200)
            .map(|number| {
                let phase = f64::from(number);
                let mean_path: Vec<f64> =
                    times.iter().flat_map(|t| [(0.3 * t + phase).sin(), (0.2 * t + phase).cos()]).collect();
                let mut stream = key.stream(Purpose::Caller, number, 0);
                let values = truth.draw(&times, &mean_path, &mut stream);
                Remainder { times: times.clone(), values, mean_path }
            })
            .collect();
        let found = StationaryResidual::fit(&series, 2);
        let [first, second] = [found.channels[0], found.channels[1]];
        assert!((first.amplitude.hypot(first.noise) - 1.09f64.sqrt()).abs() < 0.05, "{first:?}");
        assert!((second.amplitude.hypot(second.noise) - 2.0).abs() < 0.05, "{second:?}");
        assert!((first.shrinkage - 0.5).abs() < 0.05, "{first:?}");
        assert!((2.0..4.5).contains(&first.length), "{first:?}");
        // How much a residual says about the next one.
        let persistence = |c: &StationaryChannel| {
            c.amplitude.powi(2) / (c.amplitude.powi(2) + c.noise.powi(2)) * (-1.0 / c.length).exp()
        };
        assert!((persistence(&first) - persistence(&truth.channels[0])).abs() < 0.05, "{first:?}");
        assert!(persistence(&second) < 0.1, "{second:?}");
        // One channel persists and the other does not: their correlation comes from the white parts alone.
        assert!((0.05..0.6).contains(&found.factor[2]), "{:?}", found.factor);
        assert!(found.is_valid(2) && !found.is_valid(3));
    }

    #[test]
    fn many_channels_are_independent() {
        let channels = MOST_CORRELATED + 1;
        let times: Vec<f64> = (0..4).map(f64::from).collect();
        let zeros = vec![0.0; 4 * channels];
        let series = [Remainder { times: times.clone(), values: zeros.clone(), mean_path: zeros.clone() }];
        let found = StationaryResidual::fit(&series, channels);
        assert!(found.factor.is_empty() && found.is_valid(channels) && !found.is_valid(channels + 1));
        let mut stream = NoiseKey::new(2, 0).stream(Purpose::Caller, 0, 0);
        assert_eq!(found.draw(&times, &zeros, &mut stream).len(), zeros.len());
    }

    #[test]
    fn correlations_of_no_distribution_are_weakened() {
        let impossible = [1.0, 0.9, -0.9, 0.9, 1.0, 0.9, -0.9, 0.9, 1.0];
        let factor = factor(&impossible, 3);
        for i in 0..3 {
            let squares: f64 = (0..3).map(|k| factor[i * 3 + k].powi(2)).sum();
            assert!((squares - 1.0).abs() < 1e-9);
        }
    }
}
