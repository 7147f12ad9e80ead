//! Processes on the sphere with marginals in closed form, as an operation on tensors.

use burn::tensor::{DType, Tensor, TensorData};
use stroock_kernels::argument::{check_length, check_shape};
use stroock_kernels::moebius::{MoebiusGradients, MoebiusProblem, MoebiusProcess, SeriesTimes, StepLengths};
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::Attractor;
use stroock_kernels::start::Draws;

pub use stroock_kernels::moebius::MoebiusError;

use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};

/// Times of the series of a batch: series `b` has `times[offsets[b]..offsets[b + 1]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct RaggedTimes {
    /// `[B + 1]`, from 0 to the number of all times.
    pub offsets: Vec<usize>,
    /// All times, series after series.
    pub times: Vec<f64>,
}

/// Everything about the processes of a batch that is not differentiated.
#[derive(Clone, Debug)]
pub struct MoebiusPlan {
    /// Ambient dimension `n`.
    pub dim: usize,
    /// Draws `S` per series.
    pub samples: usize,
    /// Times of the knots, `K` in all, increasing within a series.
    pub knots: RaggedTimes,
    /// Times where states are asked for, `Q` in all.
    pub requests: RaggedTimes,
    /// `[B]`: start and end of the time over which the divergence is taken.
    pub spans: Vec<[f64; 2]>,
    /// Equal parts of a span with one random time in each, for the divergence.
    pub strata: usize,
    /// Seed and epoch.
    pub key: NoiseKey,
    /// `[B]`: the number of each series in the data set.
    pub series: Vec<u32>,
    /// The number of the first sample.
    pub first_sample: u32,
}

/// The drift of a prior that is the same at all times: see [`Attractor`].
#[derive(Clone, Debug)]
pub struct AttractorPrior {
    /// `[n]`.
    pub pull: Tensor<1>,
    /// `[n / 2]`, rounded down.
    pub rates: Tensor<1>,
    /// `[n / 2]`, rounded down.
    pub frequencies: Tensor<1>,
}

/// States and divergences of a batch of processes.
#[derive(Clone, Debug)]
pub struct MoebiusStates {
    /// Independent draws of the marginals at the requested times, `[S, Q, n]`.
    pub states: Tensor<3>,
    /// Divergence of the marginals at the start of the spans from the uniform distribution, `[B]`.
    pub kl_start: Tensor<1>,
    /// Unbiased estimates of the divergence along the spans, `[S, B]`.
    pub kl_path: Tensor<2>,
}

/// Draws from processes whose marginals are spherical Cauchy distributions about the positions `w` (`[K, n]`) with the
/// widths `eps` (`[K]`, positive) at the knots, and compares them with Brownian motion of the scale `sigma` (`[1]`), or
/// with the process of the same scale that has the drift of the prior. Both start uniformly. Gradients flow to all
/// tensors; see [`MoebiusProcess`] and [`MoebiusProblem`] for the formulas.
///
/// # Errors
/// When the plan and the tensors do not fit, or a number is not as it should be.
pub fn moebius(
    plan: MoebiusPlan,
    w: Tensor<2>,
    eps: Tensor<1>,
    sigma: Tensor<1>,
    prior: Option<AttractorPrior>,
) -> Result<MoebiusStates, MoebiusError> {
    let (samples, n) = (plan.samples, plan.dim);
    let (series, requests) = (plan.spans.len(), plan.requests.times.len());
    check_shape("positions", "[knots, dim]", &[plan.knots.times.len(), n], &w.dims())?;
    let [w, eps, sigma] = [w.into_dispatch(), eps.into_dispatch(), sigma.into_dispatch()];
    let flat: Tensor<1> = match prior {
        None => fused::apply(plan, [w, eps, sigma])?,
        Some(AttractorPrior { pull, rates, frequencies }) => {
            check_length("prior.pull", "[dim]", n, pull.dims()[0])?;
            check_length("prior.rates", "[dim / 2]", n / 2, rates.dims()[0])?;
            check_length("prior.frequencies", "[dim / 2]", n / 2, frequencies.dims()[0])?;
            let prior = Tensor::cat(vec![pull, rates, frequencies], 0);
            fused::apply(plan, [w, eps, sigma, prior.into_dispatch()])?
        }
    };
    let states = samples * requests * n;
    Ok(MoebiusStates {
        states: flat.clone().narrow(0, 0, states).reshape([samples, requests, n]),
        kl_start: flat.clone().narrow(0, states, series),
        kl_path: flat.narrow(0, states + series, samples * series).reshape([samples, series]),
    })
}

/// Coherent paths of the same processes at the requested times, `[S, Q, n]`, simulated from the start of each span.
/// Times must not decrease within a series. No gradient.
///
/// # Errors
/// When the plan and the tensors do not fit, or a number is not as it should be.
pub fn moebius_paths(
    plan: &MoebiusPlan,
    w: Tensor<2>,
    eps: Tensor<1>,
    sigma: Tensor<1>,
    steps: StepLengths,
) -> Result<Tensor<3>, MoebiusError> {
    check_shape("positions", "[knots, dim]", &[plan.knots.times.len(), plan.dim], &w.dims())?;
    let (device, dtype) = (w.device(), w.dtype());
    let starts: Vec<f64> = plan.spans.iter().map(|[start, _]| *start).collect();
    let [w, eps, sigma] = [w.into_data(), eps.into_data(), sigma.into_data()].map(doubles);
    let process = plan.process([&w, &eps, &sigma])?;
    let paths: Vec<f64> = process.simulate(plan.requests.of_kernels(), &starts, steps, plan.draws())?;
    let shape = [plan.samples, plan.requests.times.len(), plan.dim];
    Ok(Tensor::from_data(TensorData::new(paths, shape), (&device, dtype)))
}

