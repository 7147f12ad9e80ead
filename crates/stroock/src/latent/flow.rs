//! Paths in `R^n` whose drift is a small network, as operations on tensors.

use burn::tensor::Tensor;
use stroock_kernels::flow::{Context, Diffusion, Driving, FlowProblem, FlowSolver, Gradients, Network, Tape};
use stroock_kernels::path::{Noise, Requests};

pub use stroock_kernels::flow::{Activation, FlowError};

use super::{PathGrid, PathNoise, PathRequests, PathStates, RaggedTimes};
use crate::fused::{self, Computed, Evaluated, FusedReal, Operation};

/// Everything about the flows of a batch that is not differentiated.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Dimension `n`.
    pub dim: usize,
    /// Paths `S` per series.
    pub samples: usize,
    /// Times.
    pub grid: PathGrid,
    /// Where states are asked for.
    pub requests: PathRequests,
    /// Widths of the hidden layers of the drift, and of that of the prior.
    pub hidden: Vec<usize>,
    /// What stands between their layers.
    pub activation: Activation,
}

/// Everything about the driven flows of a batch that is not differentiated.
#[derive(Clone, Debug)]
pub struct DrivenPlan {
    /// Dimension, grid, requests and networks.
    pub flow: FlowPlan,
    /// Units of every coordinate of the diffusion.
    pub diffusion_hidden: usize,
    /// Noise, `n` normals a step.
    pub noise: PathNoise,
    /// When contexts are read.
    pub contexts: ContextTimes,
}

/// When a drift reads which context.
#[derive(Clone, Debug)]
pub enum ContextTimes {
    /// One context for every series, `[B, C]`, at all times.
    Constant,
    /// Several contexts for every series, `[N, C]` in all, at these times: a step reads the first one after its start,
    /// and the last one beyond all of them.
    Next(RaggedTimes),
}

/// The states `[S, Q, n]` of `z' = f(z)` from `start` (`[S, B, n]`), with the parameters `drift` of the network `f`, in the
/// order of [`Network`].
///
/// # Errors
/// When the plan and the tensors do not fit, or a path diverges.
pub fn flow(plan: FlowPlan, start: Tensor<3>, drift: Tensor<1>) -> Result<Tensor<3>, FlowError> {
    let shape = [start.dims()[0], plan.requests.indices.len(), start.dims()[2]];
    let flat: Tensor<1> = fused::apply(plan, [start.into_dispatch(), drift.into_dispatch()])?;
    Ok(flat.reshape(shape))
}

/// The states `[S, Q, n]` of `dz = f(z) dt + g(z) dW` from `start` (`[S, B, n]`), with the parameters of the network `f`
/// and of the [`Diffusion`] `g`.
///
/// # Errors
/// When the plan and the tensors do not fit, or a path diverges.
pub fn driven_flow(
    plan: DrivenPlan,
    start: Tensor<3>,
    drift: Tensor<1>,
    diffusion: Tensor<1>,
) -> Result<Tensor<3>, FlowError> {
    let shape = [start.dims()[0], plan.flow.requests.indices.len(), start.dims()[2]];
    let inputs = [start.into_dispatch(), drift.into_dispatch(), diffusion.into_dispatch()];
    let flat: Tensor<1> = fused::apply(plan, inputs)?;
    Ok(flat.reshape(shape))
}

/// The states of `dz = f(z, c(t)) dt + g(z) dW` with the contexts `context` (`[B, C]` or `[N, C]`: see [`ContextTimes`]),
/// and the divergence of the paths from `dz = h(z) dt + g(z) dW`, with the parameters of the networks `f` (`drift`), `h`
/// (`prior`) and of the [`Diffusion`] `g`.
///
/// # Errors
/// When the plan and the tensors do not fit, or a path diverges.
pub fn posterior_flow(
    plan: DrivenPlan,
    start: Tensor<3>,
    drift: Tensor<1>,
    context: Tensor<2>,
    prior: Tensor<1>,
    diffusion: Tensor<1>,
) -> Result<PathStates, FlowError> {
    let [samples, series, n] = start.dims();
    let requests = plan.flow.requests.indices.len();
    let inputs = [
        start.into_dispatch(),
        drift.into_dispatch(),
        context.into_dispatch(),
        prior.into_dispatch(),
        diffusion.into_dispatch(),
    ];
    let flat: Tensor<1> = fused::apply(plan, inputs)?;
    let states = samples * requests * n;
    Ok(PathStates {
        states: flat.clone().narrow(0, 0, states).reshape([samples, requests, n]),
        kl: flat.narrow(0, states, samples * series).reshape([samples, series]),
    })
}

