//! From decoded paths to draws of observations.

use stroock_kernels::noise::{Purpose, Stage, Stream};

use super::Draws;
use crate::model::PathDraws;
use crate::residual::{ChannelResidual, ResidualProcess, Shape};
use crate::series::Series;

/// Share of the variance of a residual process that is always drawn as noise, however much paths differ.
const LEAST_REST: f64 = 0.1;

/// `S` paths through a batch with `Q` points, decoded, in model units.
pub(super) struct Decoded {
    pub samples: usize,
    pub points: usize,
    pub channels: usize,
    /// Where the points of a series begin, `[B + 1]`.
    pub offsets: Vec<usize>,
    /// `[S, Q, C]`.
    pub output: Vec<f32>,
    pub dim: usize,
    /// `[S, Q, n]`.
    pub states: Vec<f32>,
    /// Standard deviations of observations around the output, `[Q, C]`; empty where they have no noise.
    pub scales: Vec<f32>,
    /// Whether there is a prediction at every point, and predictions `[S, Q or B, outputs]`.
    pub task: Option<(bool, [usize; 3], Vec<f32>)>,
}

impl Decoded {
    /// The standard deviations at a point of series `b`, `[C]`.
    fn scales_at(&self, b: usize, point: usize) -> &[f32] {
        let first = (self.offsets[b] + point) * self.channels;
        &self.scales[first..first + self.channels]
    }
}

/// What is observed of one series.
pub(super) struct Observer<'a> {
    pub residual: Option<&'a ResidualProcess>,
    pub draws: PathDraws,
    /// Number of the series.
    pub number: u32,
}

/// The entries of one channel that are known: places in the list of times that paths reach, times, values.
struct Known {
    places: Vec<usize>,
    times: Vec<f64>,
    values: Vec<f64>,
}

