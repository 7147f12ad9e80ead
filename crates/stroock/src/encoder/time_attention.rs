//! Multi-time attention (mTAND) followed by a gated recurrent unit.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::{Encoder, EncoderError, Gru, GruConfig, TimeEmbedding, TimeEmbeddingConfig, attend};
use crate::batch::{EncoderInput, InputEntries};
use crate::initial::InitialWeights;

/// Sizes of a [`TimeAttentionEncoder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TimeAttentionConfig {
    /// Width of the representation.
    pub hidden: usize,
    /// Width `E` of the time embedding.
    pub embedding: usize,
    /// Reference points `R` on [0, 1].
    pub reference_points: usize,
    /// Whether the representation is stretched by `atanh`.
    pub stretched: bool,
    /// Heads that see what is near in time, beside the one that need not.
    pub local_heads: usize,
}

/// The encoder of the paper's types A and B.
///
/// Reference points attend to the observed entries of every channel; their view, with the presence of each
/// channel, is mapped to `hidden` numbers a reference point, and a recurrent unit runs over these.
///
/// Attention that is freshly initialised hardly depends on time: it averages. A local head adds `-alpha (t - s)^2` to the
/// score of a reference point at `t` for an entry at `s`, with an `alpha` that is learned and begins at widths of an
/// eighth, a sixteenth, .. of the time axis. Of the square only `2 alpha t s - alpha s^2` differs between entries, which
/// is two more numbers of a query, `(2 alpha t, -alpha)`, and of a key, `(s, s^2)`.
#[derive(Module, Debug)]
pub struct TimeAttentionEncoder {
    /// Times as vectors.
    pub embedding: TimeEmbedding,
    /// Embedding of a reference point to its query.
    pub query: Linear,
    /// Embedding of a time to its key.
    pub key: Linear,
    /// Attended values to the input of the recurrent unit.
    pub values: Linear,
    /// Presence of the channels to the input of the recurrent unit.
    pub presence: Linear,
    /// Recurrent unit over the reference points.
    pub recurrence: Gru,
    /// `ln alpha` of the local heads, where there are any.
    pub locality: Option<Param<Tensor<1>>>,
    #[module(skip)]
    reference_points: usize,
    #[module(skip)]
    stretched: bool,
}

impl Default for TimeAttentionConfig {
    /// The sizes of the paper.
    fn default() -> Self {
        Self { hidden: 64, embedding: 128, reference_points: 128, stretched: false, local_heads: 0 }
    }
}

impl TimeAttentionConfig {
    /// Initialises the encoder for inputs of `channels` numbers.
    pub fn init(&self, channels: usize, weights: &mut InitialWeights) -> TimeAttentionEncoder {
        // One map of the views of all heads and the presence of the channels.
        let views = channels * (1 + self.local_heads);
        let bound = 1.0 / ((views + channels).max(1) as f64).sqrt();
        TimeAttentionEncoder {
            embedding: TimeEmbeddingConfig { width: self.embedding }.init(weights),
            query: weights.linear(self.embedding, self.embedding),
            key: weights.linear(self.embedding, self.embedding),
            values: Linear {
                weight: weights.uniform([views, self.hidden], bound),
                bias: Some(weights.uniform([self.hidden], bound)),
            },
            presence: Linear { weight: weights.uniform([channels, self.hidden], bound), bias: None },
            recurrence: GruConfig { width: self.hidden, hidden: self.hidden }.init(weights),
            locality: (self.local_heads > 0).then(|| locality(self.local_heads, weights)),
            reference_points: self.reference_points,
            stretched: self.stretched,
        }
    }
}

