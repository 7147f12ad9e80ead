//! Start points of a batch as an operation on tensors.

use burn::tensor::{Tensor, TensorData};
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::Space;
use stroock_kernels::start::{Draws, StartDistribution, StartError, StartKind};

use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};

/// Everything about the start points of a batch that is not differentiated.
#[derive(Clone, Debug)]
pub struct StartPlan {
    /// The distribution, chosen by the space: see [`Space::start`](stroock_kernels::path::Space::start).
    pub kind: StartKind,
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

/// Start points and their divergence from those of the prior.
#[derive(Clone, Debug)]
pub struct StartPoints {
    /// `[S, B, n]`.
    pub points: Tensor<3>,
    /// `[B]`.
    pub kl: Tensor<1>,
}

/// Draws from the distributions with the given locations (`[B, ..]`) and spreads (`[B]`), with pathwise gradients in
/// both: mean directions and concentrations on the sphere, means and standard deviations in the tangent space at the
/// origin of hyperbolic space.
///
/// # Errors
/// When the plan and the tensors do not fit, or the parameters of a series are not those of a distribution.
pub fn start_points(
    plan: StartPlan,
    location: Tensor<2>,
    spread: Tensor<1>,
) -> Result<StartPoints, StartError> {
    let (samples, series, n) = (plan.samples, spread.dims()[0], plan.dim);
    let flat: Tensor<1> = fused::apply(plan, [location.into_dispatch(), spread.into_dispatch()])?;
    let points = samples * series * n;
    Ok(StartPoints {
        points: flat.clone().narrow(0, 0, points).reshape([samples, series, n]),
        kl: flat.narrow(0, points, series),
    })
}

/// Locations (`[B, ..]`) and spreads (`[B]`) of the start points of the prior on a space for so many series, on the
/// device and in the precision of a tensor.
pub(crate) fn prior_start<const D: usize>(
    space: Space,
    dim: usize,
    series: usize,
    like: &Tensor<D>,
) -> (Tensor<2>, Tensor<1>) {
    let options = (&like.device(), like.dtype());
    let (location, spread) = space.start().prior(dim);
    let width = location.len();
    let location = Tensor::from_data(TensorData::new(location.repeat(series), [series, width]), options);
    (location, Tensor::full([series], spread, options))
}

impl StartPlan {
    fn distribution<'a, T: FusedReal>(
        &self,
        [location, spread]: [&'a [T]; 2],
    ) -> Box<dyn StartDistribution<T> + 'a> {
        self.kind.distribution(self.dim, location, spread)
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
        let distribution = self.distribution(inputs);
        let mut output = distribution.sample(self.draws())?;
        output.extend(distribution.divergence()?);
        let shape = vec![output.len()];
        Ok(Evaluated { output, shape, tape: () })
    }

    fn backward<T: FusedReal>(
        &self,
        Computed { inputs, .. }: Computed<'_, T, (), 2>,
        of_output: &[T],
        _: [bool; 2],
    ) -> Result<[Vec<T>; 2], StartError> {
        let (of_points, of_kl) = of_output.split_at(of_output.len() - inputs[1].len());
        let gradients = self.distribution(inputs).pull_back(self.draws(), of_points, of_kl)?;
        Ok([gradients.location, gradients.spread])
    }
}
