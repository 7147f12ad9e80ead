//! The parameters of the covariance between frames.

use std::f64::consts::TAU;

use burn::module::{Module, Param};
use burn::tensor::activation::{log_softmax, softmax};
use burn::tensor::{Tensor, TensorData};
use nalgebra::{DMatrix, DVector};

use super::GaussianProcessConfig;
use super::process::{GaussianProcess, Term};
use crate::initial::InitialWeights;

/// The covariance `w1 (x_o . x_o') sum_h a_h cos(2 pi h (t - t') / T) + w2 [same frame]` of the frames of `P` series.
///
/// `x` are unit vectors, `a` and `(w1, w2)` are positive and have the sum 1. All parameters are stored divided by the speed
/// of the configuration: an optimiser whose steps are of one size for all parameters moves these faster by that factor.
#[derive(Module, Debug)]
pub struct FrameKernel {
    /// Vectors of the training series, of any length, `[P, M]`.
    pub objects: Param<Tensor<2>>,
    /// Logarithms of `a`, up to a constant, `[H + 1]`.
    pub spectrum: Param<Tensor<1>>,
    /// Logarithms of `(w1, w2)`, up to a constant, `[2]`.
    pub mixture: Param<Tensor<1>>,
    #[module(skip)]
    period: f64,
    #[module(skip)]
    speed: f64,
}

/// Noise of the vectors to start from, around the first axis.
const NOISE: f64 = 1e-3;
/// Least length of a stored vector: that of zeros has no direction.
const SHORTEST: f64 = 1e-20;

impl FrameKernel {
    /// All series close to each other, harmonics that fall by `e` from each to the next, and equal shares.
    pub fn new(config: &GaussianProcessConfig, weights: &mut InitialWeights) -> Self {
        let &GaussianProcessConfig { objects, vector, harmonics, period, speed, .. } = config;
        let drawn = weights.normal([objects, vector], NOISE / speed).val();
        // Another one where there may not be so many.
        let shape = drawn.dims();
        let mut rows = doubles(drawn);
        rows.chunks_exact_mut(shape[1]).for_each(|row| row[0] += 1.0 / speed);
        let rows = Tensor::from_data(TensorData::new(rows, shape), weights.device());
        let falling: Vec<f64> = (0..=harmonics).map(|h| -(h as f64) / speed).collect();
        Self {
            objects: Param::from_tensor(rows),
            spectrum: weights.values(&falling),
            mixture: weights.values(&[0.0, 0.0]),
            period,
            speed,
        }
    }

    /// Unit vectors of the training series, `[P, M]`.
    pub fn vectors(&self) -> Tensor<2> {
        let raw = self.objects.val();
        let length = raw.clone().powi_scalar(2).sum_dim(1).sqrt().clamp_min(SHORTEST);
        raw / length
    }

    /// Amplitudes `sqrt(a)` of the [`harmonics`](Self::harmonics), `[1 + 2 H]`.
    pub fn amplitudes(&self) -> Tensor<1> {
        let ln_shares = log_softmax(self.spectrum.val().mul_scalar(self.speed), 0);
        let amplitudes = ln_shares.mul_scalar(0.5).exp();
        let count = amplitudes.dims()[0] - 1;
        let pairs = amplitudes.clone().narrow(0, 1, count).reshape([count, 1]).expand([count, 2]);
        Tensor::cat(vec![amplitudes.narrow(0, 0, 1), pairs.reshape([2 * count])], 0)
    }

    /// `(w1, w2)`, `[2]`.
    pub fn shares(&self) -> Tensor<1> {
        softmax(self.mixture.val().mul_scalar(self.speed), 0)
    }

    /// `1`, and cosine and sine of `2 pi h t / T` for `h` from 1 to `H`, at some times: `[N, 1 + 2 H]`.
    pub fn harmonics(&self, times: &[f64]) -> DMatrix<f64> {
        let count = 2 * self.spectrum.dims()[0] - 1;
        DMatrix::from_fn(times.len(), count, |n, r| {
            // Whole turns are left out before they cost digits.
            let turns = times[n] / self.period * r.div_ceil(2) as f64;
            let (sine, cosine) = (TAU * (turns - turns.round())).sin_cos();
            if r > 0 && r % 2 == 0 { sine } else { cosine }
        })
    }