/// Numbers of a tensor in double precision.
pub(super) fn doubles(data: TensorData) -> Vec<f64> {
    data.convert_dtype(DType::F64).iter::<f64>().collect()
}

impl RaggedTimes {
    pub(super) fn of_kernels(&self) -> SeriesTimes<'_> {
        SeriesTimes { offsets: &self.offsets, times: &self.times }
    }
}

impl MoebiusPlan {
    fn draws(&self) -> Draws<'_> {
        Draws { key: self.key, series: &self.series, samples: self.samples, first_sample: self.first_sample }
    }

    fn process<'a, T: FusedReal>(
        &'a self,
        [positions, widths, sigma]: [&'a [T]; 3],
    ) -> Result<MoebiusProcess<'a, T>, MoebiusError> {
        check_length("sigma", "[1]", 1, sigma.len())?;
        let knots = self.knots.of_kernels();
        Ok(MoebiusProcess { dim: self.dim, knots, positions, widths, sigma: sigma[0] })
    }

    fn problem<'a, T: FusedReal>(
        &'a self,
        inputs: [&'a [T]; 3],
        prior: Option<&'a [T]>,
    ) -> Result<MoebiusProblem<'a, T>, MoebiusError> {
        Ok(MoebiusProblem {
            process: self.process(inputs)?,
            prior: prior.map(|coefficients| Attractor { coefficients }),
            requests: self.requests.of_kernels(),
            spans: &self.spans,
            strata: self.strata,
            draws: self.draws(),
        })
    }

    /// The output is flat: all states, then the divergences at the start, then those along the spans.
    fn draw<T: FusedReal>(
        &self,
        inputs: [&[T]; 3],
        prior: Option<&[T]>,
    ) -> Result<Evaluated<T, ()>, MoebiusError> {
        let drawn = self.problem(inputs, prior)?.forward()?;
        let mut output = drawn.states;
        output.extend(drawn.kl_start);
        output.extend(drawn.kl_path);
        let shape = vec![output.len()];
        Ok(Evaluated { output, shape, tape: () })
    }

    fn pull_back<T: FusedReal>(
        &self,
        inputs: [&[T]; 3],
        prior: Option<&[T]>,
        of_output: &[T],
    ) -> Result<MoebiusGradients<T>, MoebiusError> {
        let states = self.samples * self.requests.times.len() * self.dim;
        let (of_states, of_kl) = of_output.split_at(states);
        let (of_kl_start, of_kl_path) = of_kl.split_at(self.spans.len());
        self.problem(inputs, prior)?.backward(of_states, of_kl_start, of_kl_path)
    }
}

/// The sum over series of gradients `[B, width]`, in their order.
fn over_series<T: FusedReal>(each: &[T], width: usize) -> Vec<T> {
    let mut sum = vec![0.0; width];
    for series in each.chunks_exact(width.max(1)) {
        sum.iter_mut().zip(series).for_each(|(sum, x)| *sum += x.as_f64());
    }
    sum.into_iter().map(T::of).collect()
}

/// Processes whose prior has no drift.
impl Operation<3> for MoebiusPlan {
    type Tape<T: FusedReal> = ();
    type Error = MoebiusError;

    fn forward<T: FusedReal>(
        &self,
        inputs: [&[T]; 3],
        _: [&[usize]; 3],
    ) -> Result<Evaluated<T, ()>, MoebiusError> {
        self.draw(inputs, None)
    }

    fn backward<T: FusedReal>(
        &self,
        Computed { inputs, .. }: Computed<'_, T, (), 3>,
        of_output: &[T],
        _: [bool; 3],
    ) -> Result<[Vec<T>; 3], MoebiusError> {
        let of = self.pull_back(inputs, None, of_output)?;
        Ok([of.positions, of.widths, over_series(&of.sigma, 1)])
    }
}

/// Processes whose prior has a drift: pull, rates and frequencies one after the other.
impl Operation<4> for MoebiusPlan {
    type Tape<T: FusedReal> = ();
    type Error = MoebiusError;

    fn forward<T: FusedReal>(
        &self,
        [w, eps, sigma, prior]: [&[T]; 4],
        _: [&[usize]; 4],
    ) -> Result<Evaluated<T, ()>, MoebiusError> {
        self.draw([w, eps, sigma], Some(prior))
    }

    fn backward<T: FusedReal>(
        &self,
        Computed { inputs: [w, eps, sigma, prior], .. }: Computed<'_, T, (), 4>,
        of_output: &[T],
        _: [bool; 4],
    ) -> Result<[Vec<T>; 4], MoebiusError> {
        let of = self.pull_back([w, eps, sigma], Some(prior), of_output)?;
        let of_prior = over_series(&of.prior, prior.len());
        Ok([of.positions, of.widths, over_series(&of.sigma, 1), of_prior])
    }
}
