//! The gated recurrent unit, step by step.

use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;
use stroock_kernels::argument::{check_not_empty, check_offsets, check_shape};
use stroock_kernels::gru::{Direction, GruError};

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
    let unit = Unit::new(width, [w_ih, w_hh], [b_ih, b_hh])?;
    let mut h = Tensor::<2>::zeros([series, hidden], (&inputs.device(), inputs.dtype()));
    for step in 0..steps {
        let x = inputs.clone().narrow(1, step, 1).reshape([series, width]);
        h = unit.step(x, h);
    }
    Ok(h)
}

/// The states `[N, H]` of a gated recurrent unit after every row of `inputs` `[N, D]`, each at its row's place.
///
/// Sequence `b` has the rows `offsets[b] .. offsets[b + 1]`, which may be none, and is read from the zero state on, in
/// the given direction. Formula and weights are those of [`last_state`].
///
/// # Errors
/// When the shapes or the offsets do not fit.
pub fn states(
    inputs: Tensor<2>,
    offsets: &[usize],
    direction: Direction,
    w_ih: Tensor<2>,
    w_hh: Tensor<2>,
    b_ih: Tensor<1>,
    b_hh: Tensor<1>,
) -> Result<Tensor<2>, GruError> {
    let [rows, width] = inputs.dims();
    let (series, hidden) = (offsets.len().saturating_sub(1), w_hh.dims()[1]);
    check_not_empty([("offsets", series), ("width", width), ("hidden", hidden)])?;
    check_offsets("offsets", offsets, rows, "inputs")?;
    let unit = Unit::new(width, [w_ih, w_hh], [b_ih, b_hh])?;
    let zeros = |rows: usize| Tensor::<2>::zeros([rows, hidden], (&inputs.device(), inputs.dtype()));
    if rows == 0 {
        return Ok(zeros(0));
    }
    let mut states = Vec::with_capacity(rows);
    for ends in offsets.windows(2) {
        let mut h = zeros(1);
        let mut of_sequence = Vec::new();
        for step in 0..ends[1] - ends[0] {
            let row = match direction {
                Direction::Forward => ends[0] + step,
                Direction::Backward => ends[1] - 1 - step,
            };
            h = unit.step(inputs.clone().narrow(0, row, 1), h);
            of_sequence.push(h.clone());
        }
        if direction == Direction::Backward {
            of_sequence.reverse();
        }
        states.extend(of_sequence);
    }
    Ok(Tensor::cat(states, 0))
}

/// The weights of a unit.
struct Unit {
    w_ih: Tensor<2>,
    w_hh: Tensor<2>,
    b_ih: Tensor<1>,
    b_hh: Tensor<1>,
}

impl Unit {
    fn new(
        width: usize,
        [w_ih, w_hh]: [Tensor<2>; 2],
        [b_ih, b_hh]: [Tensor<1>; 2],
    ) -> Result<Self, GruError> {
        let hidden = w_hh.dims()[1];
        check_shape("weights.w_ih", "[3 hidden, width]", &[3 * hidden, width], &w_ih.dims())?;
        check_shape("weights.w_hh", "[3 hidden, hidden]", &[3 * hidden, hidden], &w_hh.dims())?;
        check_shape("weights.b_ih", "[3 hidden]", &[3 * hidden], &b_ih.dims())?;
        check_shape("weights.b_hh", "[3 hidden]", &[3 * hidden], &b_hh.dims())?;
        Ok(Self { w_ih, w_hh, b_ih, b_hh })
    }

    /// The state after the inputs `[B, D]` of a step, from the state `[B, H]` before it.
    fn step(&self, x: Tensor<2>, h: Tensor<2>) -> Tensor<2> {
        let hidden = h.dims()[1];
        let of_input = x.matmul(self.w_ih.clone().transpose()) + self.b_ih.clone().unsqueeze_dim(0);
        let of_state = h.clone().matmul(self.w_hh.clone().transpose()) + self.b_hh.clone().unsqueeze_dim(0);
        let gate = |sums: &Tensor<2>, number: usize| sums.clone().narrow(1, number * hidden, hidden);
        let r = sigmoid(gate(&of_input, 0) + gate(&of_state, 0));
        let z = sigmoid(gate(&of_input, 1) + gate(&of_state, 1));
        let n = (gate(&of_input, 2) + r * gate(&of_state, 2)).tanh();
        n.clone() + z * (h - n)
    }
}
