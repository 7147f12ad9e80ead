//! Times as vectors.

use burn::module::{Module, Param};
use burn::tensor::{Tensor, TensorData};

use crate::initial::InitialWeights;

/// Size of a [`TimeEmbedding`].
#[derive(Clone, Copy, Debug)]
pub struct TimeEmbeddingConfig {
    /// Width `E`, at least 2.
    pub width: usize,
}

/// `phi(t) = [w_0 t + b_0, sin(w_1 t + b_1), .., sin(w_{E-1} t + b_{E-1})]`: one linear and `E - 1` periodic
/// features, all learned.
#[derive(Module, Debug)]
pub struct TimeEmbedding {
    /// Frequencies, `[E]`.
    pub frequency: Param<Tensor<1>>,
    /// Phases, `[E]`.
    pub phase: Param<Tensor<1>>,
}

impl TimeEmbeddingConfig {
    /// Initialises the embedding.
    pub fn init(&self, weights: &mut InitialWeights) -> TimeEmbedding {
        let width = [self.width.max(2)];
        TimeEmbedding { frequency: weights.uniform(width, 1.0), phase: weights.uniform(width, 1.0) }
    }
}

impl TimeEmbedding {
    /// Embeds times given as numbers, `[U, E]`.
    pub fn at(&self, times: &[f64]) -> Tensor<2> {
        let frequency = self.frequency.val();
        let data = TensorData::new(times.to_vec(), [times.len()]);
        self.forward(Tensor::from_data(data, (&frequency.device(), frequency.dtype())))
    }

    /// Embeds times `[U]` as `[U, E]`.
    pub fn forward(&self, times: Tensor<1>) -> Tensor<2> {
        let angle = times.unsqueeze_dim::<2>(1).matmul(self.frequency.val().unsqueeze_dim(0))
            + self.phase.val().unsqueeze_dim(0);
        let linear = angle.clone().narrow(1, 0, 1);
        let periodic = angle.clone().narrow(1, 1, angle.dims()[1] - 1).sin();
        Tensor::cat(vec![linear, periodic], 1)
    }
}
