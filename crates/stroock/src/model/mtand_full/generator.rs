//! From latent numbers at the reference points to states at any time.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Int, Tensor, TensorData};

use super::mixture::mix;
use super::{ReferenceSizes, reference_times};
use crate::batch::{EncoderInput, InputPoints};
use crate::encoder::{BidirectionalGru, BidirectionalGruConfig, TimeEmbedding, TimeEmbeddingConfig, attend};
use crate::initial::InitialWeights;
use crate::model::ModelError;
use crate::series::Observation;

/// A recurrent unit over the reference points in both directions, and attention from asked times to them.
#[derive(Module, Debug)]
pub struct ReferenceGenerator {
    /// Over the reference points, in both directions.
    pub recurrence: BidirectionalGru,
    /// Times as vectors.
    pub embedding: TimeEmbedding,
    /// Embedding of an asked time to its query.
    pub query: Linear,
    /// Embedding of a reference point to its key.
    pub key: Linear,
    /// Mixed states of the recurrent unit to the state.
    pub values: Linear,
    #[module(skip)]
    reference_points: usize,
    #[module(skip)]
    latent: usize,
}

impl ReferenceGenerator {
    /// Initialises it.
    pub fn new(sizes: ReferenceSizes, weights: &mut InitialWeights) -> Self {
        let ReferenceSizes { embedding, generator, latent, reference_points, .. } = sizes;
        Self {
            recurrence: BidirectionalGruConfig { width: latent, hidden: generator }.init(weights),
            embedding: TimeEmbeddingConfig { width: embedding }.init(weights),
            query: weights.linear(embedding, embedding),
            key: weights.linear(embedding, embedding),
            values: weights.linear(2 * generator, 2 * generator),
            reference_points,
            latent,
        }
    }

    /// Latent numbers `R L` of a series.
    pub fn latents(&self) -> usize {
        self.reference_points * self.latent
    }

    /// The states `[S B R, 2 G]` of the recurrent unit over latent numbers `[S, B, R L]`.
    ///
    /// # Errors
    /// When there are other numbers than those of the reference points.
    pub fn read(&self, z: Tensor<3>) -> Result<Tensor<2>, ModelError> {
        let [samples, series, actual] = z.dims();
        let expected = self.latents();
        if actual != expected {
            return Err(ModelError::CodeWidth { expected, actual });
        }
        let (sequences, references) = (samples * series, self.reference_points);
        let offsets: Vec<usize> = (0..=sequences).map(|i| i * references).collect();
        Ok(self.recurrence.states(z.reshape([sequences * references, self.latent]), &offsets)?)
    }

    /// The weights `[U, R]` of the reference points at these times.
    ///
    /// # Errors
    /// When a score overflows, or there are no times.
    pub fn weights(&self, times: &[f64]) -> Result<Tensor<2>, ModelError> {
        let references = self.reference_points;
        let queries = self.query.forward(self.embedding.at(times));
        let mut identity = vec![0f32; references * references];
        identity.iter_mut().step_by(references + 1).for_each(|entry| *entry = 1.0);
        // A softmax is attention to the rows of the identity.
        let observation = Observation::Image { channels: 1, height: 1, width: references };
        let points =
            InputPoints { times: reference_times(references), values: identity.clone(), seen: Vec::new() };
        let input = EncoderInput::new(observation, &[points]);
        let keys = self.key.forward(self.embedding.at(&input.distinct_times));
        let identity = TensorData::new(identity, [references, references]);
        let identity = Tensor::from_data(identity, (&queries.device(), queries.dtype()));
        let weights = attend(&input, queries, keys, identity)?;
        Ok(weights.reshape([times.len(), references]))
    }

    /// States `[S, Q, 2 G]` of latent numbers `[S, B, R L]`: those of series `b` at `times[offsets[b]..offsets[b + 1]]`.
    ///
    /// # Errors
    /// When the numbers do not fit.
    pub fn states(&self, z: Tensor<3>, offsets: &[usize], times: &[f64]) -> Result<Tensor<3>, ModelError> {
        let [samples, series, _] = z.dims();
        let read = self.read(z)?;
        let width = read.dims()[1];
        let mixed = self.mixed(read, [samples, series], offsets, times)?;
        let states = self.values.forward(mixed.reshape([samples * times.len(), width]));
        Ok(states.reshape([samples, times.len(), width]))
    }

    /// What a linear map makes of these states, `[S, Q, outputs]`, without the states.
    ///
    /// Two maps after one another are one, and mixtures of mapped rows are maps of mixtures: the rows at the reference
    /// points go through one map to the width of `map`, and only what it gives is mixed.
    ///
    /// # Errors
    /// When the numbers do not fit.
    pub fn mapped_states(
        &self,
        z: Tensor<3>,
        offsets: &[usize],
        times: &[f64],
        map: &Linear,
    ) -> Result<Tensor<3>, ModelError> {
        let [samples, series, _] = z.dims();
        let weight = self.values.weight.val().matmul(map.weight.val());
        let mixed = self.mixed(self.read(z)?.matmul(weight), [samples, series], offsets, times)?;
        let bias = self.values.bias.as_ref().map(|bias| map.forward(bias.val().unsqueeze_dim::<2>(0)));
        let bias = bias.or_else(|| map.bias.as_ref().map(|bias| bias.val().unsqueeze_dim(0)));
        Ok(match bias {
            Some(bias) => mixed + bias.unsqueeze_dim(0),
            None => mixed,
        })
    }

    /// The mixtures `[S, Q, C]` at asked times of the rows `[S B R, C]` at the reference points.
    fn mixed(
        &self,
        rows: Tensor<2>,
        [samples, series]: [usize; 2],
        offsets: &[usize],
        times: &[f64],
    ) -> Result<Tensor<3>, ModelError> {
        let width = rows.dims()[1];
        if times.is_empty() {
            return Ok(Tensor::zeros([samples, 0, width], (&rows.device(), rows.dtype())));
        }
        let mut distinct = times.to_vec();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let row = |time: &f64| distinct.binary_search_by(|other| other.total_cmp(time)).unwrap_or_default();
        let of_times: Vec<i64> = times.iter().map(|time| row(time) as i64).collect();
        let of_times = Tensor::<1, Int>::from_data(TensorData::new(of_times, [times.len()]), &rows.device());
        let weights = self.weights(&distinct)?.select(0, of_times);
        Ok(mix(offsets, weights, rows.reshape([samples, series, self.reference_points, width]))?)
    }
}
