//! The networks of a flow as modules: vector fields, and the diffusion of every coordinate.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::Tensor;

use crate::initial::InitialWeights;

/// A network from a state, and what is read beside it, to a velocity: linear layers, first to last.
///
/// What stands between them is said by the [plan](super::FlowPlan) of the flow.
#[derive(Module, Debug)]
pub struct VectorField {
    /// The layers.
    pub layers: Vec<Linear>,
}

impl VectorField {
    /// Initialises a network from `inputs` to `outputs` numbers with these widths between them.
    pub fn new(inputs: usize, hidden: &[usize], outputs: usize, weights: &mut InitialWeights) -> Self {
        let widths = [&[inputs], hidden, &[outputs]].concat();
        Self { layers: widths.windows(2).map(|pair| weights.linear(pair[0], pair[1])).collect() }
    }

    /// All parameters in the order of [`Network`](stroock_kernels::flow::Network).
    pub fn parameters(&self) -> Tensor<1> {
        let flat = |tensor: Tensor<2>| -> Tensor<1> {
            let [rows, columns] = tensor.dims();
            tensor.reshape([rows * columns])
        };
        let of_layer = |layer: &Linear| {
            let weight = flat(layer.weight.val());
            std::iter::once(weight).chain(layer.bias.as_ref().map(|bias| bias.val()))
        };
        Tensor::cat(self.layers.iter().flat_map(of_layer).collect(), 0)
    }
}

/// The diagonal of a diffusion: a network `1 - H - 1` for every coordinate, softplus inside and the logistic function at
/// the end, so that it lies between 0 and 1.
#[derive(Module, Debug)]
pub struct DiagonalDiffusion {
    /// Coordinates to units, `[n, H]`.
    pub weight: Param<Tensor<2>>,
    /// `[n, H]`.
    pub bias: Param<Tensor<2>>,
    /// Units to the diffusion, `[n, H]`.
    pub outer_weight: Param<Tensor<2>>,
    /// `[n]`.
    pub outer_bias: Param<Tensor<1>>,
}

impl DiagonalDiffusion {
    /// Initialises the networks of `n` coordinates with `hidden` units each.
    pub fn new(n: usize, hidden: usize, weights: &mut InitialWeights) -> Self {
        let bound = 1.0 / (hidden.max(1) as f64).sqrt();
        Self {
            weight: weights.uniform([n, hidden], 1.0),
            bias: weights.uniform([n, hidden], 1.0),
            outer_weight: weights.uniform([n, hidden], bound),
            outer_bias: weights.uniform([n], bound),
        }
    }

    /// All parameters in the order of [`Diffusion`](stroock_kernels::flow::Diffusion).
    pub fn parameters(&self) -> Tensor<1> {
        let [n, hidden] = self.weight.val().dims();
        let units =
            [&self.weight, &self.bias, &self.outer_weight].map(|part| part.val().reshape([n * hidden]));
        Tensor::cat(units.into_iter().chain([self.outer_bias.val()]).collect(), 0)
    }
}
