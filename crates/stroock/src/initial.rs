//! Initial weights that depend on a seed alone.

use std::cell::Cell;

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};
use stroock_kernels::noise::{NoiseKey, Purpose, Stage, Stream};

use crate::model::ModelConfigError;

/// Most numbers of a model where nothing else bounds them: two gigabytes of them.
const MOST: usize = 1 << 29;

/// Draws the initial weights of modules, one after the other, from a counter-based stream.
///
/// burn's own generator belongs to the whole process: weights drawn from it depend on whatever else is drawn
/// beside them. These depend on the seed and on the order of the modules only.
///
/// There are at most so many of them: a module whose sizes ask for more gets tensors of a single number, which take no
/// memory, and [`InitialWeights::check`] says so. A configuration from a stranger must not decide how much memory is taken.
///
/// ```
/// use burn::tensor::Device;
/// use stroock::initial::InitialWeights;
/// let draw = || InitialWeights::new(7, &Device::flex()).linear(3, 2).weight.val().into_data();
/// assert_eq!(draw(), draw());
/// ```
#[derive(Debug)]
pub struct InitialWeights {
    stream: Stream,
    device: Device,
    most: usize,
    /// Numbers that have been asked for.
    asked: Cell<usize>,
}

impl InitialWeights {
    /// Weights of the experiment with `seed`, as tensors on `device`.
    pub fn new(seed: u64, device: &Device) -> Self {
        Self::within(MOST, seed, device)
    }

    /// The same, of at most `most` numbers.
    pub fn within(most: usize, seed: u64, device: &Device) -> Self {
        let stream = NoiseKey::of(seed, Stage::Weights).stream(Purpose::Weights, 0, 0);
        Self { stream, device: device.clone(), most: most.min(MOST), asked: Cell::new(0) }
    }

    /// Checks that no more numbers were asked for than there may be.
    ///
    /// # Errors
    /// When there were: the modules that were made cannot be used.
    pub fn check(&self) -> Result<(), ModelConfigError> {
        match self.asked.get() <= self.most {
            true => Ok(()),
            false => Err(ModelConfigError::TooManyParameters { most: self.most }),
        }
    }

    /// The shape, or that of a single number where it would be too many.
    fn bounded<const D: usize>(&self, shape: [usize; D]) -> [usize; D] {
        let count = shape.iter().fold(1_usize, |product, &extent| product.saturating_mul(extent));
        self.asked.set(self.asked.get().saturating_add(count));
        if self.asked.get() <= self.most { shape } else { [1; D] }
    }

    /// Where the weights live.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Numbers uniform in `(-bound, bound)`.
    pub fn uniform<const D: usize>(&mut self, shape: [usize; D], bound: f64) -> Param<Tensor<D>> {
        let shape = self.bounded(shape);
        let count = shape.iter().product();
        let mut draw = || ((2.0 * self.stream.uniform() - 1.0) * bound) as f32;
        let values: Vec<f32> = (0..count).map(|_| draw()).collect();
        Param::from_tensor(Tensor::from_data(TensorData::new(values, shape), &self.device))
    }

    /// Normal numbers with mean 0 and standard deviation `sd`.
    pub fn normal<const D: usize>(&mut self, shape: [usize; D], sd: f64) -> Param<Tensor<D>> {
        let shape = self.bounded(shape);
        let mut values = vec![0.0; shape.iter().product()];
        self.stream.normals(&mut values);
        let values: Vec<f32> = values.into_iter().map(|x| (x * sd) as f32).collect();
        Param::from_tensor(Tensor::from_data(TensorData::new(values, shape), &self.device))
    }

    /// The same number everywhere.
    pub fn constant<const D: usize>(&self, shape: [usize; D], value: f64) -> Param<Tensor<D>> {
        Param::from_tensor(Tensor::full(self.bounded(shape), value, &self.device))
    }

    /// The given numbers.
    pub fn values(&self, values: &[f64]) -> Param<Tensor<1>> {
        Param::from_tensor(Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), &self.device))
    }

    /// A linear map with normal weights of a standard deviation and biases of 0.
    pub fn normal_linear(&mut self, inputs: usize, outputs: usize, sd: f64) -> Linear {
        Linear { weight: self.normal([inputs, outputs], sd), bias: Some(self.constant([outputs], 0.0)) }
    }

    /// A linear map with bias, all of it uniform within `1 / sqrt(inputs)`.
    pub fn linear(&mut self, inputs: usize, outputs: usize) -> Linear {
        let bound = 1.0 / (inputs.max(1) as f64).sqrt();
        let weight = self.uniform([inputs, outputs], bound);
        Linear { weight, bias: Some(self.uniform([outputs], bound)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_numbers_than_there_may_be() {
        let mut weights = InitialWeights::within(100, 1, &Device::flex());
        assert_eq!(weights.linear(8, 10).weight.dims(), [8, 10]);
        assert_eq!(weights.check(), Ok(()));
        assert_eq!(weights.uniform([usize::MAX, 2], 1.0).dims(), [1, 1]);
        assert_eq!(weights.normal([1 << 40], 1.0).dims(), [1]);
        assert_eq!(weights.check(), Err(ModelConfigError::TooManyParameters { most: 100 }));
    }
}
