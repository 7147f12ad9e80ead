//! The parameters of a module one by one: their names, their gradients, and small changes of them.

#![allow(dead_code, reason = "every test file uses some of these")]

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{DType, Gradients, Tensor, TensorData};

use crate::numbers::{doubles, uniform};

/// Rounding of differences of a loss about 1.
const ROUNDING: f64 = 2e-11;

/// A module in double precision, with entry `index` of all its parameters (in the order of visiting) moved by `step`.
pub fn nudged<M: Module>(module: &M, index: usize, step: f64) -> M {
    module.clone().map(&mut Nudge { index, step })
}

/// A module in double precision.
pub fn double<M: Module>(module: &M) -> M {
    nudged(module, usize::MAX, 0.0)
}

struct Nudge {
    index: usize,
    step: f64,
}

impl ModuleMapper for Nudge {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        let (shape, device) = (tensor.shape(), tensor.device());
        let mut values = doubles(tensor);
        if self.index < values.len() {
            values[self.index] += self.step;
        }
        self.index = self.index.wrapping_sub(values.len());
        let tensor = Tensor::from_data(TensorData::new(values, shape), (&device, DType::F64)).require_grad();
        Param::from_mapped_value(id, tensor, mapper)
    }
}

/// A module whose parameters are uniform in `(-size, size)` and depend on the seed and their place alone.
pub fn filled<M: Module>(module: M, size: f64, seed: u64) -> M {
    module.map(&mut Fill { size, seed })
}

struct Fill {
    size: f64,
    seed: u64,
}

impl ModuleMapper for Fill {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        let (shape, device) = (tensor.shape(), tensor.device());
        self.seed += 1;
        let values: Vec<f64> =
            uniform(shape.num_elements(), self.seed).into_iter().map(|x| x * self.size).collect();
        let tensor = Tensor::from_data(TensorData::new(values, shape), (&device, DType::F32)).require_grad();
        Param::from_mapped_value(id, tensor, mapper)
    }
}

/// Name, place of the first entry among those of all parameters, and gradient of every parameter.
pub fn gradients_by_name<M: Module>(module: &M, gradients: &Gradients) -> Vec<(String, usize, Vec<f64>)> {
    let mut all = AllGradients { gradients, path: Vec::new(), count: 0, found: Vec::new() };
    module.visit(&mut all);
    all.found
}

struct AllGradients<'a> {
    gradients: &'a Gradients,
    path: Vec<String>,
    count: usize,
    found: Vec<(String, usize, Vec<f64>)>,
}

impl ModuleVisitor for AllGradients<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let name = self.path.join(".");
        let gradient = param.val().grad(self.gradients);
        let gradient = doubles(gradient.unwrap_or_else(|| panic!("{name} has no gradient")));
        let first = self.count;
        self.count += gradient.len();
        self.found.push((name, first, gradient));
    }
}

/// Compares the gradients of a module in double precision with differences of `loss`, at up to `most` entries of each
/// parameter whose name passes `chosen`. The tolerance is relative to the largest entry of a parameter's gradient,
/// above the rounding of the differences.
pub fn assert_gradients<M: Module>(
    module: &M,
    loss: impl Fn(&M) -> Tensor<1>,
    chosen: impl Fn(&str) -> bool,
    most: usize,
    tolerance: f64,
) {
    let exact = double(module);
    let gradients = loss(&exact).backward();
    let h = 1e-4;
    let mut compared = 0;
    for (name, first, gradient) in gradients_by_name(&exact, &gradients) {
        if !chosen(&name) {
            continue;
        }
        let largest = gradient.iter().fold(0f64, |largest, g| largest.max(g.abs()));
        assert!(largest > 10.0 * ROUNDING, "nothing to see flows to {name}: {largest:e}");
        let entries = gradient.len().min(most);
        for i in 0..entries {
            // From the first entry to the last.
            let entry = if entries == 1 { 0 } else { i * (gradient.len() - 1) / (entries - 1) };
            let at = |step| doubles(loss(&nudged(module, first + entry, step)))[0];
            let numeric = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
            let difference = (gradient[entry] - numeric).abs();
            assert!(
                difference <= tolerance * largest + ROUNDING,
                "{name}[{entry}]: {} is not {numeric} ({difference:e}, largest entry {largest:e})",
                gradient[entry]
            );
            compared += 1;
        }
    }
    assert!(compared > 0, "no parameter was chosen");
}
