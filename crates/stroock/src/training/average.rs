//! The exponential moving average of the parameters of a module.

use std::collections::BTreeMap;

use burn::module::Module;
use burn::tensor::{Tensor, TensorData};

use crate::entries::entries;
use crate::parameters::{ParameterMapper, ParameterVisitor, map_parameters, visit_parameters};

/// The exponential moving average `a` of the parameters `x` over the steps `t = 1, 2, ...` of a run,
///
/// ```text
/// a_1 = x_1,   a_t = a_{t-1} + (1 - d_t) (x_t - a_{t-1}),   d_t = min(memory, (1 + t) / (10 + t)).
/// ```
///
/// The ramp of `d_t` keeps the early average young: it is mostly over the last ninth of the steps until these are as many
/// as the memory holds, and the initial parameters are no part of it.
///
/// All float parameters are averaged, by their names, and so are the running moments of batch normalisations, which
/// belong to the activations of the parameters around them. The state is plain data, as that of
/// [`Adam`](super::Adam), so that a resumed run continues exactly.
///
/// ```
/// use burn::nn::LinearConfig;
/// use burn::tensor::Device;
/// use stroock::model::to_file;
/// use stroock::training::Average;
/// let module = LinearConfig::new(2, 3).init(&Device::flex());
/// let mut average = Average::new(0.999);
/// average.update(&module);
/// assert_eq!(to_file(&average.apply(module.clone()))?.tensors, to_file(&module)?.tensors);
/// # Ok::<(), stroock::run::TensorFileProblem>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Average {
    memory: f64,
    /// Steps averaged over.
    pub steps: u64,
    /// Averages by the name of the parameter.
    pub parameters: BTreeMap<String, Vec<f32>>,
}

impl Average {
    /// An average over no step, with the given memory in `[0, 1)`.
    pub fn new(memory: f64) -> Self {
        Self { memory, steps: 0, parameters: BTreeMap::new() }
    }

    /// Takes in the parameters after a step.
    pub fn update<M: Module>(&mut self, module: &M) {
        self.steps += 1;
        let steps = self.steps as f64;
        let share = 1.0 - self.memory.min((1.0 + steps) / (10.0 + steps));
        visit_parameters(module, &mut Update { average: self, share: share as f32 });
    }

    /// The module with the averages as parameters; those that have no average yet stay as they are.
    ///
    /// Clones of a module share the running moments of its batch normalisations: to go on with the module, give its
    /// [`valid`](Module::valid) copy, which has its own.
    pub fn apply<M: Module>(&self, module: M) -> M {
        map_parameters(module, &mut Replace { average: self })
    }
}

struct Update<'a> {
    average: &'a mut Average,
    share: f32,
}

impl ParameterVisitor for Update<'_> {
    fn visit<const D: usize>(&mut self, name: &str, parameter: Tensor<D>) {
        let values = entries(parameter);
        let average = self.average.parameters.entry(name.to_owned()).or_default();
        if average.len() != values.len() {
            *average = values;
            return;
        }
        // In this form, and not as a sum of two products, the average of a constant is that constant to the last bit.
        average
            .iter_mut()
            .zip(values)
            .for_each(|(average, value)| *average += self.share * (value - *average));
    }
}

struct Replace<'a> {
    average: &'a Average,
}

impl ParameterMapper for Replace<'_> {
    fn map<const D: usize>(&mut self, name: &str, parameter: Tensor<D>) -> Tensor<D> {
        let (shape, device) = (parameter.shape(), parameter.device());
        let average = self.average.parameters.get(name);
        let Some(average) = average.filter(|average| average.len() == shape.num_elements()) else {
            return parameter;
        };
        let replaced = Tensor::from_data(TensorData::new(average.clone(), shape), &device);
        replaced.set_require_grad(parameter.is_require_grad())
    }
}

#[cfg(test)]
mod tests {
    use burn::module::Param;
    use burn::nn::{BatchNorm, BatchNormConfig};
    use burn::tensor::Device;

    use super::*;

    #[derive(Module, Debug)]
    struct Point {
        x: Param<Tensor<1>>,
    }

    fn point(x: [f32; 2]) -> Point {
        Point { x: Param::from_tensor(Tensor::from_data(x, &Device::flex().autodiff())) }
    }

    #[test]
    fn the_average_of_constant_parameters_is_constant() {
        let x = [0.1, -7.3e5];
        let mut average = Average::new(0.99);
        (0..500).for_each(|_| average.update(&point(x)));
        assert_eq!(average.steps, 500);
        let averaged = average.apply(point([0.0; 2]));
        assert_eq!(entries(averaged.x.val()), x);
        assert!(averaged.x.is_require_grad(), "it can be trained on");
    }

    /// `a_t = sum_s w_s x_s` with `w_s = (1 - d_s) d_{s+1} ... d_t`, and `1` in place of `1 - d_1`.
    #[test]
    fn the_average_is_the_weighted_mean_of_its_formula() {
        for memory in [0.0_f64, 0.5, 0.9, 0.9999] {
            let x = |s: u32| [f64::from(s).sin() + 3.0, f64::from(s)];
            let decay = |s: u32| memory.min((1.0 + f64::from(s)) / (10.0 + f64::from(s)));
            let mut average = Average::new(memory);
            for t in 1..=60 {
                average.update(&point(x(t).map(|x| x as f32)));
                let weight = |s: u32| {
                    let start = if s == 1 { 1.0 } else { 1.0 - decay(s) };
                    start * (s + 1..=t).map(decay).product::<f64>()
                };
                assert!(((1..=t).map(weight).sum::<f64>() - 1.0).abs() < 1e-12);
                for (c, &actual) in average.parameters["x"].iter().enumerate() {
                    let expected: f64 = (1..=t).map(|s| weight(s) * x(s)[c]).sum();
                    assert!((f64::from(actual) - expected).abs() < 2e-6 * expected, "{memory} {t}: {actual}");
                }
            }
        }
    }

    #[test]
    fn running_moments_are_averaged_and_those_of_the_module_are_left_alone() {
        let module: BatchNorm = BatchNormConfig::new(1).init(&Device::flex().autodiff());
        let mut average = Average::new(0.9);
        average.update(&module);
        let mean = |module: &BatchNorm| entries(module.running_mean.value())[0];
        let batch = Tensor::<2>::from_data([[4.0], [8.0]], &Device::flex().autodiff());
        module.forward(batch);
        let valid = module.valid();
        average.update(&valid);
        let moved = mean(&module);
        assert!(moved > 0.0);
        let averaged = average.apply(valid);
        assert!((mean(&averaged) - 0.75 * moved).abs() < 1e-6, "{} {moved}", mean(&averaged));
        assert_eq!(mean(&module), moved);
    }
}
