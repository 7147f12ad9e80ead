//! From decoded paths to draws of observations.

use stroock_kernels::noise::{Purpose, Stage, Stream};

use super::Draws;
use crate::model::PathDraws;
use crate::residual::{ChannelResidual, ResidualProcess, Shape};
use crate::series::Series;

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
    /// Adds further paths through the same batch.
    pub fn append(&mut self, mut others: Self) {
        self.samples += others.samples;
        self.output.append(&mut others.output);
        self.states.append(&mut others.states);
        if let (Some((_, dims, all)), Some((_, of_others, mut more))) = (&mut self.task, others.task) {
            dims[0] += of_others[0];
            all.append(&mut more);
        }
    }

    /// The standard deviations at a point of series `b`, `[C]`.
    fn scales_at(&self, b: usize, point: usize) -> &[f32] {
        let first = (self.offsets[b] + point) * self.channels;
        &self.scales[first..first + self.channels]
    }

    /// The mean over paths at the points of series `b`, `[points, C]`.
    pub fn mean_path(&self, b: usize, points: usize) -> Vec<f64> {
        let mut mean = vec![0.0; points * self.channels];
        for sample in 0..self.samples {
            let first = (sample * self.points + self.offsets[b]) * self.channels;
            let path = &self.output[first..first + mean.len()];
            mean.iter_mut().zip(path).for_each(|(mean, value)| *mean += f64::from(*value));
        }
        mean.iter_mut().for_each(|mean| *mean /= self.samples as f64);
        mean
    }
}

