//! Initial weights that depend on a seed alone.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};
use stroock_kernels::noise::{NoiseKey, Purpose, Stage, Stream};

/// Draws the initial weights of modules, one after the other, from a counter-based stream.
///
/// burn's own generator belongs to the whole process: weights drawn from it depend on whatever else is drawn
/// beside them. These depend on the seed and on the order of the modules only.
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
}

impl InitialWeights {
    /// Weights of the experiment with `seed`, as tensors on `device`.
    pub fn new(seed: u64, device: &Device) -> Self {
        let stream = NoiseKey::of(seed, Stage::Weights).stream(Purpose::Weights, 0, 0);
        Self { stream, device: device.clone() }
    }

    /// Where the weights live.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Numbers uniform in `(-bound, bound)`.
    pub fn uniform<const D: usize>(&mut self, shape: [usize; D], bound: f64) -> Param<Tensor<D>> {
        let count = shape.iter().product();
        let mut draw = || ((2.0 * self.stream.uniform() - 1.0) * bound) as f32;
        let values: Vec<f32> = (0..count).map(|_| draw()).collect();
        Param::from_tensor(Tensor::from_data(TensorData::new(values, shape), &self.device))
    }

    /// Normal numbers with mean 0 and standard deviation `sd`.
    pub fn normal<const D: usize>(&mut self, shape: [usize; D], sd: f64) -> Param<Tensor<D>> {
        let mut values = vec![0.0; shape.iter().product()];
        self.stream.normals(&mut values);
        let values: Vec<f32> = values.into_iter().map(|x| (x * sd) as f32).collect();
        Param::from_tensor(Tensor::from_data(TensorData::new(values, shape), &self.device))
    }

    /// The same number everywhere.
    pub fn constant<const D: usize>(&self, shape: [usize; D], value: f64) -> Param<Tensor<D>> {
        Param::from_tensor(Tensor::full(shape, value, &self.device))
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
