//! Squared errors, for targets without a distribution.

use std::sync::Arc;

use burn::tensor::Tensor;

use super::entrywise::{EntryLoss, LossAt, entrywise_loss};
use crate::batch::{Targets, TargetsError};
use crate::fused::FusedReal;

/// Sum of `(x - output)^2` over the observed entries of each series, `[B]`, averaged over the samples.
///
/// # Errors
/// When the outputs (`[S, Q, C]`) do not have the shape of the targets.
pub fn squared_error(output: Tensor<3>, targets: Arc<Targets>) -> Result<Tensor<1>, TargetsError> {
    let unused = Tensor::zeros([1], (&output.device(), output.dtype()));
    entrywise_loss(SquaredError, targets, output, unused)
}

#[derive(Clone, Copy, Debug)]
struct SquaredError;

impl EntryLoss for SquaredError {
    type Prepared<T: FusedReal> = ();

    fn prepare<T: FusedReal>(&self, _: T) {}

    fn at<T: FusedReal>(&self, x: T, output: T, (): ()) -> LossAt<T> {
        let error = output - x;
        LossAt { value: error * error, by_output: error + error, by_parameter: T::zero() }
    }
}
