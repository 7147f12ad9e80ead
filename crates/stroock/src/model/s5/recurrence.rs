//! Diagonal complex recurrences as an operation on tensors.

use burn::tensor::Tensor;
use stroock_kernels::s5::{S5Error, S5Problem, S5Solver};

use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};

/// The states `[N, 2 P]` of recurrences over inputs `[N, 2 P]` with these gaps before their rows; eigenvalues are `[2 P]`, real
/// parts first, logarithms of steps are `[P]`. Sequence `b` has the rows `offsets[b] .. offsets[b + 1]`.
///
/// # Errors
/// When the tensors do not fit, or a state overflows over a gap.
pub fn recur(
    offsets: &[usize],
    gaps: &[f64],
    lambda: Tensor<1>,
    ln_delta: Tensor<1>,
    inputs: Tensor<2>,
) -> Result<Tensor<2>, S5Error> {
    let states = ln_delta.dims()[0];
    let operation = Recurrence { offsets: offsets.to_vec(), gaps: gaps.to_vec(), states };
    fused::apply(operation, [lambda.into_dispatch(), ln_delta.into_dispatch(), inputs.into_dispatch()])
}

#[derive(Debug)]
struct Recurrence {
    offsets: Vec<usize>,
    gaps: Vec<f64>,
    states: usize,
}

impl Recurrence {
    fn problem<'a, T>(&'a self, [lambda, ln_delta, inputs]: [&'a [T]; 3]) -> S5Problem<'a, T> {
        S5Problem { states: self.states, offsets: &self.offsets, gaps: &self.gaps, lambda, ln_delta, inputs }
    }
}

impl Operation<3> for Recurrence {
    type Tape<T: FusedReal> = ();
    type Error = S5Error;

    fn forward<T: FusedReal>(
        &self,
        inputs: [&[T]; 3],
        shapes: [&[usize]; 3],
    ) -> Result<Evaluated<T, ()>, S5Error> {
        let output = S5Solver::default().forward(&self.problem(inputs))?;
        Ok(Evaluated { output, shape: shapes[2].to_vec(), tape: () })
    }

    fn backward<T: FusedReal>(
        &self,
        computed: Computed<'_, T, (), 3>,
        of_states: &[T],
        _: [bool; 3],
    ) -> Result<[Vec<T>; 3], S5Error> {
        let problem = self.problem(computed.inputs);
        let gradients = S5Solver::default().backward(&problem, computed.output, of_states)?;
        Ok([gradients.lambda, gradients.ln_delta, gradients.inputs])
    }
}
