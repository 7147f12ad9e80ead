//! Start points in `R^n` with independent normal coordinates.

use burn::tensor::{Tensor, TensorData};
use rayon::prelude::*;
use stroock_kernels::noise::{NoiseKey, Purpose};

/// Normal distributions of the start points of a batch, one for each series, with independent coordinates.
#[derive(Clone, Debug)]
pub struct NormalStart {
    /// Means, `[B, n]`.
    pub mean: Tensor<2>,
    /// Logarithms of the standard deviations, `[B, n]`.
    pub ln_scale: Tensor<2>,
}

impl NormalStart {
    /// Standard normal distributions of so many series, on the device and in the precision of a tensor.
    pub fn standard<const D: usize>(series: usize, dim: usize, like: &Tensor<D>) -> Self {
        let mean = Tensor::zeros([series, dim], (&like.device(), like.dtype()));
        Self { ln_scale: mean.clone(), mean }
    }

    /// The points `mean + e^ln_scale xi` of standard normals `xi` (`[S, B, n]`).
    pub fn points(&self, normals: Tensor<3>) -> Tensor<3> {
        let scale = self.ln_scale.clone().exp().unsqueeze_dim::<3>(0);
        self.mean.clone().unsqueeze_dim::<3>(0) + scale * normals
    }

    /// The divergence from another one, by series, `[B]`: with the ratio `r = s / s'` of standard deviations and the
    /// distance `d = (m - m') / s'`, the sum over coordinates of `(r^2 + d^2 - 1) / 2 - ln r`.
    pub fn divergence(&self, prior: &Self) -> Tensor<1> {
        let series = self.mean.dims()[0];
        let ln_ratio = self.ln_scale.clone() - prior.ln_scale.clone();
        let distance = (self.mean.clone() - prior.mean.clone()) * prior.ln_scale.clone().neg().exp();
        let squares = ln_ratio.clone().mul_scalar(2.0).exp() + distance.powi_scalar(2);
        (squares.sub_scalar(1.0).mul_scalar(0.5) - ln_ratio).sum_dim(1).reshape([series])
    }

    /// The standard normals `[S, B, n]` of the start points of these series, from sample `first_sample` on: a function of
    /// the key, the number of the series and that of the sample alone.
    pub fn normals(&self, key: NoiseKey, series: &[u32], samples: usize, first_sample: u32) -> Tensor<3> {
        let dim = self.mean.dims()[1];
        let mut normals = vec![0.0; samples * series.len() * dim];
        normals.par_chunks_exact_mut(dim.max(1)).enumerate().for_each(|(row, normals)| {
            let (sample, number) = ((row / series.len()) as u32, series[row % series.len()]);
            key.stream(Purpose::Start, number, first_sample.wrapping_add(sample)).normals(normals);
        });
        let shape = [samples, series.len(), dim];
        Tensor::from_data(TensorData::new(normals, shape), (&self.mean.device(), self.mean.dtype()))
    }
}
