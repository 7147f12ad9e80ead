//! The likelihood of classes, with a dense choice of the class.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Tensor, TensorData};

use super::entrywise::sum_observed;
use crate::batch::{Targets, TargetsError};

/// `-ln p(x) = ln sum_k exp(l_k) - l_x` for the class `x`, summed over the observed entries of each series and
/// averaged over the samples, `[B]`.
///
/// The `classes` logits of every channel stand side by side in `logits` (`[S, Q, C classes]`).
///
/// # Errors
/// When the logits do not have the shape of the targets, or a value is not a class.
pub fn cross_entropy(
    classes: usize,
    logits: Tensor<3>,
    targets: &Targets,
) -> Result<Tensor<1>, TargetsError> {
    let (points, channels) = (targets.points(), targets.channels());
    let [samples, rows, width] = logits.dims();
    if rows != points || width != channels * classes || samples == 0 {
        let actual = vec![samples, rows, width];
        return Err(TargetsError::Output { expected: channels * classes, actual });
    }
    let mut chosen = vec![0f32; points * channels * classes];
    let mut fault = None;
    for series in 0..targets.series() {
        targets.for_each_entry(series, |place, value| {
            if value >= 0.0 && value.fract() == 0.0 && value < classes as f32 {
                chosen[place * classes + value as usize] = 1.0;
            } else {
                let (point, channel) = (place / channels, place % channels);
                fault.get_or_insert(TargetsError::Class { point, channel, value, classes });
            }
        });
    }
    if let Some(fault) = fault {
        return Err(fault);
    }
    let chosen = TensorData::new(chosen, [1, points, channels, classes]);
    let chosen = Tensor::<4>::from_data(chosen, (&logits.device(), logits.dtype()));
    let ln_p = log_softmax(logits.reshape([samples, points, channels, classes]), 3);
    let losses = (ln_p * chosen).sum_dim(3).neg().reshape([samples, points, channels]);
    Ok(sum_observed(losses, targets))
}
