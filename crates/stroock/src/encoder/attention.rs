//! Attention over the observed entries of ragged series as an operation on tensors.

use burn::tensor::Tensor;
use stroock_kernels::attention::{
    AttentionError, AttentionProblem, AttentionSolver, Entries, Tape, ValueGradient,
};

use crate::batch::EncoderInput;
use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};

/// What the reference points with `queries` (`[R, E]`) see of a batch, `[B, R, C]`.
///
/// `keys` (`[U, E]`) belong to the distinct times of the input, `values` (`[N, C]`) to its points: the values
/// of the input itself, or features computed from them.
///
/// # Errors
/// When the tensors do not fit the input.
pub fn attend(
    input: &EncoderInput,
    queries: Tensor<2>,
    keys: Tensor<2>,
    values: Tensor<2>,
) -> Result<Tensor<3>, AttentionError> {
    let [reference_points, width] = queries.dims();
    let channels = values.dims()[1];
    let (offsets, points) = input.entries_of(channels);
    let operation = Attend {
        width,
        channels,
        reference_points,
        offsets,
        points,
        times: input.times.clone(),
        point_offsets: input.point_offsets.clone(),
    };
    fused::apply(operation, [queries.into_dispatch(), keys.into_dispatch(), values.into_dispatch()])
}

#[derive(Debug)]
struct Attend {
    width: usize,
    channels: usize,
    reference_points: usize,
    offsets: Vec<usize>,
    points: Vec<u32>,
    times: Vec<u32>,
    point_offsets: Vec<usize>,
}

impl Attend {
    fn problem<'a, T>(&'a self, [queries, keys, values]: [&'a [T]; 3]) -> AttentionProblem<'a, T> {
        AttentionProblem {
            width: self.width,
            channels: self.channels,
            queries,
            keys,
            values,
            entries: Entries {
                offsets: &self.offsets,
                points: &self.points,
                times: &self.times,
                point_offsets: &self.point_offsets,
            },
        }
    }
}

impl Operation<3> for Attend {
    type Tape<T: FusedReal> = Tape<T>;
    type Error = AttentionError;

    fn forward<T: FusedReal>(
        &self,
        inputs: [&[T]; 3],
        _: [&[usize]; 3],
    ) -> Result<Evaluated<T, Tape<T>>, AttentionError> {
        let attended = AttentionSolver::default().forward(&self.problem(inputs))?;
        let shape = vec![self.point_offsets.len() - 1, self.reference_points, self.channels];
        Ok(Evaluated { output: attended.output, shape, tape: attended.tape })
    }

    fn backward<T: FusedReal>(
        &self,
        computed: Computed<'_, T, Tape<T>, 3>,
        of_output: &[T],
        wanted: [bool; 3],
    ) -> Result<[Vec<T>; 3], AttentionError> {
        let of_values = if wanted[2] { ValueGradient::Computed } else { ValueGradient::Skipped };
        let solver = AttentionSolver::default();
        let gradients =
            solver.backward(&self.problem(computed.inputs), computed.tape, of_output, of_values)?;
        Ok([gradients.queries, gradients.keys, gradients.values.unwrap_or_default()])
    }
}
