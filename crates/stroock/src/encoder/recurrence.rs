//! The gated recurrent unit as a module with a fused kernel.

use burn::module::{Module, Param};
use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;
use stroock_kernels::argument::check_not_empty;
use stroock_kernels::gru::{Direction, GruError, GruProblem, GruSolver, Requested, Tape, Weights};

use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};
use crate::initial::InitialWeights;

/// Sizes of a [`Gru`].
#[derive(Clone, Copy, Debug)]
pub struct GruConfig {
    /// Width `D` of the input.
    pub width: usize,
    /// Units `H`.
    pub hidden: usize,
}

/// A gated recurrent unit; weights in the layout and gate order (r, z, n) of PyTorch.
#[derive(Module, Debug)]
pub struct Gru {
    /// `[3 H, D]`.
    pub w_ih: Param<Tensor<2>>,
    /// `[3 H, H]`.
    pub w_hh: Param<Tensor<2>>,
    /// `[3 H]`.
    pub b_ih: Param<Tensor<1>>,
    /// `[3 H]`.
    pub b_hh: Param<Tensor<1>>,
}

impl GruConfig {
    /// Initialises the unit, uniformly in `+-1/sqrt(H)`.
    pub fn init(&self, weights: &mut InitialWeights) -> Gru {
        let (rows, bound) = (3 * self.hidden, 1.0 / (self.hidden.max(1) as f64).sqrt());
        Gru {
            w_ih: weights.uniform([rows, self.width], bound),
            w_hh: weights.uniform([rows, self.hidden], bound),
            b_ih: weights.uniform([rows], bound),
            b_hh: weights.uniform([rows], bound),
        }
    }
}

impl Gru {
    /// The last state `[B, H]` after the inputs `[B, R, D]`, from the zero state.
    ///
    /// # Errors
    /// When the inputs do not fit.
    pub fn forward(&self, inputs: Tensor<3>) -> Result<Tensor<2>, GruError> {
        self.last_state(inputs, self.w_ih.val(), self.b_ih.val())
    }

    /// The last state after the inputs `x map + bias` for `x` in `[B, R, W]`, with `map` `[W, D]` and `bias` `[D]`.
    ///
    /// The map and the weights of the inputs are multiplied with each other once, not with the inputs one after the
    /// other at every step: less work where `W` is smaller than `D`.
    ///
    /// # Errors
    /// When the inputs do not fit.
    pub fn forward_through(
        &self,
        x: Tensor<3>,
        map: Tensor<2>,
        bias: Tensor<1>,
    ) -> Result<Tensor<2>, GruError> {
        let w_ih = self.w_ih.val();
        let rows = w_ih.dims()[0];
        let through = w_ih.clone().matmul(map.transpose());
        let offset = w_ih.matmul(bias.unsqueeze_dim(1)).reshape([rows]);
        self.last_state(x, through, self.b_ih.val() + offset)
    }

    /// The states `[N, H]` after every row of `inputs` `[N, D]`, each at its row's place.
    ///
    /// Sequence `b` has the rows `offsets[b] .. offsets[b + 1]`, which may be none, and is read from the zero state on,
    /// in the given direction.
    ///
    /// # Errors
    /// When the inputs or the offsets do not fit.
    pub fn states(
        &self,
        inputs: Tensor<2>,
        offsets: &[usize],
        direction: Direction,
    ) -> Result<Tensor<2>, GruError> {
        let operation = self.over(inputs.dims()[1], offsets, direction);
        self.run(operation, inputs, self.w_ih.val(), self.b_ih.val())
    }

    /// All states over sequences of inputs of a width.
    pub(super) fn over(&self, width: usize, offsets: &[usize], direction: Direction) -> Recurrence {
        let requested = Requested::All;
        Recurrence { offsets: offsets.to_vec(), direction, requested, width, hidden: self.hidden() }
    }

    /// The states `[M, H]` after one more input `[M, D]` each, from the given states `[M, H]`.
    pub fn step(&self, inputs: Tensor<2>, states: Tensor<2>) -> Tensor<2> {
        let gates = |x: Tensor<2>, weight: &Param<Tensor<2>>, bias: &Param<Tensor<1>>| {
            x.matmul(weight.val().transpose()) + bias.val().unsqueeze_dim(0)
        };
        let of_input = gates(inputs, &self.w_ih, &self.b_ih);
        let of_state = gates(states.clone(), &self.w_hh, &self.b_hh);
        let hidden = self.hidden();
        let part = |all: &Tensor<2>, gate: usize| all.clone().narrow(1, gate * hidden, hidden);
        let [reset, keep] = [0, 1].map(|gate| sigmoid(part(&of_input, gate) + part(&of_state, gate)));
        let new = (part(&of_input, 2) + reset * part(&of_state, 2)).tanh();
        new.clone() + keep * (states - new)
    }

    fn hidden(&self) -> usize {
        self.w_hh.val().dims()[1]
    }

