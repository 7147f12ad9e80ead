//! A representation that is learned, not computed.

use burn::module::{Module, Param};
use burn::tensor::Tensor;

use super::{Encoder, EncoderError};
use crate::batch::EncoderInput;
use crate::initial::InitialWeights;

/// One learned vector for every series: for a single series, or shared by all of them.
#[derive(Module, Debug)]
pub struct LearnedEmbedding {
    /// `[1, width]`.
    pub h: Param<Tensor<2>>,
}

impl LearnedEmbedding {
    /// A vector of the given width.
    pub fn new(width: usize, weights: &mut InitialWeights) -> Self {
        Self { h: weights.uniform([1, width], 1.0) }
    }
}

impl Encoder for LearnedEmbedding {
    fn encode(&self, input: &EncoderInput) -> Result<Tensor<2>, EncoderError> {
        let h = self.h.val();
        let width = h.dims()[1];
        Ok(h.expand([input.series(), width]))
    }
}
