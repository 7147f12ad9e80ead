//! Plain numbers of a series: levels, scales, trends, how much was observed.

use super::grid::{is_static, span};
use crate::series::Series;

/// Numbers of a channel that changes with time.
const OF_CHANNEL: usize = 9;
/// Numbers of a static channel: its value, and whether it is known.
const OF_STATIC: usize = 2;
/// Numbers of the series as a whole.
const OF_SERIES: usize = 2;

/// How many numbers there are for a series.
pub(super) fn length(channels: usize, statics: &[bool]) -> usize {
    let of_channel = |channel| if is_static(statics, channel) { OF_STATIC } else { OF_CHANNEL };
    OF_SERIES + (0..channels).map(of_channel).sum::<usize>()
}

/// Logarithms of the span and of the number of times; for every channel mean, standard deviation, least and largest
/// value, first and last, slope, mean change between neighbours, and the logarithm of the number of values. What is
/// not known is 0, the mean of the training data.
pub(super) fn summary(series: &Series, channels: usize, statics: &[bool], out: &mut Vec<f32>) {
    out.push((span(series).unwrap_or(0.0).max(0.0) + f64::MIN_POSITIVE).ln().max(-30.0) as f32);
    out.push((1.0 + series.times.len() as f64).ln() as f32);
    let mut seen: Vec<(f64, f64)> = Vec::new();
    for channel in 0..channels {
        seen.clear();
        let visible = (0..series.times.len()).filter(|&i| series.is_visible(channels, i, channel));
        seen.extend(visible.map(|i| (series.times[i], f64::from(series.values[i * channels + channel]))));
        match is_static(statics, channel) {
            true => out.extend(seen.first().map_or([0.0, 0.0], |(_, x)| [*x as f32, 1.0])),
            false => out.extend(of_channel(&seen).map(|x| x as f32)),
        }
    }
}

fn of_channel(seen: &[(f64, f64)]) -> [f64; OF_CHANNEL] {
    let (Some(&(begin, first)), Some(&(_, last))) = (seen.first(), seen.last()) else {
        return [0.0; OF_CHANNEL];
    };
    let count = seen.len() as f64;
    let mean = seen.iter().map(|(_, x)| x).sum::<f64>() / count;
    let middle = seen.iter().map(|(t, _)| t - begin).sum::<f64>() / count;
    let (mut variance, mut covariance, mut spread) = (0.0, 0.0, 0.0);
    for (t, x) in seen {
        let (t, x) = (t - begin - middle, x - mean);
        variance += x * x;
        covariance += t * x;
        spread += t * t;
    }
    let length = seen[seen.len() - 1].0 - begin;
    let slope = if spread > 0.0 { covariance / spread * length } else { 0.0 };
    let changes = seen.windows(2).map(|pair| (pair[1].1 - pair[0].1).abs()).sum::<f64>();
    let least = seen.iter().map(|(_, x)| *x).fold(f64::INFINITY, f64::min);
    let most = seen.iter().map(|(_, x)| *x).fold(f64::NEG_INFINITY, f64::max);
    let change = changes / (count - 1.0).max(1.0);
    [mean, (variance / count).sqrt(), least, most, first, last, slope, change, (1.0 + count).ln()]
}
