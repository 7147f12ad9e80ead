//! Group normalisation with one group.

use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use stroock_kernels::argument::{ArgumentError, check_length};
use stroock_kernels::network::NetworkError;

/// `max(scale_c (x - mean) / sqrt(variance + epsilon) + offset_c, 0)` of images `[frames, channels, height, width]`.
///
/// Mean and variance are those of all `N` numbers of a frame, the variance with `N - 1` in its denominator, where
/// PyTorch has `N`; `scale` and `offset` are `[channels]`.
///
/// # Errors
/// When the shapes do not fit, or `epsilon` is not positive.
pub fn group_norm(
    images: Tensor<4>,
    scale: Tensor<1>,
    offset: Tensor<1>,
    epsilon: f64,
) -> Result<Tensor<4>, NetworkError> {
    let [frames, channels, height, width] = images.dims();
    for (argument, tensor) in [("scale", &scale), ("offset", &offset)] {
        check_length(argument, "[channels]", channels, tensor.dims()[0])?;
    }
    if !(epsilon > 0.0 && epsilon.is_finite()) {
        return Err(NetworkError::Epsilon { epsilon });
    }
    let count = channels * height * width;
    if count == 0 {
        return Err(ArgumentError::Zero { argument: "images", axis: 1 }.into());
    }
    let flat = images.reshape([frames, count]);
    let centred = flat.clone() - flat.mean_dim(1);
    let variance = centred.clone().powi_scalar(2).sum_dim(1).mul_scalar(1.0 / (count - 1).max(1) as f64);
    let standard = (centred / variance.add_scalar(epsilon).sqrt()).reshape([frames, channels, height, width]);
    let of_channel = |numbers: Tensor<1>| numbers.reshape([1, channels, 1, 1]);
    Ok(relu(standard * of_channel(scale) + of_channel(offset)))
}