/// Numbers that a plan holds in double precision, in the precision of the tensors.
fn cast<T: FusedReal>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&x| T::of(x)).collect()
}

impl FlowPlan {
    fn times<T: FusedReal>(&self) -> Vec<T> {
        let (PathGrid::Shared(times) | PathGrid::PerSeries { times, .. }) = &self.grid;
        cast(times)
    }

    fn network<'a, T>(&'a self, parameters: &'a [T]) -> Network<'a, T> {
        Network { hidden: &self.hidden, activation: self.activation, parameters }
    }

    /// The problem of an ordinary differential equation.
    fn problem<'a, T: FusedReal>(
        &'a self,
        times: &'a [T],
        start: &'a [T],
        drift: &'a [T],
    ) -> FlowProblem<'a, T> {
        FlowProblem {
            dim: self.dim,
            samples: self.samples,
            grid: self.grid.of_kernels(times),
            start,
            drift: self.network(drift),
            context: Context::None,
            driving: None,
            requests: Requests::At { offsets: &self.requests.offsets, indices: &self.requests.indices },
        }
    }
}

impl Operation<2> for FlowPlan {
    type Tape<T: FusedReal> = Tape<T>;
    type Error = FlowError;

    fn forward<T: FusedReal>(
        &self,
        [start, drift]: [&[T]; 2],
        _: [&[usize]; 2],
    ) -> Result<Evaluated<T, Tape<T>>, FlowError> {
        let times = self.times();
        let flow = FlowSolver::default().forward(&self.problem(&times, start, drift))?;
        let shape = vec![flow.states.len()];
        Ok(Evaluated { output: flow.states, shape, tape: flow.tape })
    }

    fn backward<T: FusedReal>(
        &self,
        computed: Computed<'_, T, Tape<T>, 2>,
        of_states: &[T],
        _: [bool; 2],
    ) -> Result<[Vec<T>; 2], FlowError> {
        let ([start, drift], times) = (computed.inputs, self.times());
        let of_kl = vec![T::zero(); start.len() / self.dim];
        let problem = self.problem(&times, start, drift);
        let gradients = FlowSolver::default().backward(&problem, computed.tape, of_states, &of_kl)?;
        Ok([gradients.start, gradients.drift])
    }
}

/// What a driven flow reads.
struct Inputs<'a, T> {
    start: &'a [T],
    drift: &'a [T],
    diffusion: &'a [T],
    /// Contexts with their width, and the prior.
    posterior: Option<(&'a [T], usize, &'a [T])>,
}

/// Numbers of a driven plan in the precision of the tensors.
struct Numbers<T> {
    times: Vec<T>,
    noise: Vec<T>,
    contexts: Vec<T>,
}

impl DrivenPlan {
    fn numbers<T: FusedReal>(&self) -> Numbers<T> {
        let noise: &[f64] = match &self.noise {
            PathNoise::Given(values) => values,
            PathNoise::Counter { .. } => &[],
        };
        let contexts: &[f64] = match &self.contexts {
            ContextTimes::Constant => &[],
            ContextTimes::Next(RaggedTimes { times, .. }) => times,
        };
        Numbers { times: self.flow.times(), noise: cast(noise), contexts: cast(contexts) }
    }

