//! Multi-time attention (mTAND) followed by a gated recurrent unit.

use burn::module::Module;
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
}

/// The encoder of the paper's types A and B.
///
/// Reference points attend to the observed entries of every channel; their view, with the presence of each
/// channel, is mapped to `hidden` numbers a reference point, and a recurrent unit runs over these.
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
    #[module(skip)]
    reference_points: usize,
    #[module(skip)]
    stretched: bool,
}

impl Default for TimeAttentionConfig {
    /// The sizes of the paper.
    fn default() -> Self {
        Self { hidden: 64, embedding: 128, reference_points: 128, stretched: false }
    }
}

impl TimeAttentionConfig {
    /// Initialises the encoder for inputs of `channels` numbers.
    pub fn init(&self, channels: usize, weights: &mut InitialWeights) -> TimeAttentionEncoder {
        // One map of 2 C channels, in two halves.
        let bound = 1.0 / (2.0 * channels.max(1) as f64).sqrt();
        let half = [channels, self.hidden];
        TimeAttentionEncoder {
            embedding: TimeEmbeddingConfig { width: self.embedding }.init(weights),
            query: weights.linear(self.embedding, self.embedding),
            key: weights.linear(self.embedding, self.embedding),
            values: Linear {
                weight: weights.uniform(half, bound),
                bias: Some(weights.uniform([self.hidden], bound)),
            },
            presence: Linear { weight: weights.uniform(half, bound), bias: None },
            recurrence: GruConfig { width: self.hidden, hidden: self.hidden }.init(weights),
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
        let [channels, hidden] = self.values.weight.val().dims();
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

        let attended = attend(input, queries, keys, features)?;
        let h = if 2 * channels < hidden {
            let presence = presence.unsqueeze_dim::<3>(1).expand([series, self.reference_points, channels]);
            let seen = Tensor::cat(vec![attended, presence], 2);
            let map = Tensor::cat(vec![self.values.weight.val(), self.presence.weight.val()], 0);
            let bias = self.values.bias.as_ref().map(|bias| bias.val());
            let bias = bias.unwrap_or_else(|| Tensor::zeros([hidden], (&map.device(), map.dtype())));
            self.recurrence.forward_through(seen, map, bias)?
        } else {
            let rows = attended.reshape([series * self.reference_points, channels]);
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

/// Whether a feature of a series has any entry, `[B, C]` as 0 or 1.
fn presence(input: &EncoderInput, features: usize) -> Vec<f32> {
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
