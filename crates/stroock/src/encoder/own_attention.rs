//! Attention of series at times of their own as an operation on tensors.

use burn::tensor::Tensor;
use rayon::prelude::*;
use stroock_kernels::argument::{check_length, check_offsets};
use stroock_kernels::attention::{
    AttentionError, AttentionProblem, AttentionSolver, Entries, Gradients, Tape, ValueGradient,
};

use crate::batch::EncoderInput;
use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};

/// Which queries belong to which series.
#[derive(Clone, Debug)]
pub struct OwnQueries {
    /// `[B + 1]`: where the queries of a series begin.
    pub offsets: Vec<usize>,
    /// Rows of the tensor of queries, `[T]`.
    pub rows: Vec<u32>,
}

/// What every series shows at queries of its own, `[T, C]`: as [`attend`](super::attend), but each series is looked at
/// through some of the `queries` (`[D, E]`) only.
///
/// # Errors
/// When the tensors do not fit the input.
pub fn attend_own(
    input: &EncoderInput,
    own: OwnQueries,
    queries: Tensor<2>,
    keys: Tensor<2>,
    values: Tensor<2>,
) -> Result<Tensor<2>, AttentionError> {
    check_offsets("own.offsets", &own.offsets, own.rows.len(), "own.rows")?;
    check_length("own.offsets", "[series + 1]", input.series() + 1, own.offsets.len())?;
    let channels = values.dims()[1];
    let (entry_offsets, points) = input.entries_of(channels);
    let operation = AttendOwn {
        own,
        width: queries.dims()[1],
        channels,
        entry_offsets,
        points,
        times: input.times.clone(),
        point_offsets: input.point_offsets.clone(),
    };
    fused::apply(operation, [queries.into_dispatch(), keys.into_dispatch(), values.into_dispatch()])
}

#[derive(Debug)]
struct AttendOwn {
    own: OwnQueries,
    width: usize,
    channels: usize,
    entry_offsets: Vec<usize>,
    points: Vec<u32>,
    times: Vec<u32>,
    point_offsets: Vec<usize>,
}

/// A problem of a single series.
struct Single<T> {
    queries: Vec<T>,
    keys: Vec<T>,
    values: Vec<T>,
    offsets: Vec<usize>,
    points: Vec<u32>,
    times: Vec<u32>,
    point_offsets: [usize; 2],
}

/// The rows of a matrix with these numbers.
fn gather<T: Copy>(matrix: &[T], width: usize, rows: &[u32]) -> Vec<T> {
    rows.iter().flat_map(|&row| &matrix[row as usize * width..(row as usize + 1) * width]).copied().collect()
}

/// Adds rows to those of a matrix with these numbers.
fn scatter<T: FusedReal>(matrix: &mut [T], width: usize, rows: &[u32], gradients: &[T]) {
    for (&row, gradient) in rows.iter().zip(gradients.chunks_exact(width)) {
        let row = &mut matrix[row as usize * width..(row as usize + 1) * width];
        row.iter_mut().zip(gradient).for_each(|(sum, &part)| *sum += part);
    }
}

impl AttendOwn {
    fn series(&self) -> usize {
        self.own.offsets.len() - 1
    }

    /// The queries of a series.
    fn rows(&self, b: usize) -> &[u32] {
        &self.own.rows[self.own.offsets[b]..self.own.offsets[b + 1]]
    }

    /// The distinct times of the points of a series.
    fn times(&self, b: usize) -> &[u32] {
        &self.times[self.point_offsets[b]..self.point_offsets[b + 1]]
    }

    fn single<T: FusedReal>(&self, b: usize, [queries, keys, values]: [&[T]; 3]) -> Single<T> {
        let (first, last) = (self.point_offsets[b], self.point_offsets[b + 1]);
        let runs = &self.entry_offsets[b * self.channels..=(b + 1) * self.channels];
        let entries = &self.points[runs[0]..runs[self.channels]];
        Single {
            queries: gather(queries, self.width, self.rows(b)),
            keys: gather(keys, self.width, self.times(b)),
            values: values[first * self.channels..last * self.channels].to_vec(),
            offsets: runs.iter().map(|offset| offset - runs[0]).collect(),
            points: entries.iter().map(|point| point - first as u32).collect(),
            times: (0..(last - first) as u32).collect(),
            point_offsets: [0, last - first],
        }
    }