impl TimeAttentionEncoder {
    /// Representations `[B, hidden]` from features `[N, C]` of the points of the input.
    ///
    /// # Errors
    /// When the features do not fit the input.
    pub fn encode_features(
        &self,
        input: &EncoderInput,
        features: Tensor<2>,
    ) -> Result<Tensor<2>, EncoderError> {
        let [channels, hidden] = self.presence.weight.val().dims();
        if features.dims()[1] != channels {
            return Err(EncoderError::Channels { expected: channels, actual: features.dims()[1] });
        }
        let times = |times: &[f64]| {
            let options = (&features.device(), features.dtype());
            Tensor::<1>::from_data(TensorData::new(times.to_vec(), [times.len()]), options)
        };
        let last = (self.reference_points.max(2) - 1) as f64;
        let references: Vec<f64> = (0..self.reference_points).map(|r| r as f64 / last).collect();
        let queries = self.query.forward(self.embedding.forward(times(&references)));
        let keys = self.key.forward(self.embedding.forward(times(&input.distinct_times)));
        let series = input.series();
        let presence = TensorData::new(presence(input, channels), [series, channels]);
        let presence = Tensor::<2>::from_data(presence, (&features.device(), features.dtype()));

        let attended = match &self.locality {
            None => attend(input, queries, keys, features)?,
            Some(locality) => {
                let positioned = Tensor::cat(vec![keys.clone(), positions(times(&input.distinct_times))], 1);
                let mut views = vec![attend(input, queries.clone(), keys, features.clone())?];
                for head in 0..locality.val().dims()[0] {
                    let alpha = locality.val().narrow(0, head, 1).exp();
                    let queries = local_queries(queries.clone(), times(&references), alpha);
                    views.push(attend(input, queries, positioned.clone(), features.clone())?);
                }
                Tensor::cat(views, 2)
            }
        };
        let channels_of_views = attended.dims()[2];
        let h = if channels_of_views + channels < hidden {
            let presence = presence.unsqueeze_dim::<3>(1).expand([series, self.reference_points, channels]);
            let seen = Tensor::cat(vec![attended, presence], 2);
            let map = Tensor::cat(vec![self.values.weight.val(), self.presence.weight.val()], 0);
            let bias = self.values.bias.as_ref().map(|bias| bias.val());
            let bias = bias.unwrap_or_else(|| Tensor::zeros([hidden], (&map.device(), map.dtype())));
            self.recurrence.forward_through(seen, map, bias)?
        } else {
            let rows = attended.reshape([series * self.reference_points, channels_of_views]);
            let view = self.values.forward(rows).reshape([series, self.reference_points, hidden]);
            self.recurrence.forward(view + self.presence.forward(presence).unsqueeze_dim(1))?
        };
        Ok(if self.stretched { stretch(h) } else { h })
    }
}

impl Encoder for TimeAttentionEncoder {
    fn encode(&self, input: &EncoderInput) -> Result<Tensor<2>, EncoderError> {
        let options = (&self.key.weight.val().device(), self.key.weight.val().dtype());
        let values = TensorData::new(input.values.clone(), [input.points(), input.channels()]);
        // Values are data: the device keeps no graph for them.
        self.encode_features(input, Tensor::from_data(values, options))
    }
}

/// `ln alpha` of local heads: `exp(-alpha (t - s)^2)` has a standard deviation of an eighth of the time axis for the first
/// one, and of half as much for each further one.
fn locality(heads: usize, weights: &mut InitialWeights) -> Param<Tensor<1>> {
    let of_head = |head: usize| {
        let width = 0.125 * 0.5f64.powi(head as i32);
        (0.5 / (width * width)).ln()
    };
    weights.values(&(0..heads).map(of_head).collect::<Vec<f64>>())
}

/// Times `[U]` as the positions `(s, s^2)` of keys, `[U, 2]`.
fn positions(times: Tensor<1>) -> Tensor<2> {
    Tensor::stack(vec![times.clone(), times.powi_scalar(2)], 1)
}

/// The queries `[R, E + 2]` of a local head from those `[R, E]` of the other one. Scores are divided by the root of the
/// width, which must neither change the former nor act on the positions.
fn local_queries(queries: Tensor<2>, times: Tensor<1>, alpha: Tensor<1>) -> Tensor<2> {
    let [references, width] = queries.dims();
    let (before, after) = ((width as f64).sqrt(), ((width + 2) as f64).sqrt());
    let alpha = alpha.mul_scalar(after).expand([references]);
    let position = Tensor::stack(vec![(times * alpha.clone()).mul_scalar(2.0), alpha.neg()], 1);
    Tensor::cat(vec![queries.mul_scalar(after / before), position], 1)
}

