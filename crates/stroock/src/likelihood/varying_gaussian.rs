//! Normal observations whose variance the model predicts, entry by entry.

use std::sync::Arc;

use burn::tensor::Tensor;
use rayon::prelude::*;

use crate::batch::{Targets, TargetsError};
use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};

/// Least variance.
pub(crate) const VARIANCE_FLOOR: f64 = 1e-6;

/// The negative log likelihood of each series (`[B]`) under `x ~ N(mean, v)` with `v = max(variance, 1e-6)`, summed over
/// its observed entries: `(ln v + (x - mean)^2 / v + ln 2 pi) / 2`. `mean` and `variance` are `[Q, C]`.
///
/// # Errors
/// When they do not have the shape of the targets.
pub fn varying_gaussian(
    targets: Arc<Targets>,
    mean: Tensor<2>,
    variance: Tensor<2>,
) -> Result<Tensor<1>, TargetsError> {
    fused::apply(VaryingGaussian { targets }, [mean.into_dispatch(), variance.into_dispatch()])
}

#[derive(Debug)]
struct VaryingGaussian {
    targets: Arc<Targets>,
}

impl VaryingGaussian {
    fn check(&self, shapes: [&[usize]; 2]) -> Result<(), TargetsError> {
        let expected = [self.targets.points(), self.targets.channels()];
        match shapes.iter().find(|shape| ***shape != expected) {
            None => Ok(()),
            Some(shape) => Err(TargetsError::Output { expected: expected[1], actual: shape.to_vec() }),
        }
    }
}

impl Operation<2> for VaryingGaussian {
    type Tape<T: FusedReal> = ();
    type Error = TargetsError;

    fn forward<T: FusedReal>(
        &self,
        [mean, variance]: [&[T]; 2],
        shapes: [&[usize]; 2],
    ) -> Result<Evaluated<T, ()>, TargetsError> {
        self.check(shapes)?;
        let (targets, series) = (&self.targets, self.targets.series());
        let losses = (0..series)
            .into_par_iter()
            .map(|b| {
                // In double precision: a series can have many thousands of entries.
                let mut sum = 0.0;
                targets.for_each_entry(b, |place, x| {
                    let variance = variance[place].max(T::of(VARIANCE_FLOOR));
                    let error = T::of(f64::from(x)) - mean[place];
                    let twice = variance.ln() + error * error / variance + T::TAU().ln();
                    sum += 0.5 * twice.as_f64();
                });
                T::of(sum)
            })
            .collect();
        Ok(Evaluated { output: losses, shape: vec![series], tape: () })
    }

    fn backward<T: FusedReal>(
        &self,
        Computed { inputs: [mean, variance], shapes, .. }: Computed<'_, T, (), 2>,
        of_losses: &[T],
        _: [bool; 2],
    ) -> Result<[Vec<T>; 2], TargetsError> {
        self.check(shapes)?;
        let targets = &self.targets;
        let [mut of_mean, mut of_variance] = [mean, variance].map(|values| vec![T::zero(); values.len()]);
        for (b, of_loss) in of_losses.iter().enumerate() {
            targets.for_each_entry(b, |place, x| {
                let floored = variance[place].max(T::of(VARIANCE_FLOOR));
                let ratio = (T::of(f64::from(x)) - mean[place]) / floored;
                of_mean[place] = -*of_loss * ratio;
                // Below the floor the variance has no say.
                if variance[place] > T::of(VARIANCE_FLOOR) {
                    of_variance[place] = *of_loss * T::of(0.5) * (T::one() / floored - ratio * ratio);
                }
            });
        }
        Ok([of_mean, of_variance])
    }
}
