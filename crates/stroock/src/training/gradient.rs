//! The gradient of a loss by the parameters of a module, as one vector.

use burn::module::Module;
use burn::tensor::{Gradients, Tensor};

use crate::entries::entries;
use crate::parameters::{ParameterVisitor, visit_parameters};

/// The gradient of a loss by all float parameters of a module, in the order of the module.
///
/// As a vector, which can be added to others and sent away, it has the entries of all parameters and then one more for
/// each parameter: in how many gradients of the sum it was there. A parameter that the loss does not depend on has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gradient {
    lengths: Vec<usize>,
    entries: Vec<f32>,
}

impl Gradient {
    /// Takes the gradient of a module out of those of a backward pass.
    pub fn of<M: Module>(module: &M, gradients: &Gradients) -> Self {
        let mut collect = Collect { gradients, gradient: Self::default(), there: Vec::new() };
        visit_parameters(module, &mut collect);
        let Collect { mut gradient, there, .. } = collect;
        gradient.entries.extend(there);
        gradient
    }

    /// The gradients by each parameter, in the order of the module; `None` where there is none.
    pub fn by_parameter(&self) -> impl Iterator<Item = Option<&[f32]>> {
        let there = &self.entries[self.entries.len() - self.lengths.len()..];
        let mut rest = &self.entries[..];
        self.lengths.iter().zip(there).map(move |(&length, &there)| {
            let (own, after) = rest.split_at(length);
            rest = after;
            (there > 0.0).then_some(own)
        })
    }

    /// Its Euclidean norm.
    pub fn norm(&self) -> f64 {
        let square = |entry: &f32| f64::from(*entry) * f64::from(*entry);
        self.by_parameter().flatten().map(|own| own.iter().map(square).sum::<f64>()).sum::<f64>().sqrt()
    }

    /// The vector.
    pub(super) fn into_vector(self) -> Vec<f32> {
        self.entries
    }

    /// The gradient of a module whose vector `vector` begins with, and what comes after it.
    pub(super) fn from_vector<M: Module>(module: &M, mut vector: Vec<f32>) -> (Self, Vec<f32>) {
        let lengths = lengths(module);
        let rest = vector.split_off(vector_length(&lengths).min(vector.len()));
        (Self { lengths, entries: vector }, rest)
    }

    /// The length of the vector of a module.
    pub(super) fn length<M: Module>(module: &M) -> usize {
        vector_length(&lengths(module))
    }
}

fn vector_length(lengths: &[usize]) -> usize {
    lengths.iter().sum::<usize>() + lengths.len()
}

/// The number of entries of every parameter.
fn lengths<M: Module>(module: &M) -> Vec<usize> {
    struct Lengths(Vec<usize>);
    impl ParameterVisitor for Lengths {
        fn visit<const D: usize>(&mut self, _: &str, parameter: Tensor<D>) {
            self.0.push(parameter.shape().num_elements());
        }
    }
    let mut lengths = Lengths(Vec::new());
    visit_parameters(module, &mut lengths);
    lengths.0
}

struct Collect<'a> {
    gradients: &'a Gradients,
    gradient: Gradient,
    there: Vec<f32>,
}

impl ParameterVisitor for Collect<'_> {
    fn visit<const D: usize>(&mut self, _: &str, parameter: Tensor<D>) {
        let length = parameter.shape().num_elements();
        let Gradient { lengths, entries: all } = &mut self.gradient;
        lengths.push(length);
        match parameter.grad(self.gradients) {
            Some(gradient) => {
                all.extend(entries(gradient));
                self.there.push(1.0);
            }
            None => {
                all.resize(all.len() + length, 0.0);
                self.there.push(0.0);
            }
        }
    }
}
