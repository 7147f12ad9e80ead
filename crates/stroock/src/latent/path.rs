//! Paths of a batch as an operation on tensors.

use burn::tensor::Tensor;
use stroock_kernels::argument::check_length;
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::{
    Attractor, Chebyshev, Drift, Gradients, Grid, Noise, PathError, PathProblem, PathSolver, PerStep,
    PiecewiseLinear, Prior, Requests, Space, Tape,
};

use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};

/// The times that paths are simulated on, in the time of the model.
#[derive(Clone, Debug)]
pub enum PathGrid {
    /// One list of increasing times for every series.
    Shared(Vec<f64>),
    /// A list for every series, `times[offsets[b]..offsets[b + 1]]`.
    PerSeries {
        /// `[B + 1]`.
        offsets: Vec<usize>,
        /// All times, series after series.
        times: Vec<f64>,
    },
}

/// How the drift depends on time: what the coefficients of a drift stand for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PathDrift {
    /// Chebyshev polynomials `T_0 .. T_{terms - 1}`, with coefficients `[B, m, terms]`.
    Chebyshev {
        /// Number of polynomials.
        terms: usize,
        /// The times that are taken to 0 and 1.
        interval: (f64, f64),
    },
    /// A value for every step, `[B, T, m]`, or `[1, steps of all series, m]` on grids of their own.
    PerStep,
    /// Straight lines between values at knots, `[B, knots, m]`, or `[1, knots of all series, m]` where each has its own.
    PiecewiseLinear {
        /// Times of the knots.
        knots: PathGrid,
    },
}

/// Where the noise of paths comes from.
#[derive(Clone, Debug)]
pub enum PathNoise {
    /// A function of the key and of the number of the series in the data set.
    Counter {
        /// Seed and epoch.
        key: NoiseKey,
        /// `[B]`.
        series: Vec<u32>,
        /// The number of the first sample.
        first_sample: u32,
    },
    /// Given standard normals, `[S, B, T, m]`, or `[S, B, T, n]` for noise along the space.
    Given(Vec<f64>),
}

/// Grid indices at which states are asked for: series `b` has `indices[offsets[b]..offsets[b + 1]]`.
#[derive(Clone, Debug)]
pub struct PathRequests {
    /// `[B + 1]`.
    pub offsets: Vec<usize>,
    /// All indices, series after series, not decreasing within a series.
    pub indices: Vec<usize>,
}

/// Everything about the paths of a batch that is not differentiated.
#[derive(Clone, Debug)]
pub struct PathPlan {
    /// Homogeneous space.
    pub space: Space,
    /// Ambient dimension `n`.
    pub dim: usize,
    /// Paths `S` per series.
    pub samples: usize,
    /// Times.
    pub grid: PathGrid,
    /// How the drift, and that of the prior, depend on time.
    pub drift: PathDrift,
    /// Noise.
    pub noise: PathNoise,
    /// Where states are asked for.
    pub requests: PathRequests,
    /// Instruction set, memory and scheme.
    pub solver: PathSolver,
}

/// States of simulated paths.
#[derive(Clone, Debug)]
pub struct PathStates {
    /// States at the requested indices, `[S, Q, n]`.
    pub states: Tensor<3>,
    /// Divergence of each path from the prior, `[S, B]`.
    pub kl: Tensor<2>,
}

/// Simulates paths from `start` (`[S, B, n]`) with the drift coefficients `drift`, in the shape that [`PathDrift`] says,
/// and the diffusion scale `sigma` (`[1]`). The divergence is that from a path with the drift coefficients `prior`, in
/// the same shape, or from one without drift. For steered paths the prior is an
/// [`Attractor`](stroock_kernels::path::Attractor) with the coefficients `[B, n + 2 (n / 2), 1]`, and moves the path, too.
///
/// # Errors
/// When the plan and the tensors do not fit, or a path diverges.
pub fn simulate(
    plan: PathPlan,
    start: Tensor<3>,
    drift: Tensor<3>,
    sigma: Tensor<1>,
    prior: Option<Tensor<3>>,
) -> Result<PathStates, PathError> {
    let [samples, series, n] = start.dims();
    let requests = plan.requests.indices.len();
    let [start, drift, sigma] = [start.into_dispatch(), drift.into_dispatch(), sigma.into_dispatch()];
    let flat: Tensor<1> = match prior {
        None => fused::apply(plan, [start, drift, sigma])?,
        Some(prior) => fused::apply(plan, [start, drift, sigma, prior.into_dispatch()])?,
    };
    let states = samples * requests * n;
    Ok(PathStates {
        states: flat.clone().narrow(0, 0, states).reshape([samples, requests, n]),
        kl: flat.narrow(0, states, samples * series).reshape([samples, series]),
    })
}

impl PathGrid {
    /// The times of one series.
    pub fn of_series(&self, series: usize) -> &[f64] {
        match self {
            PathGrid::Shared(times) => times,
            PathGrid::PerSeries { offsets, times } => &times[offsets[series]..offsets[series + 1]],
        }
    }

    /// The grid of the kernels with the same `times`.
    pub(super) fn of_kernels<'a, T>(&'a self, times: &'a [T]) -> Grid<'a, T> {
        match self {
            PathGrid::Shared(_) => Grid::Shared(times),
            PathGrid::PerSeries { offsets, .. } => Grid::PerSeries { offsets, times },
        }
    }
}

/// Numbers that the plan holds in double precision, in the precision of the tensors.
struct Numbers<T> {
    times: Vec<T>,
    noise: Vec<T>,
    knots: Vec<T>,
}