    fn last_state(&self, inputs: Tensor<3>, w_ih: Tensor<2>, b_ih: Tensor<1>) -> Result<Tensor<2>, GruError> {
        let [series, steps, width] = inputs.dims();
        check_not_empty([("inputs", series), ("steps", steps)])?;
        let operation = Recurrence {
            offsets: (0..=series).map(|b| b * steps).collect(),
            direction: Direction::Forward,
            requested: Requested::Last,
            width,
            hidden: self.hidden(),
        };
        self.run(operation, inputs, w_ih, b_ih)
    }

    fn run<const D: usize>(
        &self,
        operation: Recurrence,
        inputs: Tensor<D>,
        w_ih: Tensor<2>,
        b_ih: Tensor<1>,
    ) -> Result<Tensor<2>, GruError> {
        fused::apply(
            operation,
            [
                inputs.into_dispatch(),
                w_ih.into_dispatch(),
                self.w_hh.val().into_dispatch(),
                b_ih.into_dispatch(),
                self.b_hh.val().into_dispatch(),
            ],
        )
    }
}

/// Everything about a recurrent unit over a batch that is not differentiated.
#[derive(Debug)]
pub(super) struct Recurrence {
    pub offsets: Vec<usize>,
    pub direction: Direction,
    pub requested: Requested,
    pub width: usize,
    pub hidden: usize,
}

impl Recurrence {
    pub fn problem<'a, T>(&'a self, [inputs, w_ih, w_hh, b_ih, b_hh]: [&'a [T]; 5]) -> GruProblem<'a, T> {
        let weights = Weights { w_ih, w_hh, b_ih, b_hh };
        let &Self { ref offsets, direction, requested, width, hidden } = self;
        GruProblem { offsets, direction, requested, width, hidden, inputs, weights }
    }
}

impl Operation<5> for Recurrence {
    type Tape<T: FusedReal> = Tape<T>;
    type Error = GruError;

    fn forward<T: FusedReal>(
        &self,
        inputs: [&[T]; 5],
        _: [&[usize]; 5],
    ) -> Result<Evaluated<T, Tape<T>>, GruError> {
        let recurrence = GruSolver::default().forward(&self.problem(inputs))?;
        let shape = vec![recurrence.states.len() / self.hidden, self.hidden];
        Ok(Evaluated { output: recurrence.states, shape, tape: recurrence.tape })
    }

    fn backward<T: FusedReal>(
        &self,
        computed: Computed<'_, T, Tape<T>, 5>,
        of_states: &[T],
        _: [bool; 5],
    ) -> Result<[Vec<T>; 5], GruError> {
        let gradients =
            GruSolver::default().backward(&self.problem(computed.inputs), computed.tape, of_states)?;
        Ok([gradients.inputs, gradients.w_ih, gradients.w_hh, gradients.b_ih, gradients.b_hh])
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    fn entries<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.into_data().try_to_vec().unwrap()
    }

    #[test]
    fn a_step_is_a_step_of_the_sequence() {
        let mut weights = InitialWeights::new(4, &Device::flex());
        let gru = GruConfig { width: 3, hidden: 4 }.init(&mut weights);
        let inputs = weights.uniform([5, 3], 1.0).val();
        let states = gru.states(inputs.clone(), &[0, 5], Direction::Forward).unwrap();
        let stepped = gru.step(inputs.narrow(0, 1, 4), states.clone().narrow(0, 0, 4));
        for (a, b) in entries(stepped).iter().zip(entries(states.narrow(0, 1, 4))) {
            assert!((a - b).abs() < 1e-6, "{a} is not {b}");
        }
    }

    #[test]
    fn inputs_through_a_map_are_inputs_that_were_mapped() {
        let device = Device::flex().autodiff();
        let mut weights = InitialWeights::new(5, &device);
        let gru = GruConfig { width: 6, hidden: 5 }.init(&mut weights);
        let (map, bias) = (weights.uniform([3, 6], 1.0).val(), weights.uniform([6], 1.0).val());
        let x = weights.uniform([2, 7, 3], 1.0).val();
        let mapped = x.clone().reshape([14, 3]).matmul(map.clone()) + bias.clone().unsqueeze_dim(0);
        let states = [gru.forward(mapped.reshape([2, 7, 6])), gru.forward_through(x.clone(), map, bias)];
        let [a, b] = states.map(|state| state.unwrap());
        let gradients = [&a, &b].map(|state| {
            let gradients = state.clone().powi_scalar(2).sum().backward();
            let of = [&gru.w_ih, &gru.w_hh].map(|weight| entries(weight.val().grad(&gradients).unwrap()));
            [entries(x.grad(&gradients).unwrap()), of.concat()].concat()
        });
        for (a, b) in entries(a).iter().zip(entries(b)).chain(gradients[0].iter().zip(gradients[1].clone())) {
            assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{a} is not {b}");
        }
    }
}
