//! Multi-time attention on its own: what is seen of series at times of choice.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Int, Tensor, TensorData};

use super::time_attention::presence;
use super::{EncoderError, OwnQueries, TimeEmbedding, TimeEmbeddingConfig, attend, attend_own};
use crate::batch::EncoderInput;
use crate::initial::InitialWeights;

/// Sizes of [`TimeViews`].
#[derive(Clone, Copy, Debug)]
pub struct TimeViewsConfig {
    /// Features `C` of a point.
    pub channels: usize,
    /// Width `E` of the time embedding.
    pub embedding: usize,
    /// Width of a view.
    pub hidden: usize,
}

/// Multi-time attention (Shukla and Marlin 2021) with one head.
///
/// With the embedding `e` of times, query `q(t) = W_q e(t) + b_q` and key `k(s) = W_k e(s) + b_k`, every channel has a
/// softmax of its own over the points where it is observed,
///
/// ```text
/// x_c(t) = sum_p w_p x_{p c},   w_p ~ exp(<q(t), k(s_p)> / sqrt(E)),   view(t) = W (x(t), presence) + b,
/// ```
///
/// where the presence of a channel is 1 if the series has any entry in it, and 0 otherwise.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use stroock::batch::{EncoderInput, InputPoints};
/// use stroock::encoder::TimeViewsConfig;
/// use stroock::initial::InitialWeights;
/// use stroock::series::Observation;
///
/// let device = Device::flex();
/// let views = TimeViewsConfig { channels: 1, embedding: 4, hidden: 3 }.init(&mut InitialWeights::new(1, &device));
/// let points = InputPoints { times: vec![0.1, 0.7], values: vec![1.0, 2.0], seen: vec![true; 2] };
/// let input = EncoderInput::new(Observation::Vector { channels: 1 }, &[points]);
/// let values = Tensor::from_data([[1.0], [2.0]], &device);
/// assert_eq!(views.at(&input, values, &[0.0, 0.5, 1.0])?.dims(), [1, 3, 3]);
/// # Ok::<(), stroock::encoder::EncoderError>(())
/// ```
#[derive(Module, Debug)]
pub struct TimeViews {
    /// Times as vectors.
    pub embedding: TimeEmbedding,
    /// Embedding of a time to its query.
    pub query: Linear,
    /// Embedding of a time to its key.
    pub key: Linear,
    /// Attended values to the view.
    pub values: Linear,
    /// Presence of the channels to the view.
    pub presence: Linear,
}

impl TimeViewsConfig {
    /// Initialises the attention.
    pub fn init(&self, weights: &mut InitialWeights) -> TimeViews {
        // One map of values and presence.
        let bound = 1.0 / ((2 * self.channels).max(1) as f64).sqrt();
        TimeViews {
            embedding: TimeEmbeddingConfig { width: self.embedding }.init(weights),
            query: weights.linear(self.embedding, self.embedding),
            key: weights.linear(self.embedding, self.embedding),
            values: Linear {
                weight: weights.uniform([self.channels, self.hidden], bound),
                bias: Some(weights.uniform([self.hidden], bound)),
            },
            presence: Linear { weight: weights.uniform([self.channels, self.hidden], bound), bias: None },
        }
    }
}

impl TimeViews {
    /// Views `[B, T, hidden]` of every series at the same `times`, from features `[N, C]` of the points of the input.
    ///
    /// # Errors
    /// When the features do not fit the input, or there are no times.
    pub fn at(
        &self,
        input: &EncoderInput,
        features: Tensor<2>,
        times: &[f64],
    ) -> Result<Tensor<3>, EncoderError> {
        let [series, points, channels] = [input.series(), times.len(), features.dims()[1]];
        let present = self.present(input, &features)?;
        let queries = self.query.forward(self.embedding.at(times));
        let keys = self.key.forward(self.embedding.at(&input.distinct_times));
        let attended = attend(input, queries, keys, features)?;
        let view = self.values.forward(attended.reshape([series * points, channels]));
        let hidden = view.dims()[1];
        Ok(view.reshape([series, points, hidden]) + present.unsqueeze_dim(1))
    }

    /// Views `[T, hidden]` of every series at times of its own: series `b` at `times[offsets[b]..offsets[b + 1]]`.
    ///
    /// # Errors
    /// When the features do not fit the input, or the offsets do not fit the times.
    pub fn at_own(
        &self,
        input: &EncoderInput,
        features: Tensor<2>,
        offsets: &[usize],
        times: &[f64],
    ) -> Result<Tensor<2>, EncoderError> {
        let present = self.present(input, &features)?;
        if times.is_empty() {
            return Ok(Tensor::zeros([0, present.dims()[1]], (&features.device(), features.dtype())));
        }
        let mut distinct = times.to_vec();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let row =
            |time: &f64| distinct.binary_search_by(|other| other.total_cmp(time)).unwrap_or_default() as u32;
        let own = OwnQueries { offsets: offsets.to_vec(), rows: times.iter().map(row).collect() };
        let (queries, device) = (self.query.forward(self.embedding.at(&distinct)), features.device());
        let keys = self.key.forward(self.embedding.at(&input.distinct_times));
        let attended = attend_own(input, own, queries, keys, features)?;
        let owners: Vec<i64> = offsets
            .windows(2)
            .enumerate()
            .flat_map(|(b, pair)| std::iter::repeat_n(b as i64, pair[1] - pair[0]))
            .collect();
        let owners = Tensor::<1, Int>::from_data(TensorData::new(owners, [times.len()]), &device);
        Ok(self.values.forward(attended) + present.select(0, owners))
    }

    /// The part of a view that does not depend on time, `[B, hidden]`.
    fn present(&self, input: &EncoderInput, features: &Tensor<2>) -> Result<Tensor<2>, EncoderError> {
        let (expected, actual) = (self.presence.weight.val().dims()[0], features.dims()[1]);
        if expected != actual {
            return Err(EncoderError::Channels { expected, actual });
        }
        let present = TensorData::new(presence(input, actual), [input.series(), actual]);
        let present = Tensor::<2>::from_data(present, (&features.device(), features.dtype()));
        Ok(self.presence.forward(present))
    }
}