impl PathPlan {
    fn numbers<T: FusedReal>(&self) -> Numbers<T> {
        let cast = |values: &[f64]| values.iter().map(|&x| T::of(x)).collect();
        let (PathGrid::Shared(times) | PathGrid::PerSeries { times, .. }) = &self.grid;
        let noise: &[f64] = match &self.noise {
            PathNoise::Given(values) => values,
            PathNoise::Counter { .. } => &[],
        };
        let knots: &[f64] = match &self.drift {
            PathDrift::PiecewiseLinear {
                knots: PathGrid::Shared(times) | PathGrid::PerSeries { times, .. },
            } => times,
            PathDrift::Chebyshev { .. } | PathDrift::PerStep => &[],
        };
        Numbers { times: cast(times), noise: cast(noise), knots: cast(knots) }
    }

    /// The drift of the kernels with the given coefficients.
    fn drift<'a, T: FusedReal>(&'a self, numbers: &'a Numbers<T>, coefficients: &'a [T]) -> Drift<'a, T> {
        match &self.drift {
            PathDrift::Chebyshev { terms, interval: (start, end) } => {
                Chebyshev { terms: *terms, interval: (T::of(*start), T::of(*end)), coefficients }.into()
            }
            PathDrift::PerStep => PerStep(coefficients).into(),
            PathDrift::PiecewiseLinear { knots } => {
                PiecewiseLinear { knots: knots.of_kernels(&numbers.knots), coefficients }.into()
            }
        }
    }

    fn problem<'a, T: FusedReal>(
        &'a self,
        numbers: &'a Numbers<T>,
        [start, drift, sigma]: [&'a [T]; 3],
        prior: Option<&'a [T]>,
    ) -> Result<PathProblem<'a, T>, PathError> {
        check_length("sigma", "[1]", 1, sigma.len())?;
        let sigma = &sigma[0];
        Ok(PathProblem {
            space: self.space,
            dim: self.dim,
            samples: self.samples,
            grid: self.grid.of_kernels(&numbers.times),
            drift: self.drift(numbers, drift),
            prior: match prior {
                None => Prior::Driftless,
                Some(coefficients) if self.solver.scheme.is_steered() => {
                    Prior::Drift(Attractor { coefficients }.into())
                }
                Some(coefficients) => Prior::Drift(self.drift(numbers, coefficients)),
            },
            sigma: *sigma,
            start,
            noise: match &self.noise {
                PathNoise::Counter { key, series, first_sample } => {
                    Noise::Counter { key: *key, series, first_sample: *first_sample }
                }
                PathNoise::Given(_) => Noise::Given(&numbers.noise),
            },
            requests: Requests::At { offsets: &self.requests.offsets, indices: &self.requests.indices },
        })
    }

    /// The output is flat: all states, then all divergences.
    fn simulate<T: FusedReal>(
        &self,
        inputs: [&[T]; 3],
        prior: Option<&[T]>,
    ) -> Result<Evaluated<T, Tape<T>>, PathError> {
        let numbers = self.numbers();
        let path = self.solver.forward(&self.problem(&numbers, inputs, prior)?)?;
        let mut output = path.states;
        output.extend(path.kl);
        let shape = vec![output.len()];
        Ok(Evaluated { output, shape, tape: path.tape })
    }

    fn pull_back<T: FusedReal>(
        &self,
        inputs: [&[T]; 3],
        prior: Option<&[T]>,
        tape: &Tape<T>,
        of_output: &[T],
    ) -> Result<Gradients<T>, PathError> {
        let numbers = self.numbers();
        let states = self.samples * self.requests.indices.len() * self.dim;
        let (of_states, of_kl) = of_output.split_at(states);
        self.solver.backward(&self.problem(&numbers, inputs, prior)?, tape, of_states, of_kl)
    }
}

/// Paths whose prior has no drift.
impl Operation<3> for PathPlan {
    type Tape<T: FusedReal> = Tape<T>;
    type Error = PathError;

    fn forward<T: FusedReal>(
        &self,
        inputs: [&[T]; 3],
        _: [&[usize]; 3],
    ) -> Result<Evaluated<T, Tape<T>>, PathError> {
        self.simulate(inputs, None)
    }

    fn backward<T: FusedReal>(
        &self,
        computed: Computed<'_, T, Tape<T>, 3>,
        of_output: &[T],
        _: [bool; 3],
    ) -> Result<[Vec<T>; 3], PathError> {
        let gradients = self.pull_back(computed.inputs, None, computed.tape, of_output)?;
        Ok([gradients.start, gradients.drift, vec![gradients.sigma.into_iter().sum()]])
    }
}

/// Paths whose prior has a drift.
impl Operation<4> for PathPlan {
    type Tape<T: FusedReal> = Tape<T>;
    type Error = PathError;

    fn forward<T: FusedReal>(
        &self,
        [start, drift, sigma, prior]: [&[T]; 4],
        _: [&[usize]; 4],
    ) -> Result<Evaluated<T, Tape<T>>, PathError> {
        self.simulate([start, drift, sigma], Some(prior))
    }

    fn backward<T: FusedReal>(
        &self,
        computed: Computed<'_, T, Tape<T>, 4>,
        of_output: &[T],
        _: [bool; 4],
    ) -> Result<[Vec<T>; 4], PathError> {
        let [start, drift, sigma, prior] = computed.inputs;
        let gradients = self.pull_back([start, drift, sigma], Some(prior), computed.tape, of_output)?;
        let of_sigma = gradients.sigma.into_iter().sum();
        Ok([gradients.start, gradients.drift, vec![of_sigma], gradients.prior])
    }
}
