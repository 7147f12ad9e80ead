//! The whole small model: gradients by finite differences, and learning.

mod numbers;
mod oscillations;
mod parameters;

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Device, Tensor, TensorData};
use oscillations::{Model, batcher, model, oscillations};
use parameters::{double, gradients_by_name, nudged};
use rand_core::Rng;
use stroock::batch::{Batch, InputChoice};
use stroock::model::PathDraws;
use stroock::objective::ElboWeights;
use stroock::training::{Adam, AdamConfig};
use stroock_kernels::noise::{NoiseKey, Purpose, Stream};
use stroock_testing::finite_difference::assert_close;

fn loss(model: &Model, batch: &Batch, samples: usize) -> Tensor<1> {
    let draws = PathDraws { key: NoiseKey::new(1, 0), samples, first_sample: 0 };
    let weights = ElboWeights { kl_start: 1e-2, kl_path: 1e-3, ..ElboWeights::default() };
    model.bound(batch, draws).unwrap().losses(weights, batch).mean()
}

fn value(tensor: Tensor<1>) -> f64 {
    tensor.into_data().convert::<f64>().try_to_vec::<f64>().unwrap()[0]
}

/// Parameters that depend on nothing but their place: differences across the kink of a ReLU would be wrong, and
/// these stay away from it.
struct Fill(Stream);

impl ModuleMapper for Fill {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        let (shape, device) = (tensor.shape(), tensor.device());
        let mut uniform = || f64::from(self.0.next_u32()) / 2f64.powi(31) - 1.0;
        let values: Vec<f32> = (0..shape.num_elements()).map(|_| (0.6 * uniform()) as f32).collect();
        let tensor = Tensor::from_data(TensorData::new(values, shape), &device).require_grad();
        Param::from_mapped_value(id, tensor, mapper)
    }
}

#[test]
fn gradients_of_the_whole_model_are_those_of_finite_differences() {
    let device = Device::flex().autodiff();
    let data = oscillations(3, 2);
    let batch = batcher().assemble(&data, &[0, 1, 2], NoiseKey::new(5, 0)).unwrap();
    // The start points are drawn by rejection and follow `mu` by parallel transport, so that differences do not
    // see the gradients of their distribution: these are checked in the tests of the distribution. Here the distribution of
    // the start points does not depend on the representation.
    let stream = NoiseKey::new(21, 0).stream(Purpose::Caller, 0, 0);
    let mut single = model(2, 3, 4, &device).map(&mut Fill(stream));
    single.process.sigma = Param::from_tensor(Tensor::full([1], 0.3, &device));
    for head in [&mut single.process.mu, &mut single.process.kappa] {
        head.weight = Param::from_tensor(head.weight.val().zeros_like());
    }
    let module = double(&single);
    let gradients = loss(&module, &batch, 2).backward();
    let all: Vec<f64> =
        gradients_by_name(&module, &gradients).into_iter().flat_map(|(_, _, gradient)| gradient).collect();
    let count = all.len();
    assert_eq!(count, module.num_params());
    let encoder = module.encoder.num_params();
    let rest = encoder + module.process.mu.num_params() + module.process.kappa.num_params();
    let h = 1e-4;
    for index in (0..encoder).chain(rest..count) {
        let at = |step| value(loss(&nudged(&single, index, step), &batch, 2));
        let numeric = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
        assert_close(&format!("parameter {index} of {count}"), &[all[index]], &[numeric], 1e-7);
    }
}

#[test]
fn one_batch_is_learned_by_heart() {
    let device = Device::flex().autodiff();
    let data = oscillations(6, 2);
    let mut batcher = batcher();
    batcher.input = InputChoice::All;
    let batch = batcher.assemble(&data, &[0, 1, 2, 3, 4, 5], NoiseKey::new(5, 0)).unwrap();
    let mut module = model(2, 6, 16, &device);
    let mut adam = Adam::new(AdamConfig::default());
    let squared_error = |module: &Model| {
        let draws = PathDraws { key: NoiseKey::new(9, 0), samples: 1, first_sample: 0 };
        let output: Vec<f32> = module.bound(&batch, draws).unwrap().output.into_data().try_to_vec().unwrap();
        let (mut sum, mut count) = (0.0, 0.0);
        for b in 0..6 {
            batch.targets.for_each_entry(b, |place, x| {
                sum += f64::from(output[place] - x).powi(2);
                count += 1.0;
            });
        }
        sum / count
    };
    let before = squared_error(&module);
    for epoch in 0..1500 {
        let draws = PathDraws { key: NoiseKey::new(1, epoch), samples: 1, first_sample: 0 };
        let weights = ElboWeights { kl_start: 1e-5, kl_path: 1e-6, ..ElboWeights::default() };
        let loss = module.bound(&batch, draws).unwrap().losses(weights, &batch).mean();
        let gradients = loss.backward();
        module = adam.step(module, &gradients, 5e-3);
    }
    let after = squared_error(&module);
    println!("mean squared error {before} -> {after}");
    assert!(after < before / 100.0, "mean squared error {before} -> {after}");
}
