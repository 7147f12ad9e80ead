//! What a forward pass changes in a module: running moments of batch normalisations.
//!
//! In a batch that is cut, every chunk is normalised by its own moments (Hoffer, Hubara, Soudry 2017, *ghost batches*).
//! The running moments then are the means of what the chunks would have made of them, weighted by their series: all
//! chunks start from the same ones, so that their order and who computes them does not matter.

use burn::module::Module;
use burn::tensor::{Tensor, TensorData};

use crate::entries::entries;
use crate::parameters::{ParameterMapper, ParameterVisitor, map_parameters, visit_parameters};

/// The float parameters of a module that are not trained, in the order of the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Buffers(Vec<Vec<f32>>);

impl Buffers {
    /// Those of a module as they are after its last forward pass.
    pub fn of<M: Module>(module: &M) -> Self {
        let mut read = Read { values: Vec::new(), is_buffer: Vec::new() };
        visit_parameters(module, &mut Which(&mut read.is_buffer));
        if read.is_buffer.contains(&true) {
            read.is_buffer.reverse();
            // Running moments are those of the pass before until a module is made ready for inference.
            visit_parameters(&module.valid(), &mut read);
        }
        Self(read.values)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives them to a module; its clones share running moments, and have them, too.
    pub fn put<M: Module>(&self, module: M) -> M {
        map_parameters(module, &mut Write(self.0.iter().map(Vec::as_slice)))
    }

    /// What a chunk with a share `weight` of the series adds to a sum, if it has made `after` out of these: the weighted
    /// entries, and for each buffer whether it has changed.
    pub fn change(&self, after: &Self, weight: f32) -> Vec<f32> {
        let entries = after.0.iter().flatten().map(|entry| weight * entry);
        let has_changed = self.0.iter().zip(&after.0).map(|(a, b)| if a == b { 0.0 } else { 1.0 });
        entries.chain(has_changed).collect()
    }

    /// The length of such a vector.
    pub fn length(&self) -> usize {
        self.0.iter().map(|values| values.len() + 1).sum()
    }

    /// Gives a module the sum of the changes of all chunks; what no chunk has changed stays as it is, to the last bit.
    pub fn put_sum<M: Module>(&self, module: M, sum: &[f32]) -> M {
        let (mut rest, has_changed) = sum.split_at(self.length() - self.0.len());
        let values = self.0.iter().zip(has_changed).map(|(before, &has_changed)| {
            let (own, after) = rest.split_at(before.len());
            rest = after;
            if has_changed > 0.0 { own } else { before }
        });
        map_parameters(module, &mut Write(values))
    }
}

struct Which<'a>(&'a mut Vec<bool>);

impl ParameterVisitor for Which<'_> {
    fn visit<const D: usize>(&mut self, _: &str, parameter: Tensor<D>) {
        self.0.push(!parameter.is_require_grad());
    }
}

struct Read {
    values: Vec<Vec<f32>>,
    /// Of the parameters that are still to come, the last one first: the copy for inference does not say.
    is_buffer: Vec<bool>,
}

impl ParameterVisitor for Read {
    fn visit<const D: usize>(&mut self, _: &str, parameter: Tensor<D>) {
        if self.is_buffer.pop() == Some(true) {
            self.values.push(entries(parameter));
        }
    }
}

struct Write<I>(I);

impl<'a, I: Iterator<Item = &'a [f32]>> ParameterMapper for Write<I> {
    fn map<const D: usize>(&mut self, _: &str, parameter: Tensor<D>) -> Tensor<D> {
        if parameter.is_require_grad() {
            return parameter;
        }
        let Some(values) = self.0.next() else { return parameter };
        Tensor::from_data(TensorData::new(values.to_vec(), parameter.shape()), &parameter.device())
    }
}
