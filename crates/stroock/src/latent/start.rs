//! Start points of a batch as an operation on tensors.

use burn::tensor::Tensor;
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::start::{Draws, PowerSphericalStart, StartError};

use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};

/// Everything about the start points of a batch that is not differentiated.
#[derive(Clone, Debug)]
pub struct StartPlan {
    /// Ambient dimension `n`.
    pub dim: usize,
    /// Seed and epoch.
    pub key: NoiseKey,
    /// `[B]`: the number of each series in the data set.
    pub series: Vec<u32>,
    /// Start points `S` per series.
    pub samples: usize,
    /// The number of the first sample.
    pub first_sample: u32,
}

/// Start points and their divergence from the uniform distribution.
#[derive(Clone, Debug)]
pub struct StartPoints {
    /// `[S, B, n]`.
    pub points: Tensor<3>,
    /// `[B]`.
    pub kl: Tensor<1>,
}

/// Draws from the power spherical distributions with mean directions `mu` (`[B, n]`, unit vectors) and
/// concentrations `kappa` (`[B]`), with pathwise gradients in both.
///
/// # Errors
/// When the plan and the tensors do not fit, or the parameters of a series are not those of a distribution.
pub fn power_spherical(plan: StartPlan, mu: Tensor<2>, kappa: Tensor<1>) -> Result<StartPoints, StartError> {
    let (samples, [series, n]) = (plan.samples, mu.dims());
    let flat: Tensor<1> = fused::apply(plan, [mu.into_dispatch(), kappa.into_dispatch()])?;
    let points = samples * series * n;
    Ok(StartPoints {
        points: flat.clone().narrow(0, 0, points).reshape([samples, series, n]),
        kl: flat.narrow(0, points, series),
    })
}

impl StartPlan {
    fn process<'a, T>(&self, [mu, kappa]: [&'a [T]; 2]) -> PowerSphericalStart<'a, T> {
        PowerSphericalStart { dim: self.dim, mu, kappa }
    }

    fn draws(&self) -> Draws<'_> {
        Draws { key: self.key, series: &self.series, samples: self.samples, first_sample: self.first_sample }
    }
}

/// The output is flat: all points, then all divergences.
impl Operation<2> for StartPlan {
    type Tape<T: FusedReal> = ();
    type Error = StartError;

    fn forward<T: FusedReal>(
        &self,
        inputs: [&[T]; 2],
        _: [&[usize]; 2],
    ) -> Result<Evaluated<T, ()>, StartError> {
        let process = self.process(inputs);
        let mut output = process.sample(self.draws())?;
        output.extend(process.kl_to_uniform()?);
        let shape = vec![output.len()];
        Ok(Evaluated { output, shape, tape: () })
    }

    fn backward<T: FusedReal>(
        &self,
        Computed { inputs, shapes, .. }: Computed<'_, T, (), 2>,
        of_output: &[T],
        _: [bool; 2],
    ) -> Result<[Vec<T>; 2], StartError> {
        let (of_points, of_kl) = of_output.split_at(of_output.len() - shapes[0][0]);
        let gradients = self.process(inputs).pull_back(self.draws(), of_points, of_kl)?;
        Ok([gradients.mu, gradients.kappa])
    }
}
