//! A network whose weights are random.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Tensor, TensorData};
use stroock_kernels::noise::{NoiseKey, Purpose};

use crate::initial::InitialWeights;

/// A network `2q - H - H - q` with ReLU between its layers, whose weights and biases are independent normal numbers around
/// their means with one variance.
#[derive(Module, Debug)]
pub struct UncertainField {
    /// Means of the weights and biases, first layer to last: three of them.
    pub layers: Vec<Linear>,
    /// Logarithm of the variance of all of them, `[1]`.
    pub ln_variance: Param<Tensor<1>>,
}

/// One network, drawn from an [`UncertainField`] or made of its means.
#[derive(Clone, Debug)]
pub struct DrawnField {
    /// Weights `[inputs, outputs]` and biases `[1, outputs]`.
    layers: Vec<(Tensor<2>, Tensor<2>)>,
}

/// A velocity, and which units were active: 1 where a unit of the first or the second hidden layer is positive, else 0.
pub(super) struct Evaluation {
    /// `[R, q]`.
    pub value: Tensor<2>,
    /// `[R, H]` each.
    pub active: [Tensor<2>; 2],
}

impl UncertainField {
    /// Means of Xavier's size, uniform within `sqrt(6 / (inputs + outputs))`, biases around 0, and a variance.
    pub fn new(q: usize, hidden: usize, variance: f64, weights: &mut InitialWeights) -> Self {
        let widths = [2 * q, hidden, hidden, q];
        let mut layer = |pair: &[usize]| {
            let bound = (6.0 / (pair[0] + pair[1]).max(1) as f64).sqrt();
            let weight = weights.uniform([pair[0], pair[1]], bound);
            Linear { weight, bias: Some(weights.constant([pair[1]], 0.0)) }
        };
        let layers = widths.windows(2).map(&mut layer).collect();
        Self { layers, ln_variance: weights.constant([1], variance.ln()) }
    }

    /// The network of the means.
    pub fn mean(&self) -> DrawnField {
        DrawnField { layers: self.layers.iter().map(means).collect() }
    }

    /// The network `mean + sqrt(variance) xi` for standard normals `xi`, layer after layer, the weights of each before its
    /// biases, in the order of its tensors.
    pub fn drawn(&self, normals: Tensor<1>) -> DrawnField {
        let scale = self.ln_variance.val().mul_scalar(0.5).exp().unsqueeze_dim::<2>(0);
        let mut first = 0;
        let mut around = |mean: Tensor<2>| {
            let [rows, columns] = mean.dims();
            let xi = normals.clone().narrow(0, first, rows * columns).reshape([rows, columns]);
            first += rows * columns;
            mean + xi * scale.clone()
        };
        let layer = |layer: &Linear| {
            let (weight, bias) = means(layer);
            (around(weight), around(bias))
        };
        DrawnField { layers: self.layers.iter().map(layer).collect() }
    }

    /// The standard normals of a draw: a function of the key and of two numbers alone.
    pub fn normals(&self, key: NoiseKey, series: u32, sample: u32) -> Tensor<1> {
        let mut normals = vec![0.0; self.count()];
        key.stream(Purpose::Field, series, sample).normals(&mut normals);
        let like = self.ln_variance.val();
        let shape = [normals.len()];
        Tensor::from_data(TensorData::new(normals, shape), (&like.device(), like.dtype()))
    }

    /// The divergence of the weights from standard normal ones, `[1]`: the sum of `(m^2 + l - 1 - ln l) / 2` over weights
    /// and biases with means `m` and the variance `l`.
    pub fn divergence(&self) -> Tensor<1> {
        let square = |mean: Tensor<2>| mean.powi_scalar(2).sum();
        let squares = self.layers.iter().map(means).map(|(weight, bias)| square(weight) + square(bias));
        let ln = self.ln_variance.val();
        let of_variance = (ln.clone().exp() - ln).sub_scalar(1.0).mul_scalar(self.count() as f64);
        squares.fold(of_variance, |sum, squares| sum + squares).mul_scalar(0.5)
    }

    /// Weights and biases.
    fn count(&self) -> usize {
        let of_layer = |layer: &Linear| {
            let [inputs, outputs] = layer.weight.val().dims();
            (inputs + 1) * outputs
        };
        self.layers.iter().map(of_layer).sum()
    }
}

/// The means of the weights and biases of a layer.
fn means(layer: &Linear) -> (Tensor<2>, Tensor<2>) {
    let weight = layer.weight.val();
    let bias = match &layer.bias {
        Some(bias) => bias.val().unsqueeze_dim(0),
        None => Tensor::zeros([1, weight.dims()[1]], (&weight.device(), weight.dtype())),
    };
    (weight, bias)
}

impl DrawnField {
    /// The value at states `[R, 2q]`.
    pub(super) fn evaluate(&self, z: Tensor<2>) -> Evaluation {
        let sum = |l: usize, x: Tensor<2>| {
            let (weight, bias) = &self.layers[l];
            x.matmul(weight.clone()) + bias.clone()
        };
        let dtype = z.dtype();
        let first = sum(0, z).clamp_min(0.0);
        let second = sum(1, first.clone()).clamp_min(0.0);
        let active = |units: &Tensor<2>| units.clone().greater_elem(0.0).float().cast(dtype);
        Evaluation { active: [active(&first), active(&second)], value: sum(2, second) }
    }

    /// The traces `[R, 1]` of the derivatives by the velocity, the first `q` coordinates, where these units are active: with
    /// the weights `A`, `B`, `C` of the layers, `A'` the rows of `A` that read the velocity, and the activities `d` and `e`
    ///
    /// ```text
    /// tr(A' diag(d) B diag(e) C) = d' P e,   P = B o (C A')',
    /// ```
    ///
    /// which is one product for all states at once.
    pub(super) fn traces(&self, [first, second]: [Tensor<2>; 2]) -> Tensor<2> {
        let [(a, _), (b, _), (c, _)] = [0, 1, 2].map(|l| self.layers[l].clone());
        let of_velocity = a.narrow(0, 0, c.dims()[1]);
        let p = b * c.matmul(of_velocity).transpose();
        (first.matmul(p) * second).sum_dim(1)
    }
}
