//! From beliefs to what is observed.

use std::sync::Arc;

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;
use serde::{Deserialize, Serialize};

use super::{KalmanFilter, Layers, LayersConfig, VarianceKind};
use crate::batch::Targets;
use crate::decoder::{Decoder, ImageDecoder};
use crate::initial::InitialWeights;
use crate::likelihood::{Bernoulli, VARIANCE_FLOOR, varying_gaussian};
use crate::model::ModelError;

/// Means and variances of numbers, from a belief.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NormalHeadConfig {
    /// From the mean of the state to a mean.
    pub mean: LayersConfig,
    /// From its variances and covariances to a variance.
    pub variance: LayersConfig,
    /// How numbers become variances.
    pub variance_kind: VarianceKind,
}

/// Means from the mean of the state, variances from its variances and covariances.
#[derive(Module, Debug)]
pub struct NormalHead {
    /// Hidden layers of the mean.
    pub mean: Layers,
    /// To the mean.
    pub mean_output: Linear,
    /// Hidden layers of the variance.
    pub variance: Layers,
    /// To the variance.
    pub variance_output: Linear,
    #[module(skip)]
    kind: VarianceKind,
}

/// From beliefs to observations.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one of them in a model")]
pub enum CruDecoder {
    /// Numbers that are normal around a mean, with a variance of their own.
    Normal(NormalHead),
    /// Grey values of images, by their cross entropy.
    Image(ImageDecoder),
}

impl NormalHeadConfig {
    /// Initialises the head for states of `2 half` and `outputs` numbers.
    pub fn init(&self, half: usize, outputs: usize, weights: &mut InitialWeights) -> NormalHead {
        let [of_mean, of_variance] = [2 * half, 3 * half];
        NormalHead {
            mean: self.mean.init(of_mean, weights),
            mean_output: weights.linear(self.mean.width(of_mean), outputs),
            variance: self.variance.init(of_variance, weights),
            variance_output: weights.linear(self.variance.width(of_variance), outputs),
            kind: self.variance_kind,
        }
    }
}

impl NormalHead {
    /// Numbers of an output.
    pub fn width(&self) -> usize {
        self.mean_output.weight.val().dims()[1]
    }

    /// Means and variances, `[M, outputs]` each, at beliefs `[M, 5d]`. Variances can still be below the floor of the
    /// likelihood.
    pub fn forward(&self, beliefs: Tensor<2>, filter: &KalmanFilter) -> (Tensor<2>, Tensor<2>) {
        let (mean, covariance) = filter.parts(beliefs);
        let mean = self.mean_output.forward(self.mean.forward(mean));
        let variance = self.variance_output.forward(self.variance.forward(covariance));
        (mean, self.kind.apply(variance))
    }
}

impl CruDecoder {
    /// Means, `[M, C]`, and variances, where there are any, at beliefs `[M, 5d]`.
    ///
    /// # Errors
    /// When the states do not fit the decoder.
    pub fn forward(
        &self,
        beliefs: Tensor<2>,
        filter: &KalmanFilter,
    ) -> Result<(Tensor<2>, Option<Tensor<2>>), ModelError> {
        Ok(match self {
            CruDecoder::Normal(head) => {
                let (mean, variance) = head.forward(beliefs, filter);
                (mean, Some(variance.clamp_min(VARIANCE_FLOOR)))
            }
            CruDecoder::Image(decoder) => (sigmoid(decoder.decode(filter.parts(beliefs).0)?), None),
        })
    }

    /// The negative log likelihood of each series, `[B]`, at the beliefs of the points of its targets.
    ///
    /// # Errors
    /// When beliefs and targets do not fit.
    pub fn loss(
        &self,
        beliefs: Tensor<2>,
        filter: &KalmanFilter,
        targets: Arc<Targets>,
    ) -> Result<Tensor<1>, ModelError> {
        Ok(match self {
            CruDecoder::Normal(head) => {
                let (mean, variance) = head.forward(beliefs, filter);
                varying_gaussian(targets, mean, variance)?
            }
            CruDecoder::Image(decoder) => {
                let logits = decoder.decode(filter.parts(beliefs).0)?;
                Bernoulli.negative_log_likelihood(logits.unsqueeze_dim(0), targets)?
            }
        })
    }
}
