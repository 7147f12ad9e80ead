//! The parameters of group normalisation.

use burn::module::{Module, Param};
use burn::tensor::Tensor;

use crate::initial::InitialWeights;

/// What is added to the variance.
pub(super) const EPSILON: f64 = 1e-5;

/// Group normalisation with all channels in one group: the scale and the offset of every channel.
#[derive(Module, Debug)]
pub struct GroupNorm {
    /// `[channels]`.
    pub scale: Param<Tensor<1>>,
    /// `[channels]`.
    pub offset: Param<Tensor<1>>,
}

impl GroupNorm {
    /// Scale 1 and offset 0.
    pub(super) fn init(channels: usize, weights: &InitialWeights) -> Self {
        Self { scale: weights.constant([channels], 1.0), offset: weights.constant([channels], 0.0) }
    }
}
