//! Observations that are classes.

use std::sync::Arc;

use burn::tensor::Tensor;
use rayon::prelude::*;

use crate::batch::{Targets, TargetsError};
use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};

/// `-ln p(x) = ln sum_k exp(l_k) - l_x` for the class `x` and logits `l`.
///
/// Every channel is a class of its own, counted from 0; its `classes` logits stand side by side in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Categorical {
    /// Number of classes of every channel.
    pub classes: usize,
}

impl Categorical {
    /// Negative log likelihood of each series, `[B]`, from logits `[S, Q, C classes]`.
    ///
    /// # Errors
    /// When the logits do not have the shape of the targets, or a value is not a class.
    pub fn negative_log_likelihood(
        &self,
        logits: Tensor<3>,
        targets: Arc<Targets>,
    ) -> Result<Tensor<1>, TargetsError> {
        fused::apply(CrossEntropy { classes: self.classes, targets }, [logits.into_dispatch()])
    }
}

#[derive(Debug)]
struct CrossEntropy {
    classes: usize,
    targets: Arc<Targets>,
}

impl CrossEntropy {
    /// Samples `S`, after checking shape and values.
    fn samples(&self, shape: &[usize]) -> Result<usize, TargetsError> {
        let expected = self.targets.channels() * self.classes;
        let &[samples, points, width] = shape else {
            return Err(TargetsError::Output { expected, actual: shape.to_vec() });
        };
        if points != self.targets.points() || width != expected {
            return Err(TargetsError::Output { expected, actual: shape.to_vec() });
        }
        let (channels, classes) = (self.targets.channels(), self.classes);
        let mut fault = None;
        for series in 0..self.targets.series() {
            self.targets.for_each_entry(series, |place, value| {
                if value < 0.0 || value.fract() != 0.0 || value >= classes as f32 {
                    fault.get_or_insert(TargetsError::Class {
                        point: place / channels,
                        channel: place % channels,
                        value,
                        classes,
                    });
                }
            });
        }
        fault.map_or(Ok(samples), Err)
    }
}

/// The logarithm of the sum of exponentials, without overflow.
fn ln_sum_exp<T: FusedReal>(logits: &[T]) -> T {
    let largest = logits.iter().copied().fold(T::neg_infinity(), T::max);
    largest + logits.iter().map(|&logit| (logit - largest).exp()).sum::<T>().ln()
}

impl Operation<1> for CrossEntropy {
    type Tape<T: FusedReal> = ();
    type Error = TargetsError;

    fn forward<T: FusedReal>(
        &self,
        [logits]: [&[T]; 1],
        shapes: [&[usize]; 1],
    ) -> Result<Evaluated<T, ()>, TargetsError> {
        let (samples, classes, series) = (self.samples(shapes[0])?, self.classes, self.targets.series());
        let extent = (self.targets.points() * self.targets.channels() * classes).max(1);
        let losses = (0..series).into_par_iter().map(|b| {
            let mut sum = 0.0;
            for logits in logits.chunks_exact(extent).take(samples) {
                self.targets.for_each_entry(b, |place, class| {
                    let logits = &logits[place * classes..(place + 1) * classes];
                    sum += (ln_sum_exp(logits) - logits[class as usize]).as_f64();
                });
            }
            T::of(sum / samples as f64)
        });
        Ok(Evaluated { output: losses.collect(), shape: vec![series], tape: () })
    }

    fn backward<T: FusedReal>(
        &self,
        Computed { inputs: [logits], shapes, .. }: Computed<'_, T, (), 1>,
        of_losses: &[T],
        _: [bool; 1],
    ) -> Result<[Vec<T>; 1], TargetsError> {
        let (samples, classes) = (self.samples(shapes[0])?, self.classes);
        let extent = (self.targets.points() * self.targets.channels() * classes).max(1);
        let mut of_logits = vec![T::zero(); logits.len()];
        let runs = of_logits.par_chunks_exact_mut(extent).zip(logits.par_chunks_exact(extent));
        runs.for_each(|(of_logits, logits)| {
            for (b, &of_loss) in of_losses.iter().enumerate() {
                let weight = of_loss / T::of(samples as f64);
                self.targets.for_each_entry(b, |place, class| {
                    let range = place * classes..(place + 1) * classes;
                    let (of_logits, logits) = (&mut of_logits[range.clone()], &logits[range]);
                    let ln_sum = ln_sum_exp(logits);
                    for (of_logit, &logit) in of_logits.iter_mut().zip(logits) {
                        *of_logit = (logit - ln_sum).exp() * weight;
                    }
                    of_logits[class as usize] -= weight;
                });
            }
        });
        Ok([of_logits])
    }
}
