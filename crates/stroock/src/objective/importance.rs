//! The importance-weighted bound.

use burn::tensor::Tensor;

/// `-(ln sum_j exp(-s_j - d) - ln K)` for each series, `[B]`, from the surprise `s` (`[K, B]`) of `K` samples and the
/// divergence `d` (`[B]`). With one sample it is `s + d`; more of them make the bound tighter.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use stroock::objective::importance_weighted_loss;
///
/// let device = Device::flex();
/// let surprise = Tensor::<2>::from_data([[1.0], [1.0]], &device);
/// let loss = importance_weighted_loss(surprise, Tensor::<1>::from_data([0.5], &device));
/// assert!((loss.into_scalar::<f32>() - 1.5).abs() < 1e-6);
/// ```
pub fn importance_weighted_loss(surprise: Tensor<2>, divergence: Tensor<1>) -> Tensor<1> {
    let [samples, series] = surprise.dims();
    // Relative to the likeliest sample, so that nothing overflows and one weight is 1.
    let least = surprise.clone().detach().min_dim(0);
    let sum = (least.clone() - surprise).exp().sum_dim(0);
    let mean = sum.log().sub_scalar((samples as f64).ln());
    (least - mean).reshape([series]) + divergence
}
