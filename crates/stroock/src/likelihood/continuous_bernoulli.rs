//! Grey values with the normalised likelihood of Loaiza-Ganem and Cunningham (2019).

use std::sync::Arc;

use burn::tensor::Tensor;

use super::Bernoulli;
use super::entrywise::{EntryLoss, LossAt, entrywise_loss};
use crate::batch::{Targets, TargetsError};
use crate::fused::FusedReal;

/// `-ln p(x) = -x ln p - (1 - x) ln(1 - p) - ln C(p)` with `p = sigmoid(l)`.
///
/// In the logit `l = output` the normaliser is `C = l / tanh(l / 2)`, which tends to 2 at `l = 0`.
#[derive(Clone, Copy, Debug)]
pub struct ContinuousBernoulli;

impl ContinuousBernoulli {
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

impl EntryLoss for ContinuousBernoulli {
    type Prepared<T: FusedReal> = ();

    fn prepare<T: FusedReal>(&self, _: T) {}

    fn at<T: FusedReal>(&self, x: T, logit: T, (): ()) -> LossAt<T> {
        let plain = Bernoulli.at(x, logit, ());
        let (ln_normaliser, slope) = ln_normaliser(logit);
        LossAt { value: plain.value - ln_normaliser, by_output: plain.by_output - slope, ..plain }
    }
}

/// `ln(l / tanh(l / 2))` and its derivative.
fn ln_normaliser<T: FusedReal>(logit: T) -> (T, T) {
    let (l, half) = (logit.abs(), T::of(0.5));
    if l < T::of(0.1) {
        // 1 + l^2/12 - l^4/720 + l^6/30240, where the quotient of two small numbers loses digits.
        let square = l * l;
        let series = T::one()
            + square * (T::of(1.0 / 12.0) - square * (T::of(1.0 / 720.0) - square * T::of(1.0 / 30240.0)));
        let slope = logit * (T::of(1.0 / 6.0) - square * (T::of(1.0 / 180.0) - square * T::of(1.0 / 5040.0)));
        return (T::LN_2() + series.ln(), slope / series);
    }
    let tanh = (l * half).tanh();
    // d/dl ln(tanh(l/2)) = 1 / sinh(l).
    let slope = T::one() / l - T::one() / l.sinh();
    ((l / tanh).ln(), if logit < T::zero() { -slope } else { slope })
}
