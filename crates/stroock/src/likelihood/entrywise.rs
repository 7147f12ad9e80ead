//! Losses that are a sum over observed entries, in one pass with their gradients.

use std::fmt::Debug;
use std::sync::Arc;

use burn::tensor::Tensor;
use rayon::prelude::*;

use crate::batch::{Targets, TargetsError};
use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};

/// The loss of one entry and its derivatives.
#[derive(Clone, Copy, Debug)]
pub struct LossAt<T> {
    /// The loss.
    pub value: T,
    /// By the decoder's output.
    pub by_output: T,
    /// By the parameter of the loss.
    pub by_parameter: T,
}

/// A loss of a single observed number.
pub trait EntryLoss: Debug + Send + Sync + 'static {
    /// What depends on the parameter alone, computed once and not at every entry.
    type Prepared<T: FusedReal>: Copy + Send + Sync;

    /// Prepares a parameter.
    fn prepare<T: FusedReal>(&self, parameter: T) -> Self::Prepared<T>;

    /// The loss of observing `x` where the decoder gave `output`.
    fn at<T: FusedReal>(&self, x: T, output: T, prepared: Self::Prepared<T>) -> LossAt<T>;
}

/// The loss of each series (`[B]`), summed over its observed entries and averaged over the samples.
///
/// `output` is `[S, Q, C]`; `parameter` is `[1]`, or `[C]` with one number a channel.
///
/// # Errors
/// When the output does not have the shape of the targets.
pub fn entrywise_loss<L: EntryLoss>(
    loss: L,
    targets: Arc<Targets>,
    output: Tensor<3>,
    parameter: Tensor<1>,
) -> Result<Tensor<1>, TargetsError> {
    fused::apply(EntrywiseLoss { loss, targets }, [output.into_dispatch(), parameter.into_dispatch()])
}

#[derive(Debug)]
struct EntrywiseLoss<L> {
    loss: L,
    targets: Arc<Targets>,
}

impl<L: EntryLoss> EntrywiseLoss<L> {
    fn prepare<T: FusedReal>(&self, parameter: &[T]) -> Vec<L::Prepared<T>> {
        parameter.iter().map(|&parameter| self.loss.prepare(parameter)).collect()
    }

    /// Samples `S`, after checking the shapes.
    fn samples(&self, shapes: [&[usize]; 2]) -> Result<usize, TargetsError> {
        let channels = self.targets.channels();
        match (shapes[0], shapes[1]) {
            (&[samples, points, width], &[parameters])
                if points == self.targets.points()
                    && width == channels
                    && (parameters == 1 || parameters == channels) =>
            {
                Ok(samples)
            }
            (output, _) => Err(TargetsError::Output { expected: channels, actual: output.to_vec() }),
        }
    }
}

impl<L: EntryLoss> Operation<2> for EntrywiseLoss<L> {
    type Tape<T: FusedReal> = ();
    type Error = TargetsError;

    fn forward<T: FusedReal>(
        &self,
        [output, parameter]: [&[T]; 2],
        shapes: [&[usize]; 2],
    ) -> Result<Evaluated<T, ()>, TargetsError> {
        let samples = self.samples(shapes)?;
        let (targets, series) = (&self.targets, self.targets.series());
        let extent = targets.points() * targets.channels();
        let prepared = self.prepare(parameter);
        let losses = (0..series)
            .into_par_iter()
            .map(|b| {
                // In double precision: a series can have many thousands of entries.
                let mut sum = 0.0;
                for output in output.chunks_exact(extent.max(1)).take(samples) {
                    targets.for_each_entry(b, |place, x| {
                        let prepared = prepared[of_channel(place, prepared.len())];
                        sum += self.loss.at(T::of(f64::from(x)), output[place], prepared).value.as_f64();
                    });
                }
                T::of(sum / samples as f64)
            })
            .collect();
        Ok(Evaluated { output: losses, shape: vec![series], tape: () })
    }

    fn backward<T: FusedReal>(
        &self,
        Computed { inputs: [output, parameter], shapes, .. }: Computed<'_, T, (), 2>,
        of_losses: &[T],
        _: [bool; 2],
    ) -> Result<[Vec<T>; 2], TargetsError> {
        let samples = self.samples(shapes)?;
        let targets = &self.targets;
        let channels = targets.channels();
        let mut of_output = vec![T::zero(); output.len()];
        // A task for every series of every sample: its rows of the output are one run.
        let mut tasks = Vec::with_capacity(samples * targets.series());
        let mut rest = &mut of_output[..];
        for _ in 0..samples {
            for (b, pair) in targets.point_offsets().windows(2).enumerate() {
                let (run, tail) = rest.split_at_mut((pair[1] - pair[0]) * channels);
                tasks.push((b, pair[0] * channels, run));
                rest = tail;
            }
        }
        let extent = targets.points() * channels;
        let prepared = self.prepare(parameter);
        let of_parameters: Vec<Vec<f64>> = tasks
            .into_par_iter()
            .enumerate()
            .map(|(task, (b, start, run))| {
                let weight = of_losses[b] / T::of(samples as f64);
                let output = &output[task / targets.series() * extent..];
                let mut of_parameter = vec![0.0; parameter.len()];
                targets.for_each_entry(b, |place, x| {
                    let p = of_channel(place, prepared.len());
                    let at = self.loss.at(T::of(f64::from(x)), output[place], prepared[p]);
                    run[place - start] = at.by_output * weight;
                    of_parameter[p] += (at.by_parameter * weight).as_f64();
                });
                of_parameter
            })
            .collect();
        let mut of_parameter = vec![0.0; parameter.len()];
        for part in of_parameters {
            of_parameter.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        Ok([of_output, of_parameter.into_iter().map(T::of).collect()])
    }
}

/// The parameter of a place: one for all, or one a channel.
#[inline(always)]
fn of_channel(place: usize, parameters: usize) -> usize {
    // A division an entry would cost more than the loss.
    if parameters == 1 { 0 } else { place % parameters }
}
