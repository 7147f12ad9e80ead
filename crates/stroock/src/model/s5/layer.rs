//! A layer: recurrence, gate, residual, normalisation.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;

use super::S5Sizes;
use super::recurrence::recur;
use crate::initial::InitialWeights;
use crate::model::ModelError;

/// Added to the variance of a normalised row.
const EPSILON: f64 = 1e-6;
/// How much smaller the steps of the recurrence's own parameters are than those of the others.
const SLOW: f64 = 0.25;

/// A recurrence of `P` complex states over rows of width `H`, a gate, and a normalisation.
#[derive(Module, Debug)]
pub struct S5Layer {
    /// Four times the eigenvalues, `[2 P]`: real parts, then imaginary parts.
    pub eigenvalues: Param<Tensor<1>>,
    /// Four times the logarithms of the steps, `[P]`.
    pub steps: Param<Tensor<1>>,
    /// Four times `B`, `[H, 2 P]`: columns of its real part, then of its imaginary part.
    pub input: Param<Tensor<2>>,
    /// Real part of `C`, `[P, H]`.
    pub output_re: Param<Tensor<2>>,
    /// Imaginary part of `C`, `[P, H]`.
    pub output_im: Param<Tensor<2>>,
    /// `D`, `[H]`.
    pub through: Param<Tensor<1>>,
    /// From `gelu(y)` to the gate.
    pub gate: Linear,
    /// Scales of normalised rows, `[H]`.
    pub scale: Param<Tensor<1>>,
    /// Shifts of normalised rows, `[H]`.
    pub shift: Param<Tensor<1>>,
}

impl S5Layer {
    /// Initialises a layer as published: eigenvalues of the normal part of HiPPO-LegS in blocks of two, `-1/2 - i sqrt(3)/2` for
    /// every stored one; normal `B`, `C` and `D`; steps between 0.01 and 0.1.
    pub fn new(sizes: S5Sizes, weights: &mut InitialWeights) -> Self {
        let S5Sizes { width, states, .. } = sizes;
        let pairs = states as f64;
        let eigenvalue = |i: usize| if i < states { -0.5 } else { -0.5 * 3f64.sqrt() };
        let eigenvalues: Vec<f64> = (0..2 * states).map(|i| eigenvalue(i) / SLOW).collect();
        let (least, most) = (0.01f64.ln(), 0.1f64.ln());
        let spread = weights.uniform([states], 0.5 * (most - least) / SLOW).val();
        // Weights of a real matrix with `2 P` inputs, seen from the basis of the states: half of the variance in each part.
        let of_input = 0.5 / pairs.sqrt();
        let of_output = (0.5 / pairs).sqrt();
        Self {
            eigenvalues: weights.values(&eigenvalues),
            steps: Param::from_tensor(spread.add_scalar(0.5 * (least + most) / SLOW).detach()),
            input: weights.normal([width, 2 * states], of_input / SLOW),
            output_re: weights.normal([states, width], of_output),
            output_im: weights.normal([states, width], of_output),
            through: weights.normal([width], 1.0),
            gate: weights.linear(width, width),
            scale: weights.constant([width], 1.0),
            shift: weights.constant([width], 0.0),
        }
    }

    /// The factor between parameters as they are kept and as they are used.
    pub fn slowness() -> f64 {
        SLOW
    }

    /// `y`, `[N, H]`, from rows `u` `[N, H]` with these gaps before them.
    ///
    /// # Errors
    /// When the rows do not fit, or a state overflows.
    pub fn linear(&self, u: Tensor<2>, offsets: &[usize], gaps: &[f64]) -> Result<Tensor<2>, ModelError> {
        let states = self.steps.val().dims()[0];
        let lambda = self.eigenvalues.val().mul_scalar(SLOW);
        let ln_delta = self.steps.val().mul_scalar(SLOW);
        let driven = u.clone().matmul(self.input.val().mul_scalar(SLOW));
        let x = recur(offsets, gaps, lambda, ln_delta, driven)?;
        let (re, im) = (x.clone().narrow(1, 0, states), x.narrow(1, states, states));
        let seen = re.matmul(self.output_re.val()) - im.matmul(self.output_im.val());
        Ok(seen.mul_scalar(2.0) + u * self.through.val().unsqueeze_dim(0))
    }

    /// Rows `[N, H]` of the next layer.
    ///
    /// # Errors
    /// When the rows do not fit, or a state overflows.
    pub fn forward(&self, u: Tensor<2>, offsets: &[usize], gaps: &[f64]) -> Result<Tensor<2>, ModelError> {
        let y = self.linear(u.clone(), offsets, gaps)?;
        let gate = sigmoid(self.gate.forward(gelu(y.clone())));
        Ok(self.normalise(u + y * gate))
    }

    fn normalise(&self, rows: Tensor<2>) -> Tensor<2> {
        let centred = rows.clone() - rows.mean_dim(1);
        let variance = centred.clone().powi_scalar(2).mean_dim(1).add_scalar(EPSILON);
        let normalised = centred / variance.sqrt();
        normalised * self.scale.val().unsqueeze_dim(0) + self.shift.val().unsqueeze_dim(0)
    }
}

/// `x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2`.
fn gelu(x: Tensor<2>) -> Tensor<2> {
    let cubic = x.clone().powi_scalar(3).mul_scalar(0.044_715) + x.clone();
    let tanh = cubic.mul_scalar((2.0 / std::f64::consts::PI).sqrt()).tanh();
    (x * tanh.add_scalar(1.0)).mul_scalar(0.5)
}
