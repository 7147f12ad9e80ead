//! The numbers in a tensor.

use burn::tensor::Tensor;

/// The entries of a tensor in row-major order, in single precision.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// let tensor = Tensor::<2>::from_data([[1.0, 2.0], [3.0, 4.0]], &Device::flex());
/// assert_eq!(stroock::entries::entries(tensor), [1.0, 2.0, 3.0, 4.0]);
/// ```
pub fn entries<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    // The conversion makes this the right type.
    tensor.into_data().convert::<f32>().try_into_vec().unwrap_or_default()
}
