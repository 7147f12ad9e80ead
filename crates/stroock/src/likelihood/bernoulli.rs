//! Black or white observations, taken to grey values.

use std::sync::Arc;

use burn::tensor::Tensor;

use super::entrywise::{EntryLoss, LossAt, entrywise_loss};
use crate::batch::{Targets, TargetsError};
use crate::fused::FusedReal;

/// `-ln p(x) = -x ln p - (1 - x) ln(1 - p)` with `p = sigmoid(output)`, for grey values `x` in [0, 1].
///
/// For `x` strictly between 0 and 1 this is the usual cross entropy, not a normalised likelihood;
/// [`ContinuousBernoulli`](super::ContinuousBernoulli) is.
#[derive(Clone, Copy, Debug)]
pub struct Bernoulli;

impl Bernoulli {
    /// Negative log likelihood of each series, `[B]`, from logits `[S, Q, C]`.
    ///
    /// # Errors
    /// When the logits do not have the shape of the targets.
    pub fn negative_log_likelihood(
        &self,
        logits: Tensor<3>,
        targets: Arc<Targets>,
    ) -> Result<Tensor<1>, TargetsError> {
        let unused = Tensor::zeros([1], (&logits.device(), logits.dtype()));
        entrywise_loss(*self, targets, logits, unused)
    }
}

impl EntryLoss for Bernoulli {
    type Prepared<T: FusedReal> = ();

    fn prepare<T: FusedReal>(&self, _: T) {}

    fn at<T: FusedReal>(&self, x: T, logit: T, (): ()) -> LossAt<T> {
        // ln(1 + e^l) without overflow.
        let decay = (-logit.abs()).exp();
        let softplus = logit.max(T::zero()) + decay.ln_1p();
        let sigmoid =
            if logit >= T::zero() { T::one() / (T::one() + decay) } else { decay / (T::one() + decay) };
        LossAt { value: softplus - x * logit, by_output: sigmoid - x, by_parameter: T::zero() }
    }
}
