//! A recurrent unit whose state moves between the points of a series.

use burn::module::Module;
use burn::tensor::activation::sigmoid;
use burn::tensor::{Bool, IndexingUpdateOp, Int, Tensor, TensorData};
use serde::{Deserialize, Serialize};
use stroock_kernels::network::NetworkError;

use super::{Encoder, EncoderError, FrameFeatures, FrameFeaturesConfig};
use crate::batch::{EncoderInput, InputEntries};
use crate::decoder::{Activation, Mlp, MlpConfig};
use crate::image::ImageShape;
use crate::initial::InitialWeights;

/// Sizes of an [`OdeRnn`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OdeRnnConfig {
    /// How frames become features; `None` for vectors.
    pub frames: Option<FrameFeaturesConfig>,
    /// Width `L` of the mean, and of the standard deviation.
    pub state: usize,
    /// Widths of the hidden layers of the equation that moves the mean.
    pub hidden: Vec<usize>,
    /// Units of the hidden layer of every gate.
    pub gates: usize,
}

impl Default for OdeRnnConfig {
    /// The published sizes for PhysioNet.
    fn default() -> Self {
        Self { frames: None, state: 40, hidden: vec![50; 4], gates: 50 }
    }
}

/// The encoder of Rubanova, Chen and Duvenaud (Latent ODEs for irregularly-sampled time series, 2019): it runs backwards
/// over the points of a series, from 0.01 after the last one.
///
/// The state is a mean and a standard deviation, both 0 at first. Between two points the mean follows `m' = f(m)` by Euler
/// steps: one where the gap is shorter than a fiftieth of the span of the series, and as many as there are fiftieths in it,
/// less one, elsewhere. At a point with the values `x`, 0 where nothing is observed, and the mask of what is,
///
/// ```text
/// u = sigmoid(U(m, s, x, mask)),   r = sigmoid(R(m, s, x, mask)),   (n, k) = N(r m, r s, x, mask),
/// m <- (1 - u) n + u m,            s <- |(1 - u) |k| + u s|,
/// ```
///
/// with networks of one hidden layer of tanh units each. The representation is `(m, s)`. Every series steps over its own
/// points; the code of the authors steps over the times of a whole batch.
#[derive(Module, Debug)]
pub struct OdeRnn {
    /// Frames to features, where frames are observed.
    pub frames: Option<FrameFeatures>,
    /// `f`, with tanh between its layers.
    pub drift: Mlp,
    /// `U`.
    pub update: Mlp,
    /// `R`.
    pub reset: Mlp,
    /// `N`.
    pub candidate: Mlp,
}

/// Where the points of series are, and at which of them anything is observed.
#[derive(Clone, Debug)]
pub struct PointTimes {
    /// `[B + 1]`: where the points of a series begin.
    pub offsets: Vec<usize>,
    /// `[N]`, increasing within a series.
    pub times: Vec<f64>,
    /// `[N]`.
    pub observed: Vec<bool>,
}

/// How long after the last point the mean begins to move.
const AFTER: f64 = 0.01;
/// Steps that the span of a series is divided into.
const STEPS: f64 = 50.0;
/// Standard deviation of the weights to start from; biases are 0.
pub(crate) const INITIAL: f64 = 0.1;

impl OdeRnnConfig {
    /// Initialises the encoder for vectors of `channels` numbers, or for frames of a shape.
    ///
    /// # Errors
    /// When the layers do not fit the frames.
    pub fn init(
        &self,
        channels: usize,
        frame: Option<ImageShape>,
        weights: &mut InitialWeights,
    ) -> Result<OdeRnn, NetworkError> {
        let frames = match (&self.frames, frame) {
            (Some(config), Some(frame)) => Some(config.init(frame, weights)?),
            _ => None,
        };
        let state = self.state;
        let read = 2 * (state + self.features(channels));
        let mut network = |hidden: Vec<usize>, inputs, outputs| {
            let config = MlpConfig { hidden, activation: Activation::Tanh };
            config.init_by(inputs, outputs, |inputs, outputs| weights.normal_linear(inputs, outputs, INITIAL))
        };
        Ok(OdeRnn {
            frames,
            drift: network(self.hidden.clone(), state, state),
            update: network(vec![self.gates], read, state),
            reset: network(vec![self.gates], read, state),
            candidate: network(vec![self.gates], read, 2 * state),
        })
    }

