//! A prior with a drift of its own, learned: attracting points and cycles, the same at all times and for all series.

use burn::module::{Module, Param};
use burn::tensor::Tensor;

use super::AttractorPrior;
use crate::initial::InitialWeights;

/// The parameters of the drift `P_z(pull + A z)` of a prior on the sphere: see
/// [`Attractor`](stroock_kernels::path::Attractor). They start at zero, where the prior is Brownian motion.
#[derive(Module, Debug)]
pub struct LearnedAttractor {
    /// `[n]`.
    pub pull: Param<Tensor<1>>,
    /// `[n / 2]`.
    pub rates: Param<Tensor<1>>,
    /// `[n / 2]`.
    pub frequencies: Param<Tensor<1>>,
}

impl LearnedAttractor {
    /// A prior without drift, to begin with, in ambient dimension `dim`.
    pub fn new(dim: usize, weights: &InitialWeights) -> Self {
        let planes = || weights.constant([dim / 2], 0.0);
        Self { pull: weights.constant([dim], 0.0), rates: planes(), frequencies: planes() }
    }

    /// The parameters as they are.
    pub fn prior(&self) -> AttractorPrior {
        AttractorPrior { pull: self.pull.val(), rates: self.rates.val(), frequencies: self.frequencies.val() }
    }

    /// The coefficients of the drift for each of so many series, `[series, n + 2 (n / 2), 1]`.
    pub fn coefficients(&self, series: usize) -> Tensor<3> {
        let AttractorPrior { pull, rates, frequencies } = self.prior();
        let one = Tensor::cat(vec![pull, rates, frequencies], 0);
        let count = one.dims()[0];
        one.reshape([1, count, 1]).expand([series, count, 1])
    }
}
