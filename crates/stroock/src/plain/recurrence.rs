//! The gated recurrent unit, step by step.

use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;
use stroock_kernels::argument::{check_not_empty, check_shape};
use stroock_kernels::gru::GruError;

/// The last state `[B, H]` of a gated recurrent unit after the inputs `[B, R, D]`, from the zero state.
///
/// ```text
/// r  = sigmoid(W_ir x + b_ir + W_hr h + b_hr)
/// z  = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
/// n  = tanh(W_in x + b_in + r * (W_hn h + b_hn))
/// h' = (1 - z) n + z h
/// ```
///
/// The gates stand below each other in the order r, z, n: `w_ih` is `[3 H, D]`, `w_hh` is `[3 H, H]`, the biases are
/// `[3 H]`.
///
/// # Errors
/// When the shapes do not fit.
pub fn last_state(
    inputs: Tensor<3>,
    w_ih: Tensor<2>,
    w_hh: Tensor<2>,
    b_ih: Tensor<1>,
    b_hh: Tensor<1>,
) -> Result<Tensor<2>, GruError> {
    let [series, steps, width] = inputs.dims();
    let hidden = w_hh.dims()[1];
    check_not_empty([("inputs", series), ("steps", steps), ("width", width), ("hidden", hidden)])?;
    check_shape("weights.w_ih", "[3 hidden, width]", &[3 * hidden, width], &w_ih.dims())?;
    check_shape("weights.w_hh", "[3 hidden, hidden]", &[3 * hidden, hidden], &w_hh.dims())?;
    check_shape("weights.b_ih", "[3 hidden]", &[3 * hidden], &b_ih.dims())?;
    check_shape("weights.b_hh", "[3 hidden]", &[3 * hidden], &b_hh.dims())?;

    let mut h = Tensor::<2>::zeros([series, hidden], (&inputs.device(), inputs.dtype()));
    for step in 0..steps {
        let x = inputs.clone().narrow(1, step, 1).reshape([series, width]);
        let of_input = x.matmul(w_ih.clone().transpose()) + b_ih.clone().unsqueeze_dim(0);
        let of_state = h.clone().matmul(w_hh.clone().transpose()) + b_hh.clone().unsqueeze_dim(0);
        let gate = |sums: &Tensor<2>, number: usize| sums.clone().narrow(1, number * hidden, hidden);
        let r = sigmoid(gate(&of_input, 0) + gate(&of_state, 0));
        let z = sigmoid(gate(&of_input, 1) + gate(&of_state, 1));
        let n = (gate(&of_input, 2) + r * gate(&of_state, 2)).tanh();
        h = n.clone() + z * (h - n);
    }
    Ok(h)
}