/// What is observed of one series.
pub(super) struct Observer<'a> {
    pub residual: Option<&'a ResidualProcess>,
    pub draws: PathDraws,
    /// Number of the series.
    pub number: u32,
    /// Whether observations are drawn; otherwise there are their means and standard deviations alone.
    pub is_drawing: bool,
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
        let mut observations = Vec::new();
        let mut sds = vec![0.0; asked.len() * channels];
        let mut shapes = vec![Shape::default(); channels];
        match (self.residual, series) {
            (None, _) => {
                if !decoded.scales.is_empty() {
                    sds = picked.iter().flat_map(|&i| decoded.scales_at(b, i)).copied().collect();
                }
                if self.is_drawing {
                    observations.clone_from(&means);
                    self.add_white(&mut observations, &sds);
                }
            }
            (Some(process), Some(series)) => {
                let mean_path = decoded.mean_path(b, reached.len());
                let paths = means;
                means = vec![0.0; asked.len() * channels];
                if self.is_drawing {
                    observations = vec![0.0; paths.len()];
                }
                for (channel, residual) in process.channels.iter().enumerate() {
                    let known = Known::of(series, channels, channel, reached);
                    let at = Channel { channel, channels, asked, picked: &picked, known, residual };
                    at.condition(&mean_path, &mut means, &mut sds);
                    shapes[channel] = residual.shape;
                    if self.is_drawing {
                        self.draw_around(&at, &paths, &means, &sds, &mut observations);
                    }
                }
            }
            (Some(process), None) => {
                for (channel, residual) in process.channels.iter().enumerate() {
                    let of_channel = means.iter_mut().skip(channel).step_by(channels);
                    of_channel.for_each(|mean| *mean *= residual.shrinkage as f32);
                    shapes[channel] = residual.shape;
                    let sd = residual.sd() as f32;
                    sds.iter_mut().skip(channel).step_by(channels).for_each(|entry| *entry = sd);
                }
                observations.clone_from(&means);
                for (channel, residual) in process.channels.iter().enumerate() {
                    self.add_residual(channel, channels, residual, asked, &mut observations);
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

    /// Draws of one channel around its conditional means.
    ///
    /// The marginals are those of the residual process with its shape, which were learned from the errors of mean
    /// paths, and not those of the paths themselves. Which draw has which of these values is decided by the order of
    /// what is drawn jointly: the path's own difference from the mean path, and a residual that persists in time. So
    /// draws hold together across times and channels as paths do, and are as wide as errors are.
    fn draw_around(
        &self,
        at: &Channel<'_>,
        paths: &[f32],
        means: &[f32],
        sds: &[f32],
        observations: &mut [f32],
    ) {
        let &Channel { channel, channels, asked, ref known, residual, .. } = at;
        let row = asked.len() * channels;
        let samples = paths.len() / row.max(1);
        let joint = residual.draws(&known.times, asked);
        let (mut ranked, mut values) = (vec![0.0; samples * asked.len()], vec![0.0; samples * asked.len()]);
        for sample in 0..samples {
            let mut stream = self.stream(sample, channel);
            let factor = residual.shape.choose(stream.uniform());
            let drawn = joint.draw(factor, &mut || normal(&mut stream));
            for (i, drawn) in drawn.into_iter().enumerate() {
                let path = f64::from(paths[sample * row + i * channels + channel]);
                ranked[i * samples + sample] = residual.shrinkage * path + drawn;
                values[i * samples + sample] = residual.shape.choose(stream.uniform()) * normal(&mut stream);
            }
        }
        let mut order: Vec<usize> = (0..samples).collect();
        for i in 0..asked.len() {
            let ranked = &ranked[i * samples..(i + 1) * samples];
            let values = &mut values[i * samples..(i + 1) * samples];
            order.sort_by(|&a, &b| ranked[a].total_cmp(&ranked[b]));
            values.sort_by(f64::total_cmp);
            let entry = i * channels + channel;
            let (mean, sd) = (f64::from(means[entry]), f64::from(sds[entry]));
            for (&sample, value) in order.iter().zip(values) {
                observations[sample * row + entry] = (mean + sd * *value) as f32;
            }
        }
    }

    /// Residuals of a channel of which nothing is known.
    fn add_residual(
        &self,
        channel: usize,
        channels: usize,
        residual: &ChannelResidual,
        asked: &[f64],
        observations: &mut [f32],
    ) {
        let joint = residual.draws(&[], asked);
        for (sample, values) in observations.chunks_mut((asked.len() * channels).max(1)).enumerate() {
            let mut stream = self.stream(sample, channel);
            let factor = residual.shape.choose(stream.uniform());
            let drawn = joint.draw(factor, &mut || normal(&mut stream));
            let of_channel = values.iter_mut().skip(channel).step_by(channels);
            of_channel.zip(drawn).for_each(|(value, drawn)| *value += drawn as f32);
        }
    }
}

/// One channel of one series.
struct Channel<'a> {
    channel: usize,
    channels: usize,
    asked: &'a [f64],
    /// Places of the asked times among those that paths reach.
    picked: &'a [usize],
    known: Known,
    residual: &'a ChannelResidual,
}

impl Channel<'_> {
    /// Means and standard deviations given what is known, from the mean path `[reached, C]`.
    fn condition(&self, mean_path: &[f64], means: &mut [f32], sds: &mut [f32]) {
        let said = |place: usize| self.residual.shrinkage * mean_path[place * self.channels + self.channel];
        let known = self.known.places.iter().zip(&self.known.values);
        let over: Vec<f64> = known.map(|(&place, value)| value - said(place)).collect();
        let conditional = self.residual.condition(&self.known.times, &over, self.asked);
        for (i, &place) in self.picked.iter().enumerate() {
            let entry = i * self.channels + self.channel;
            means[entry] = (said(place) + conditional.mean[i]) as f32;
            sds[entry] = conditional.variance[i].sqrt() as f32;
        }
    }
}

impl Known {
    /// The visible entries of a channel.
    fn of(series: &Series, channels: usize, channel: usize, reached: &[f64]) -> Self {
        let mut known = Self { places: Vec::new(), times: Vec::new(), values: Vec::new() };
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

/// A standard normal: one of a pair of Box and Muller.
pub(crate) fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * stream.uniform().ln()).sqrt();
    radius * (std::f64::consts::TAU * stream.uniform()).cos()
}