    /// The harmonics at some times with their amplitudes, `[N, 1 + 2 H]`.
    pub(super) fn views(&self, times: &[f64]) -> DMatrix<f64> {
        let (mut views, amplitudes) = (self.harmonics(times), doubles(self.amplitudes()));
        views.column_iter_mut().zip(amplitudes).for_each(|(mut column, amplitude)| column *= amplitude);
        views
    }

    /// The process in numbers.
    pub(super) fn process(&self) -> GaussianProcess {
        let shares = doubles(self.shares());
        GaussianProcess {
            vectors: matrix(self.vectors()),
            amplitudes: DVector::from_vec(doubles(self.amplitudes())),
            shared: shares[0],
            own: shares[1],
        }
    }

    /// A number, `[1]`, with the derivatives that a term has by the parameters.
    pub(super) fn along(&self, term: &Term) -> Tensor<1> {
        let vectors = self.vectors();
        let by_vectors = like(&term.vectors, &vectors);
        let amplitudes = self.amplitudes();
        let shares = self.shares();
        let slopes = |slopes: &[f64]| {
            let data = TensorData::new(slopes.to_vec(), [slopes.len()]);
            Tensor::<1>::from_data(data, (&shares.device(), shares.dtype()))
        };
        let (by_amplitudes, by_shares) = (slopes(term.amplitudes.as_slice()), slopes(&term.shares));
        (vectors * by_vectors).sum() + (amplitudes * by_amplitudes).sum() + (shares * by_shares).sum()
    }
}

/// The entries of a tensor in row-major order.
pub(super) fn doubles<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    // The conversion makes this the right type.
    tensor.into_data().convert::<f64>().try_into_vec().unwrap_or_default()
}

/// A tensor as a matrix.
pub(super) fn matrix(tensor: Tensor<2>) -> DMatrix<f64> {
    let [rows, columns] = tensor.dims();
    DMatrix::from_row_slice(rows, columns, &doubles(tensor))
}

/// A matrix as a tensor on the device and in the precision of another one.
pub(super) fn like<const D: usize>(matrix: &DMatrix<f64>, like: &Tensor<D>) -> Tensor<2> {
    let (rows, columns) = matrix.shape();
    let by_rows = matrix.transpose().as_slice().to_vec();
    Tensor::from_data(TensorData::new(by_rows, [rows, columns]), (&like.device(), like.dtype()))
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    #[test]
    fn the_features_make_the_covariance() {
        let config = GaussianProcessConfig {
            objects: 4,
            vector: 3,
            harmonics: 3,
            period: 0.8,
            ..GaussianProcessConfig::default()
        };
        let kernel = FrameKernel::new(&config, &mut InitialWeights::new(5, &Device::flex()));
        let times = [0.0, 0.1, 0.37, 0.9];
        let views = kernel.views(&times);
        let a: Vec<f64> = (0..4).map(|h| (-f64::from(h)).exp()).collect();
        let all: f64 = a.iter().sum();
        for (i, t) in times.iter().enumerate() {
            for (j, s) in times.iter().enumerate() {
                let cosine = |h: usize| a[h] / all * (TAU * h as f64 * (t - s) / 0.8).cos();
                let wanted: f64 = (0..4).map(cosine).sum();
                assert!((views.row(i).dot(&views.row(j)) - wanted).abs() < 1e-6, "{t} {s}");
            }
        }
        // A turn later the view is the same.
        assert!((kernel.views(&[0.1]) - kernel.views(&[0.9])).amax() < 1e-6);
        let process = kernel.process();
        assert!(process.vectors.row_iter().all(|x| (x.norm() - 1.0).abs() < 1e-6 && x[0] > 0.99));
        assert_ne!(process.vectors.row(0), process.vectors.row(1));
        assert_eq!((process.shared, process.own), (0.5, 0.5));
    }
}
