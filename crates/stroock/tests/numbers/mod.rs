//! Numbers, tensors and back, for the tests that need them.

#![allow(dead_code, reason = "every test file uses some of these")]

use burn::tensor::{DType, Device, Tensor, TensorData};
use rand_core::Rng;
use stroock_kernels::noise::{NoiseKey, Purpose};

/// Numbers uniform in (-1, 1) that depend on the seed alone.
pub fn uniform(count: usize, seed: u64) -> Vec<f64> {
    let mut stream = NoiseKey::new(seed, 0).stream(Purpose::Caller, 0, 0);
    (0..count).map(|_| (f64::from(stream.next_u32()) + 0.5) / 2f64.powi(31) - 1.0).collect()
}

/// The same, as unit vectors of dimension `n`.
pub fn unit_vectors(count: usize, n: usize, seed: u64) -> Vec<f64> {
    let mut vectors = uniform(count * n, seed);
    for vector in vectors.chunks_mut(n) {
        let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        vector.iter_mut().for_each(|x| *x /= norm);
    }
    vectors
}

/// A tensor of these numbers in double precision.
pub fn tensor<const D: usize>(values: &[f64], shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), (device, DType::F64))
}

/// The entries of a tensor.
pub fn doubles<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().convert::<f64>().try_into_vec().expect("double precision")
}
