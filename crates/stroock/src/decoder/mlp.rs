//! Linear maps with activations between them.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::activation::{relu, tanh};
use serde::{Deserialize, Serialize};

use super::{Decoder, DecoderError};
use crate::initial::InitialWeights;

/// What stands between two linear maps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// `max(x, 0)`.
    #[default]
    Relu,
    /// `tanh(x)`.
    Tanh,
}

/// Sizes of an [`Mlp`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MlpConfig {
    /// Widths between input and output; none of them make a linear map.
    pub hidden: Vec<usize>,
    /// What stands between two maps.
    pub activation: Activation,
}

/// Linear maps with activations between them; without hidden widths a linear map.
#[derive(Module, Debug)]
pub struct Mlp {
    /// The maps, first to last.
    pub layers: Vec<Linear>,
    #[module(skip)]
    activation: Activation,
}

impl MlpConfig {
    /// Initialises maps from `inputs` to `outputs` numbers.
    pub fn init(&self, inputs: usize, outputs: usize, weights: &mut InitialWeights) -> Mlp {
        self.init_by(inputs, outputs, |inputs, outputs| weights.linear(inputs, outputs))
    }

    /// The same with another way to initialise a map of so many inputs and outputs.
    pub fn init_by(
        &self,
        inputs: usize,
        outputs: usize,
        mut layer: impl FnMut(usize, usize) -> Linear,
    ) -> Mlp {
        let widths = [&[inputs], &self.hidden[..], &[outputs]].concat();
        let layers = widths.windows(2).map(|pair| layer(pair[0], pair[1])).collect();
        Mlp { layers, activation: self.activation }
    }
}

impl Mlp {
    /// Outputs `[M, outputs]` at the inputs `[M, inputs]`.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        match self.layers.first() {
            Some(first) => self.forward_behind_first(first.forward(x)),
            None => x,
        }
    }

    /// Outputs `[M, outputs]` where the first map has given `x` already.
    pub fn forward_behind_first(&self, x: Tensor<2>) -> Tensor<2> {
        self.layers.iter().skip(1).fold(x, |x, layer| {
            layer.forward(match self.activation {
                Activation::Relu => relu(x),
                Activation::Tanh => tanh(x),
            })
        })
    }
}

impl Decoder for Mlp {
    fn decode(&self, z: Tensor<2>) -> Result<Tensor<2>, DecoderError> {
        Ok(self.forward(z))
    }
}