    /// Numbers of a point that it reads, beside the mask.
    pub fn features(&self, channels: usize) -> usize {
        self.frames.as_ref().map_or(channels, |frames| frames.features)
    }
}

impl OdeRnn {
    /// The representations `(m, s)` of series, `[B, 2L]`, from the values and masks of their points, `[N, 2 F]`.
    pub fn encode_points(&self, points: &PointTimes, values: Tensor<2>) -> Tensor<2> {
        let PointTimes { offsets, times, observed } = points;
        let series = offsets.len() - 1;
        let state = self.update.layers.last().map_or(0, |layer| layer.weight.val().dims()[1]);
        let mut mean = Tensor::zeros([series, state], (&values.device(), values.dtype()));
        let mut std = mean.clone();
        let rounds = offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default();
        for round in 0..rounds {
            // The point of every series that has one left.
            let own: Vec<Option<usize>> = offsets
                .windows(2)
                .map(|pair| (pair[1] - pair[0] > round).then(|| pair[1] - 1 - round))
                .collect();
            let of_series = |(point, pair): (&Option<usize>, &[usize])| {
                point.map_or((0, 0.0), |point| steps(&times[pair[0]..pair[1]], point - pair[0]))
            };
            let moves: Vec<(usize, f64)> = own.iter().zip(offsets.windows(2)).map(of_series).collect();
            for step in 0..moves.iter().map(|(count, _)| *count).max().unwrap_or_default() {
                mean = self.moved(mean, &moves, step);
            }
            let places: Vec<i64> = own.iter().map(|point| point.unwrap_or_default() as i64).collect();
            let x = values.clone().select(0, indices(places, &values));
            let (new_mean, new_std) = self.updated(mean.clone(), std.clone(), x);
            let is_seen: Vec<bool> =
                own.iter().map(|point| point.is_some_and(|point| observed[point])).collect();
            if is_seen.iter().all(|&seen| seen) {
                (mean, std) = (new_mean, new_std);
            } else {
                let is_seen: Vec<bool> =
                    is_seen.iter().flat_map(|&seen| std::iter::repeat_n(seen, state)).collect();
                let mask =
                    Tensor::<2, Bool>::from_data(TensorData::new(is_seen, [series, state]), &mean.device());
                mean = mean.mask_where(mask.clone(), new_mean);
                std = std.mask_where(mask, new_std);
            }
        }
        Tensor::cat(vec![mean, std], 1)
    }

    /// The means after one Euler step of those series that have more than `step` of them.
    fn moved(&self, mean: Tensor<2>, moves: &[(usize, f64)], step: usize) -> Tensor<2> {
        let moving = moves.iter().enumerate().filter(|(_, (count, _))| *count > step);
        let (rows, lengths): (Vec<i64>, Vec<f64>) = moving.map(|(row, (_, dt))| (row as i64, *dt)).unzip();
        let count = rows.len();
        let dt = Tensor::<2>::from_data(TensorData::new(lengths, [count, 1]), (&mean.device(), mean.dtype()));
        if count == moves.len() {
            return mean.clone() + self.drift.forward(mean) * dt;
        }
        let rows = indices(rows, &mean);
        let change = self.drift.forward(mean.clone().select(0, rows.clone())) * dt;
        mean.select_assign(0, rows, change, IndexingUpdateOp::Add)
    }

