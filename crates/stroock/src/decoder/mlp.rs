//! Linear maps with ReLU between them.

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};

use super::Decoder;

/// Widths of an [`Mlp`], from the input to the output.
#[derive(Clone, Debug)]
pub struct MlpConfig {
    /// At least two numbers; two of them make a linear map.
    pub widths: Vec<usize>,
}

/// Linear maps with ReLU between them; without hidden widths a linear map.
#[derive(Module, Debug)]
pub struct Mlp {
    /// The maps, first to last.
    pub layers: Vec<Linear>,
}

impl MlpConfig {
    /// Initialises the maps.
    pub fn init(&self, device: &Device) -> Mlp {
        let pairs = self.widths.windows(2);
        Mlp { layers: pairs.map(|pair| LinearConfig::new(pair[0], pair[1]).init(device)).collect() }
    }
}

impl Decoder for Mlp {
    fn decode(&self, z: Tensor<2>) -> Tensor<2> {
        let last = self.layers.len().saturating_sub(1);
        self.layers.iter().enumerate().fold(z, |x, (i, layer)| {
            let y = layer.forward(x);
            if i < last { relu(y) } else { y }
        })
    }
}