    fn problem<'a, T: FusedReal>(
        &'a self,
        numbers: &'a Numbers<T>,
        inputs: Inputs<'a, T>,
    ) -> FlowProblem<'a, T> {
        let context = match (inputs.posterior, &self.contexts) {
            (None, _) => Context::None,
            (Some((values, width, _)), ContextTimes::Constant) => Context::Constant { width, values },
            (Some((values, width, _)), ContextTimes::Next(RaggedTimes { offsets, .. })) => {
                Context::Next { width, offsets, times: &numbers.contexts, values }
            }
        };
        let driving = Driving {
            diffusion: Diffusion { hidden: self.diffusion_hidden, parameters: inputs.diffusion },
            noise: match &self.noise {
                PathNoise::Counter { key, series, first_sample } => {
                    Noise::Counter { key: *key, series, first_sample: *first_sample }
                }
                PathNoise::Given(_) => Noise::Given(&numbers.noise),
            },
            prior: inputs.posterior.map(|(.., prior)| self.flow.network(prior)),
        };
        let problem = self.flow.problem(&numbers.times, inputs.start, inputs.drift);
        FlowProblem { context, driving: Some(driving), ..problem }
    }

    /// The output is flat: all states, then, where there is a prior, all divergences.
    fn advance<T: FusedReal>(&self, inputs: Inputs<'_, T>) -> Result<Evaluated<T, Tape<T>>, FlowError> {
        let (numbers, has_prior) = (self.numbers(), inputs.posterior.is_some());
        let flow = FlowSolver::default().forward(&self.problem(&numbers, inputs))?;
        let mut output = flow.states;
        if has_prior {
            output.extend(flow.kl);
        }
        let shape = vec![output.len()];
        Ok(Evaluated { output, shape, tape: flow.tape })
    }

    fn pull_back<T: FusedReal>(
        &self,
        inputs: Inputs<'_, T>,
        tape: &Tape<T>,
        of_output: &[T],
    ) -> Result<Gradients<T>, FlowError> {
        let numbers = self.numbers();
        let rows = inputs.start.len() / self.flow.dim;
        let states = self.flow.samples * self.flow.requests.indices.len() * self.flow.dim;
        let (of_states, of_kl) = of_output.split_at(states);
        let nothing = vec![T::zero(); rows];
        let of_kl = if of_kl.is_empty() { &nothing } else { of_kl };
        FlowSolver::default().backward(&self.problem(&numbers, inputs), tape, of_states, of_kl)
    }
}

/// A driven flow without context and prior.
impl Operation<3> for DrivenPlan {
    type Tape<T: FusedReal> = Tape<T>;
    type Error = FlowError;

    fn forward<T: FusedReal>(
        &self,
        [start, drift, diffusion]: [&[T]; 3],
        _: [&[usize]; 3],
    ) -> Result<Evaluated<T, Tape<T>>, FlowError> {
        self.advance(Inputs { start, drift, diffusion, posterior: None })
    }

    fn backward<T: FusedReal>(
        &self,
        computed: Computed<'_, T, Tape<T>, 3>,
        of_output: &[T],
        _: [bool; 3],
    ) -> Result<[Vec<T>; 3], FlowError> {
        let [start, drift, diffusion] = computed.inputs;
        let inputs = Inputs { start, drift, diffusion, posterior: None };
        let gradients = self.pull_back(inputs, computed.tape, of_output)?;
        Ok([gradients.start, gradients.drift, gradients.diffusion])
    }
}

/// A driven flow with context and prior.
impl Operation<5> for DrivenPlan {
    type Tape<T: FusedReal> = Tape<T>;
    type Error = FlowError;

    fn forward<T: FusedReal>(
        &self,
        [start, drift, context, prior, diffusion]: [&[T]; 5],
        shapes: [&[usize]; 5],
    ) -> Result<Evaluated<T, Tape<T>>, FlowError> {
        let posterior = Some((context, width(shapes[2]), prior));
        self.advance(Inputs { start, drift, diffusion, posterior })
    }

    fn backward<T: FusedReal>(
        &self,
        computed: Computed<'_, T, Tape<T>, 5>,
        of_output: &[T],
        _: [bool; 5],
    ) -> Result<[Vec<T>; 5], FlowError> {
        let [start, drift, context, prior, diffusion] = computed.inputs;
        let posterior = Some((context, width(computed.shapes[2]), prior));
        let inputs = Inputs { start, drift, diffusion, posterior };
        let gradients = self.pull_back(inputs, computed.tape, of_output)?;
        Ok([gradients.start, gradients.drift, gradients.context, gradients.prior, gradients.diffusion])
    }
}

/// Numbers of a context.
fn width(shape: &[usize]) -> usize {
    shape.last().copied().unwrap_or_default()
}
