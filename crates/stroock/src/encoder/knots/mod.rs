//! An encoder with a state at every knot: what is known of a series at a time, from all of its observations.
//!
//! Knots are the observed times of a series and evenly spaced times between them. What is seen next to a knot, before
//! and after, goes through a recurrent unit that runs over the knots in both directions. A process that follows the
//! observations is linear in time between its values at the knots.

mod neighbours;
mod positions;

pub use positions::KnotPositions;

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::relu;
use burn::tensor::{Tensor, TensorData};
use serde::{Deserialize, Serialize};
use stroock_kernels::network::NetworkError;

use super::frames::frames_of;
use super::{BidirectionalGru, BidirectionalGruConfig, Encoder, EncoderError};
use crate::batch::{EncoderInput, InputEntries};
use crate::image::{ImageNetwork, ImageNetworkConfig, ImageShape};
use crate::initial::InitialWeights;
use neighbours::{Neighbours, channel_neighbours, frame_neighbours};

/// What an encoder knows of the series of a batch, at knots of their own.
#[derive(Clone, Debug)]
pub struct Knots {
    /// `[B + 1]`: where the knots of a series begin.
    pub offsets: Vec<usize>,
    /// Model times of the knots, increasing within a series, `[N]`.
    pub times: Vec<f64>,
    /// A state for every knot, `[N, width]`.
    pub states: Tensor<2>,
}

/// Sizes of a [`KnotEncoder`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KnotEncoderConfig {
    /// How frames become features; `None` for vectors.
    pub frames: Option<FrameFeaturesConfig>,
    /// Units of the recurrent unit in each direction, and width of what it reads.
    pub hidden: usize,
    /// Width of the state of a knot.
    pub width: usize,
    /// Where knots lie.
    pub positions: KnotPositions,
    /// Model time within which a neighbour counts as near: its closeness is `exp(-gap / nearness)`.
    pub nearness: f64,
}

impl Default for KnotEncoderConfig {
    fn default() -> Self {
        Self { frames: None, hidden: 64, width: 64, positions: KnotPositions::default(), nearness: 0.03 }
    }
}

/// How a frame becomes features `tanh(W cnn(x) + b)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameFeaturesConfig {
    /// Convolutions.
    pub network: ImageNetworkConfig,
    /// Features of a frame.
    pub features: usize,
}

/// The map from frames to features.
#[derive(Module, Debug)]
pub struct FrameFeatures {
    /// Convolutions of a frame.
    pub network: ImageNetwork,
    /// From the last layer of the network to the features.
    pub features: Linear,
    #[module(skip)]
    frame: ImageShape,
}

/// A state for every knot of a series.
///
/// With the neighbours `f_k` of knot `k` (see [`KnotEncoderConfig::nearness`]),
///
/// ```text
/// x_k = relu(W f_k + b),   g_k, h_k = GRU over x forwards and backwards,   state_k = MLP(x_k, g_k, h_k).
/// ```
#[derive(Module, Debug)]
pub struct KnotEncoder {
    /// Frames to features, where frames are observed.
    pub frames: Option<FrameFeatures>,
    /// Neighbours to what the recurrent unit reads.
    pub input: Linear,
    /// Over the knots, in both directions.
    pub recurrence: BidirectionalGru,
    /// To a hidden layer of the state.
    pub merge: Linear,
    /// To the state.
    pub output: Linear,
    #[module(skip)]
    positions: KnotPositions,
    #[module(skip)]
    nearness: f64,
}

impl KnotEncoderConfig {
    /// Initialises the encoder for vectors of `channels` numbers, or for frames of a shape.
    ///
    /// # Errors
    /// When the layers do not fit the frames.
    pub fn init(
        &self,
        channels: usize,
        frame: Option<ImageShape>,
        weights: &mut InitialWeights,
    ) -> Result<KnotEncoder, NetworkError> {
        let frames = match (&self.frames, frame) {
            (Some(config), Some(frame)) => Some(config.init(frame, weights)?),
            _ => None,
        };
        let inputs = match &self.frames {
            Some(config) => neighbours::frame_width(config.features),
            None => neighbours::channel_width(channels),
        };
        let hidden = self.hidden;
        Ok(KnotEncoder {
            frames,
            input: weights.linear(inputs, hidden),
            recurrence: BidirectionalGruConfig { width: hidden, hidden }.init(weights),
            merge: weights.linear(3 * hidden, self.width),
            output: weights.linear(self.width, self.width),
            positions: self.positions,
            nearness: self.nearness,
        })
    }
}

impl FrameFeaturesConfig {
    /// Initialises the map for frames of a shape.
    ///
    /// # Errors
    /// When the layers do not fit the frames.
    pub fn init(
        &self,
        frame: ImageShape,
        weights: &mut InitialWeights,
    ) -> Result<FrameFeatures, NetworkError> {
        let extent = self.network.output(frame)?.extent();
        Ok(FrameFeatures {
            network: self.network.init(frame.channels, weights),
            features: weights.linear(extent, self.features),
            frame,
        })
    }
}

impl FrameFeatures {
    /// Features `[P, F]` of the frames of an input.
    pub(super) fn forward(&self, input: &EncoderInput) -> Result<Tensor<2>, EncoderError> {
        let frames = frames_of(input, &input.values, self.frame, &self.network)?;
        let (count, width) = (frames.dims()[0], self.features.weight.val().dims()[0]);
        let maps = self.network.forward(frames)?;
        Ok(self.features.forward(maps.reshape([count, width])).tanh())
    }
}

impl KnotEncoder {
    /// What is seen next to the knots, `[N, inputs]`.
    fn neighbours(
        &self,
        input: &EncoderInput,
        offsets: &[usize],
        times: &[f64],
    ) -> Result<Tensor<2>, EncoderError> {
        let weight = self.input.weight.val();
        let (options, expected) = ((&weight.device(), weight.dtype()), weight.dims()[0]);
        match (&self.frames, &input.entries) {
            (Some(frames), InputEntries::Whole) => {
                let found = Neighbours::of_points(input, offsets, times, self.nearness);
                Ok(frame_neighbours(&found, frames.forward(input)?))
            }
            (None, InputEntries::PerChannel { .. }) => {
                let found = channel_neighbours(input, offsets, times, self.nearness);
                let width = neighbours::channel_width(input.channels());
                if width != expected {
                    let expected = neighbours::channels_of(expected);
                    return Err(EncoderError::Channels { expected, actual: input.channels() });
                }
                Ok(Tensor::from_data(TensorData::new(found, [times.len(), width]), options))
            }
            _ => Err(EncoderError::Channels { expected, actual: input.channels() }),
        }
    }
}

impl Encoder<Knots> for KnotEncoder {
    fn encode(&self, input: &EncoderInput) -> Result<Knots, EncoderError> {
        let (offsets, times) = self.positions.of_input(input);
        let x = relu(self.input.forward(self.neighbours(input, &offsets, &times)?));
        let both = self.recurrence.states(x.clone(), &offsets)?;
        let merged = relu(self.merge.forward(Tensor::cat(vec![x, both], 1)));
        let states = self.output.forward(merged.clone()) + merged;
        Ok(Knots { offsets, times, states })
    }
}
