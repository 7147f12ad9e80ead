//! Hidden layers of encoder and decoders.

use burn::module::Module;
use burn::nn::{LayerNorm, LayerNormConfig, Linear};
use burn::tensor::Tensor;
use burn::tensor::activation::{relu, tanh};
use serde::{Deserialize, Serialize};

use crate::initial::InitialWeights;

/// Hidden layers, all of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LayersConfig {
    /// A linear map, then `tanh`.
    Tanh {
        /// Widths.
        #[serde(default)]
        hidden: Vec<usize>,
    },
    /// A linear map, then `max(x, 0)`, then mean 0 and variance 1 over the units, scaled and shifted.
    ReluNorm {
        /// Widths.
        #[serde(default)]
        hidden: Vec<usize>,
    },
}

/// Hidden layers, first to last.
#[derive(Module, Debug)]
pub struct Layers {
    /// Linear maps.
    pub maps: Vec<Linear>,
    /// Normalisations, where there are any: one for every map.
    pub norms: Vec<LayerNorm>,
}

impl LayersConfig {
    /// Widths.
    pub fn hidden(&self) -> &[usize] {
        let (LayersConfig::Tanh { hidden } | LayersConfig::ReluNorm { hidden }) = self;
        hidden
    }

    /// Width of the last layer, which is that of the input without any.
    pub fn width(&self, inputs: usize) -> usize {
        self.hidden().last().copied().unwrap_or(inputs)
    }

    /// Initialises layers for `inputs` numbers.
    pub fn init(&self, inputs: usize, weights: &mut InitialWeights) -> Layers {
        let widths = [&[inputs], self.hidden()].concat();
        let maps = widths.windows(2).map(|pair| weights.linear(pair[0], pair[1])).collect();
        let norm = |&width: &usize| LayerNormConfig::new(width).init(weights.device());
        let norms = match self {
            LayersConfig::Tanh { .. } => Vec::new(),
            LayersConfig::ReluNorm { hidden } => hidden.iter().map(norm).collect(),
        };
        Layers { maps, norms }
    }
}

impl Layers {
    /// The last layer at the inputs `[M, inputs]`.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.maps.iter().enumerate().fold(x, |x, (l, map)| match self.norms.get(l) {
            Some(norm) => norm.forward(relu(map.forward(x))),
            None => tanh(map.forward(x)),
        })
    }
}