    /// Mean and standard deviation after a point.
    fn updated(&self, mean: Tensor<2>, std: Tensor<2>, x: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let state = mean.dims()[1];
        let read = Tensor::cat(vec![mean.clone(), std.clone(), x.clone()], 1);
        let update = sigmoid(self.update.forward(read.clone()));
        let reset = sigmoid(self.reset.forward(read));
        let read = Tensor::cat(vec![mean.clone() * reset.clone(), std.clone() * reset, x], 1);
        let candidate = self.candidate.forward(read);
        let keep = update.clone().neg().add_scalar(1.0);
        let of_mean = candidate.clone().narrow(1, 0, state);
        let of_std = candidate.narrow(1, state, state).abs();
        (keep.clone() * of_mean + update.clone() * mean, (keep * of_std + update * std).abs())
    }

    /// Values and masks of the points of an input, `[N, 2 F]`.
    fn read(&self, input: &EncoderInput) -> Result<Tensor<2>, EncoderError> {
        let weight = self.update.layers.first().map(|layer| layer.weight.val());
        let state = self.update.layers.last().map_or(0, |layer| layer.weight.val().dims()[1]);
        let expected = weight.as_ref().map_or(0, |weight| weight.dims()[0] / 2 - state);
        match (&self.frames, &input.entries) {
            (Some(frames), InputEntries::Whole) => {
                let features = frames.forward(input)?;
                Ok(Tensor::cat(vec![features.clone(), features.ones_like()], 1))
            }
            (None, InputEntries::PerChannel { .. }) if input.channels() == expected => {
                let seen: Vec<f32> = input.seen().into_iter().map(|seen| f32::from(u8::from(seen))).collect();
                let rows = input.values.chunks_exact(expected).zip(seen.chunks_exact(expected));
                let both: Vec<f32> = rows.flat_map(|(x, mask)| x.iter().chain(mask)).copied().collect();
                let data = TensorData::new(both, [input.points(), 2 * expected]);
                Ok(match weight {
                    Some(weight) => Tensor::from_data(data, (&weight.device(), weight.dtype())),
                    None => Tensor::from_data(data, &Default::default()),
                })
            }
            _ => Err(EncoderError::Channels { expected, actual: input.channels() }),
        }
    }
}

impl Encoder for OdeRnn {
    fn encode(&self, input: &EncoderInput) -> Result<Tensor<2>, EncoderError> {
        let channels = input.channels().max(1);
        let points = PointTimes {
            offsets: input.point_offsets.clone(),
            times: (0..input.points()).map(|point| input.time(point)).collect(),
            observed: input.seen().chunks_exact(channels).map(|seen| seen.contains(&true)).collect(),
        };
        Ok(self.encode_points(&points, self.read(input)?))
    }
}

/// How many Euler steps lead to a point of a series, from the next one or from after the last one, and their length, which
/// is negative.
fn steps(times: &[f64], point: usize) -> (usize, f64) {
    let (first, last) = (times[0], times[times.len() - 1]);
    let from = times.get(point + 1).copied().unwrap_or(last + AFTER);
    let (gap, shortest) = (from - times[point], (last - first) / STEPS);
    // A single point has no span, and one step leads to it. What lies after the last point may be longer than the span.
    let fiftieths = (gap / shortest).min(STEPS) as usize;
    let count = if gap < shortest || shortest <= 0.0 { 1 } else { fiftieths.max(2) - 1 };
    (count, -gap / count as f64)
}

fn indices(rows: Vec<i64>, like: &Tensor<2>) -> Tensor<1, Int> {
    let shape = [rows.len()];
    Tensor::from_data(TensorData::new(rows, shape), &like.device())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_the_published_code() {
        let times = [0.0, 0.013, 0.25, 0.41, 0.63, 0.97];
        let counts: Vec<usize> = (0..times.len()).map(|point| steps(&times, point).0).collect();
        assert_eq!(counts, [1, 11, 7, 10, 16, 1]);
        let (count, dt) = steps(&times, 4);
        assert!((0.97 + count as f64 * dt - 0.63).abs() < 1e-12);
        assert_eq!(steps(&[0.4], 0), (1, -((0.4 + AFTER) - 0.4)));
        assert_eq!(steps(&[0.4, 0.4 + 1e-9], 1).0, 49);
    }
}