    fn problem<'a, T>(&self, single: &'a Single<T>) -> AttentionProblem<'a, T> {
        AttentionProblem {
            width: self.width,
            channels: self.channels,
            queries: &single.queries,
            keys: &single.keys,
            values: &single.values,
            entries: Entries {
                offsets: &single.offsets,
                points: &single.points,
                times: &single.times,
                point_offsets: &single.point_offsets,
            },
        }
    }

    fn check(&self, shapes: [&[usize]; 3]) -> Result<(), AttentionError> {
        check_offsets("input.point_offsets", &self.point_offsets, shapes[2][0], "values")?;
        let outside = |list: &[u32], rows: usize| list.iter().position(|&row| row as usize >= rows);
        for (list, rows) in [(&self.own.rows, shapes[0][0]), (&self.times, shapes[1][0])] {
            if let Some(point) = outside(list, rows) {
                return Err(AttentionError::TimeOutsideKeys { point, time: list[point], times: rows });
            }
        }
        Ok(())
    }
}

impl Operation<3> for AttendOwn {
    /// Of every series that has queries.
    type Tape<T: FusedReal> = Vec<Option<Tape<T>>>;
    type Error = AttentionError;

    fn forward<T: FusedReal>(
        &self,
        inputs: [&[T]; 3],
        shapes: [&[usize]; 3],
    ) -> Result<Evaluated<T, Self::Tape<T>>, AttentionError> {
        self.check(shapes)?;
        let solved: Result<Vec<_>, AttentionError> = (0..self.series())
            .into_par_iter()
            .map(|b| {
                if self.rows(b).is_empty() {
                    return Ok((Vec::new(), None));
                }
                let single = self.single(b, inputs);
                let attended = AttentionSolver::default().forward(&self.problem(&single))?;
                Ok((attended.output, Some(attended.tape)))
            })
            .collect();
        let (outputs, tape): (Vec<Vec<T>>, Vec<Option<Tape<T>>>) = solved?.into_iter().unzip();
        Ok(Evaluated { output: outputs.concat(), shape: vec![self.own.rows.len(), self.channels], tape })
    }

    fn backward<T: FusedReal>(
        &self,
        computed: Computed<'_, T, Self::Tape<T>, 3>,
        of_output: &[T],
        wanted: [bool; 3],
    ) -> Result<[Vec<T>; 3], AttentionError> {
        let of_values = if wanted[2] { ValueGradient::Computed } else { ValueGradient::Skipped };
        let solved: Result<Vec<Option<Gradients<T>>>, AttentionError> = computed
            .tape
            .par_iter()
            .enumerate()
            .map(|(b, tape)| {
                let Some(tape) = tape else { return Ok(None) };
                let single = self.single(b, computed.inputs);
                let [from, to] = [b, b + 1].map(|b| self.own.offsets[b] * self.channels);
                let solver = AttentionSolver::default();
                solver.backward(&self.problem(&single), tape, &of_output[from..to], of_values).map(Some)
            })
            .collect();
        let mut all = computed.inputs.map(|input| vec![T::zero(); input.len()]);
        // Series after series, whatever threads there were.
        for (b, gradients) in solved?.into_iter().enumerate() {
            let Some(gradients) = gradients else { continue };
            scatter(&mut all[0], self.width, self.rows(b), &gradients.queries);
            scatter(&mut all[1], self.width, self.times(b), &gradients.keys);
            if let Some(of_values) = gradients.values {
                let first = self.point_offsets[b] * self.channels;
                all[2][first..first + of_values.len()].copy_from_slice(&of_values);
            }
        }
        Ok(all)
    }
}