impl Observer<'_> {
    /// Draws for series `b` of a batch, at those of the `reached` times that are `asked` for.
    pub fn observe(
        &self,
        decoded: &Decoded,
        b: usize,
        series: Option<&Series>,
        reached: &[f64],
        asked: &[f64],
    ) -> Draws {
        let channels = decoded.channels;
        let picked: Vec<usize> = asked.iter().map(|time| place(reached, *time)).collect();
        let pick = |values: &[f32], width: usize| -> Vec<f32> {
            let first = |s: usize| s * decoded.points + decoded.offsets[b];
            let row = |s: usize, i: usize| (first(s) + i) * width..(first(s) + i + 1) * width;
            let rows = (0..decoded.samples).flat_map(|s| picked.iter().map(move |&i| (s, i)));
            rows.flat_map(|(s, i)| &values[row(s, i)]).copied().collect()
        };
        let mut means = pick(&decoded.output, channels);
        let mut observations = means.clone();
        let mut sds = vec![0.0; asked.len() * channels];
        let mut shapes = vec![Shape::default(); channels];
        match self.residual {
            None if decoded.scales.is_empty() => {}
            None => {
                sds = picked.iter().flat_map(|&i| decoded.scales_at(b, i)).copied().collect();
                self.add_white(&mut observations, &sds);
            }
            Some(process) => {
                let first = |s: usize| (s * decoded.points + decoded.offsets[b]) * channels;
                let of_draw = |s: usize| &decoded.output[first(s)..first(s) + reached.len() * channels];
                for (channel, residual) in process.channels.iter().enumerate() {
                    let known = series
                        .map_or_else(Known::nothing, |series| Known::of(series, channels, channel, reached));
                    let at = Channel { channel, channels, asked, known, residual };
                    self.add_residual(&at, of_draw, &mut means, &mut observations, &mut sds);
                    shapes[channel] = residual.shape;
                }
            }
        }
        let task = decoded.task.as_ref().map_or_else(Vec::new, |(per_time, [_, rows, width], values)| {
            let row = |s: usize| (s * rows + b) * width..(s * rows + b + 1) * width;
            match per_time {
                true => pick(values, *width),
                false => (0..decoded.samples).flat_map(|s| &values[row(s)]).copied().collect(),
            }
        });
        let (dim, states) = (decoded.dim, pick(&decoded.states, decoded.dim));
        Draws { times: asked.to_vec(), channels, means, sds, shapes, observations, dim, states, task }
    }

    /// Noise that depends on the series and the sample, and not on its neighbours in the batch.
    fn stream(&self, sample: usize, channel: usize) -> Stream {
        let key = self.draws.key.derive(Stage::Observations { channel: channel as u64 });
        key.stream(Purpose::Observations, self.number, self.draws.first_sample + sample as u32)
    }

    fn add_white(&self, observations: &mut [f32], sds: &[f32]) {
        for (sample, values) in observations.chunks_mut(sds.len().max(1)).enumerate() {
            let mut stream = self.stream(sample, 0);
            for (value, sd) in values.iter_mut().zip(sds) {
                *value += sd * normal(&mut stream) as f32;
            }
        }
    }

    /// The part of one channel that paths leave over, given what is known of it.
    ///
    /// The process is that of residuals from the mean path. What the paths differ among themselves is a part of its
    /// variance, and noise is added for the rest only.
    fn add_residual<'a>(
        &self,
        at: &Channel<'_>,
        of_draw: impl Fn(usize) -> &'a [f32],
        means: &mut [f32],
        observations: &mut [f32],
        sds: &mut [f32],
    ) {
        let &Channel { channel, channels, asked, ref known, residual } = at;
        let row = asked.len() * channels;
        let samples = means.len() / row.max(1);
        let mut variance = Vec::new();
        for sample in 0..samples {
            let path = of_draw(sample);
            let said = |place: usize| residual.shrinkage * f64::from(path[place * channels + channel]);
            let over = known.places.iter().zip(&known.values);
            let over: Vec<f64> = over.map(|(&place, value)| value - said(place)).collect();
            let conditional = residual.condition(&known.times, &over, asked);
            for (i, over) in conditional.mean.iter().enumerate() {
                let mean = &mut means[sample * row + i * channels + channel];
                *mean = (residual.shrinkage * f64::from(*mean) + over) as f32;
            }
            // The same for all draws: it depends on times alone.
            variance = conditional.variance;
        }
        let shape_variance = residual.shape.variance();
        let rest: Vec<f64> = (0..asked.len())
            .map(|i| {
                let among = spread(means.iter().skip(i * channels + channel).step_by(row), samples);
                (1.0 - among / (variance[i] * shape_variance)).max(LEAST_REST).sqrt()
            })
            .collect();
        let zeros = vec![0.0; known.times.len()];
        for sample in 0..samples {
            let mut stream = self.stream(sample, channel);
            let factor = residual.shape.choose(stream.uniform());
            let drawn = residual.draw(&known.times, &zeros, asked, factor, &mut || normal(&mut stream));
            for i in 0..asked.len() {
                let entry = sample * row + i * channels + channel;
                observations[entry] = means[entry] + (rest[i] * drawn[i]) as f32;
            }
        }
        for i in 0..asked.len().min(variance.len()) {
            sds[i * channels + channel] = (rest[i] * variance[i].sqrt()) as f32;
        }
    }
}

/// Variance of so many numbers.
fn spread<'a>(numbers: impl Iterator<Item = &'a f32> + Clone, count: usize) -> f64 {
    let mean = numbers.clone().map(|&x| f64::from(x)).sum::<f64>() / count as f64;
    numbers.map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / count as f64
}

/// One channel of one series.
struct Channel<'a> {
    channel: usize,
    channels: usize,
    asked: &'a [f64],
    known: Known,
    residual: &'a ChannelResidual,
}

impl Known {
    fn nothing() -> Self {
        Self { places: Vec::new(), times: Vec::new(), values: Vec::new() }
    }

    /// The visible entries of a channel.
    fn of(series: &Series, channels: usize, channel: usize, reached: &[f64]) -> Self {
        let mut known = Self::nothing();
        for (i, &time) in series.times.iter().enumerate() {
            if series.is_visible(channels, i, channel) {
                known.places.push(place(reached, time));
                known.times.push(time);
                known.values.push(f64::from(series.values[i * channels + channel]));
            }
        }
        known
    }
}

/// The place of a time in increasing times that have it.
fn place(times: &[f64], time: f64) -> usize {
    times.partition_point(|&other| other < time).min(times.len().saturating_sub(1))
}

/// One of a pair of Box and Muller.
fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * stream.uniform().ln()).sqrt();
    radius * (std::f64::consts::TAU * stream.uniform()).cos()
}
