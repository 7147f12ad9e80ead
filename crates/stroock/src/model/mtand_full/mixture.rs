//! Mixtures of rows as an operation on tensors.

use burn::tensor::Tensor;
use stroock_kernels::mixing::{MixError, MixProblem, MixSolver};

use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};

/// The mixtures `[S, Q, C]` of the rows `[S, B, R, C]` by the weights `[Q, R]` of queries; series `b` has the queries
/// `offsets[b]..offsets[b + 1]`.
pub(super) fn mix(offsets: &[usize], weights: Tensor<2>, rows: Tensor<4>) -> Result<Tensor<3>, MixError> {
    let [samples, _, references, width] = rows.dims();
    let operation = Mix { offsets: offsets.to_vec(), samples, references, width };
    fused::apply(operation, [weights.into_dispatch(), rows.into_dispatch()])
}

#[derive(Debug)]
struct Mix {
    offsets: Vec<usize>,
    samples: usize,
    references: usize,
    width: usize,
}

impl Mix {
    fn problem<'a, T>(&'a self, [weights, values]: [&'a [T]; 2]) -> MixProblem<'a, T> {
        let &Self { ref offsets, samples, references: rows, width } = self;
        MixProblem { samples, rows, width, offsets, weights, values }
    }
}

impl Operation<2> for Mix {
    type Tape<T: FusedReal> = ();
    type Error = MixError;

    fn forward<T: FusedReal>(
        &self,
        inputs: [&[T]; 2],
        _: [&[usize]; 2],
    ) -> Result<Evaluated<T, ()>, MixError> {
        let output = MixSolver::default().forward(&self.problem(inputs))?;
        let queries = output.len() / (self.samples * self.width);
        Ok(Evaluated { output, shape: vec![self.samples, queries, self.width], tape: () })
    }

    fn backward<T: FusedReal>(
        &self,
        computed: Computed<'_, T, (), 2>,
        of_output: &[T],
        _: [bool; 2],
    ) -> Result<[Vec<T>; 2], MixError> {
        let gradients = MixSolver::default().backward(&self.problem(computed.inputs), of_output)?;
        Ok([gradients.weights, gradients.values])
    }
}