/// Whether a feature of a series has any entry, `[B, C]` as 0 or 1.
pub(super) fn presence(input: &EncoderInput, features: usize) -> Vec<f32> {
    let any = |pair: &[usize]| f32::from(u8::from(pair[1] > pair[0]));
    match &input.entries {
        InputEntries::PerChannel { offsets, .. } => offsets.windows(2).map(any).collect(),
        InputEntries::Whole => {
            input.point_offsets.windows(2).flat_map(|pair| std::iter::repeat_n(any(pair), features)).collect()
        }
    }
}

/// `atanh(h - 1e-5 sign(h))`: from the range (-1, 1) of the recurrent unit to all numbers.
fn stretch(h: Tensor<2>) -> Tensor<2> {
    let inside = h.clone() - h.sign().mul_scalar(1e-5);
    let (above, below) = (inside.clone().add_scalar(1.0), inside.neg().add_scalar(1.0));
    (above.log() - below.log()).mul_scalar(0.5)
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;
    use crate::batch::InputPoints;
    use crate::series::Observation;

    fn entries<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.into_data().try_to_vec().unwrap()
    }

    /// Three observations of one channel, at times of their own.
    fn input() -> EncoderInput {
        let points =
            InputPoints { times: vec![0.1, 0.35, 0.9], values: vec![1.0, -2.0, 3.0], seen: vec![true; 3] };
        EncoderInput::new(Observation::Vector { channels: 1 }, &[points])
    }

    #[test]
    fn a_local_head_weighs_entries_by_their_distance() {
        let device = Device::flex().autodiff();
        let mut weights = InitialWeights::new(3, &device);
        let (queries, keys) = (weights.uniform([4, 6], 1.0).val(), weights.uniform([3, 6], 1.0).val());
        let (references, alpha) = ([0.0, 0.3, 0.6, 1.0], 7.0);
        let times = |times: &[f64]| weights.values(times).val();
        let local = local_queries(queries.clone(), times(&references), times(&[alpha]));
        let positioned = Tensor::cat(vec![keys.clone(), positions(times(&[0.1, 0.35, 0.9]))], 1);
        let values = Tensor::<2>::from_data([[1.0], [-2.0], [3.0]], &device);
        let seen = entries(attend(&input(), local, positioned, values).unwrap());
        let (queries, keys) = (entries(queries), entries(keys));
        for (r, reference) in references.iter().enumerate() {
            let (mut sum, mut total) = (0.0, 0.0);
            for (u, (time, value)) in [(0.1, 1.0), (0.35, -2.0), (0.9, 3.0)].into_iter().enumerate() {
                let content: f32 = (0..6).map(|e| queries[r * 6 + e] * keys[u * 6 + e]).sum();
                let distance: f64 = reference - time;
                let weight = (f64::from(content) / 6f64.sqrt() - alpha * distance * distance).exp();
                sum += weight * value;
                total += weight;
            }
            assert!(
                (f64::from(seen[r]) - sum / total).abs() < 1e-5,
                "reference {r}: {} {}",
                seen[r],
                sum / total
            );
        }
    }

    #[test]
    fn what_is_local_is_learned() {
        let device = Device::flex().autodiff();
        let config = TimeAttentionConfig {
            hidden: 5,
            embedding: 4,
            reference_points: 6,
            stretched: false,
            local_heads: 2,
        };
        let mut encoder = config.init(1, &mut InitialWeights::new(2, &device));
        let loss = |encoder: &TimeAttentionEncoder| encoder.encode(&input()).unwrap().powi_scalar(2).sum();
        let gradients = loss(&encoder).backward();
        let locality = encoder.locality.clone().unwrap();
        let found = entries(locality.val().grad(&gradients).unwrap());
        let start = entries(locality.val());
        for head in 0..2 {
            let mut moved = |by: f32| {
                let mut values: Vec<f64> = start.iter().map(|&x| f64::from(x)).collect();
                values[head] += f64::from(by);
                encoder.locality = Some(InitialWeights::new(1, &device).values(&values));
                entries(loss(&encoder))[0]
            };
            let slope = (moved(0.05) - moved(-0.05)) / 0.1;
            assert!((slope - found[head]).abs() < 0.02 * slope.abs() + 1e-5, "{slope} {}", found[head]);
        }
    }
}
