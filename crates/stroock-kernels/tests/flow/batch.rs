//! Batches of flows that the tests share.

use stroock_kernels::flow::{
    Activation, Context, Diffusion, Driving, Flow, FlowError, FlowProblem, FlowReal, FlowSolver, Gradients,
    Network,
};
use stroock_kernels::noise::{NoiseKey, philox};
use stroock_kernels::path::{Grid, Noise, Requests};

/// A number in (-1, 1) that depends on `seed` and `i` alone.
pub fn scatter(seed: u32, i: usize) -> f64 {
    f64::from(philox([i as u32, seed, 0, 0], [0x5EED, 0])[0] as i32) / 2f64.powi(31)
}

pub fn numbers<T: FlowReal>(count: usize, seed: u32, size: f64) -> Vec<T> {
    (0..count).map(|i| T::of(size * scatter(seed, i))).collect()
}

/// Contexts of a batch.
#[derive(Clone)]
pub enum Contexts<T> {
    None,
    Constant(Vec<T>),
    Next { offsets: Vec<usize>, times: Vec<T>, values: Vec<T> },
}

/// What drives a batch.
#[derive(Clone)]
pub struct Driven<T> {
    pub hidden: usize,
    pub diffusion: Vec<T>,
    /// `None`: from the generator.
    pub noise: Option<Vec<T>>,
    pub prior: Option<Vec<T>>,
}

/// An owned flow problem.
#[derive(Clone)]
pub struct Batch<T> {
    pub dim: usize,
    pub samples: usize,
    pub series: usize,
    /// `None`: one grid for all.
    pub time_offsets: Option<Vec<usize>>,
    pub times: Vec<T>,
    pub start: Vec<T>,
    pub hidden: Vec<usize>,
    pub activation: Activation,
    pub drift: Vec<T>,
    pub width: usize,
    pub contexts: Contexts<T>,
    pub driven: Option<Driven<T>>,
    pub request_offsets: Vec<usize>,
    pub requests: Vec<usize>,
    pub numbers: Vec<u32>,
}

pub const KEY: (u64, u64) = (5, 2);

impl<T: FlowReal> Batch<T> {
    /// An ordinary differential equation on a shared irregular grid, states wanted at some points, some twice, and none of
    /// the third series.
    pub fn ode(dim: usize, series: usize, samples: usize, steps: usize) -> Self {
        let times = (0..=steps).map(|j| T::of((j as f64 + 0.3 * scatter(2, j)) / steps as f64)).collect();
        let (mut request_offsets, mut requests) = (vec![0], Vec::new());
        for b in 0..series {
            if b != 2 {
                requests.extend((0..=steps).filter(|j| (j + b) % 3 == 0));
                requests.extend([steps, steps]);
            }
            request_offsets.push(requests.len());
        }
        let hidden = vec![7, 5];
        Self {
            dim,
            samples,
            series,
            time_offsets: None,
            times,
            start: numbers(samples * series * dim, 1, 1.0),
            drift: numbers(Network::<T>::parameters(dim, &hidden, dim), 3, 0.8),
            hidden,
            activation: Activation::Elu,
            width: 0,
            contexts: Contexts::None,
            driven: None,
            request_offsets,
            requests,
            numbers: (0..series as u32).map(|b| 3 * b + 1).collect(),
        }
    }

    /// A stochastic differential equation with a prior and constant contexts.
    pub fn sde(dim: usize, series: usize, samples: usize, steps: usize) -> Self {
        let width = 3;
        let batch = Self::ode(dim, series, samples, steps);
        let hidden = 6;
        Self {
            activation: Activation::Softplus,
            drift: numbers(Network::<T>::parameters(dim + width, &batch.hidden, dim), 3, 0.8),
            width,
            contexts: Contexts::Constant(numbers(series * width, 4, 1.0)),
            driven: Some(Driven {
                hidden,
                diffusion: numbers(Diffusion::<T>::parameters(dim, hidden), 5, 0.7),
                noise: None,
                prior: Some(numbers(Network::<T>::parameters(dim, &batch.hidden, dim), 6, 0.8)),
            }),
            ..batch
        }
    }

    /// The same with one to several contexts for each series, some before the grid and some behind it.
    pub fn with_next_contexts(mut self) -> Self {
        let (mut offsets, mut times) = (vec![0], Vec::new());
        for b in 0..self.series {
            let count = 1 + (b * 5 + 2) % 6;
            times.extend((0..count).map(|i| {
                let wanted = -0.1 + 1.3 * i as f64 / count as f64;
                // Some fall on grid points.
                match b % 2 {
                    0 => T::of(wanted),
                    _ => self.times[(i * 2).min(self.times.len() - 1)],
                }
            }));
            offsets.push(times.len());
        }
        for run in offsets.windows(2) {
            times[run[0]..run[1]].sort_by(|a, b| a.partial_cmp(b).unwrap());
        }
        let values = numbers(times.len() * self.width, 7, 1.0);
        self.contexts = Contexts::Next { offsets, times, values };
        self
    }

    /// The same on grids of different lengths; the second series has one time alone.
    pub fn ragged(mut self) -> Self {
        let steps = self.times.len() - 1;
        let (mut offsets, mut times) = (vec![0], Vec::new());
        let (mut request_offsets, mut requests) = (vec![0], Vec::new());
        for b in 0..self.series {
            let count = if b == 1 { 1 } else { 2 + (b * 7) % steps };
            times.extend((0..count).map(|j| T::of(0.05 * b as f64 + 0.09 * j as f64)));
            offsets.push(times.len());
            requests.extend((0..count).filter(|j| (j + b) % 2 == 0));
            requests.push(count - 1);
            request_offsets.push(requests.len());
        }
        (self.time_offsets, self.times) = (Some(offsets), times);
        (self.request_offsets, self.requests) = (request_offsets, requests);
        self
    }

    /// Given noise instead of that of the generator.
    pub fn with_given_noise(mut self) -> Self {
        let steps = match &self.time_offsets {
            None => self.series * (self.times.len() - 1),
            Some(_) => self.times.len() - self.series,
        };
        if let Some(driven) = &mut self.driven {
            driven.noise = Some(numbers(self.samples * steps * self.dim, 8, 1.7));
        }
        self
    }

    pub fn problem(&self) -> FlowProblem<'_, T> {
        let network = |parameters| Network { hidden: &self.hidden, activation: self.activation, parameters };
        FlowProblem {
            dim: self.dim,
            samples: self.samples,
            grid: match &self.time_offsets {
                None => Grid::Shared(&self.times),
                Some(offsets) => Grid::PerSeries { offsets, times: &self.times },
            },
            start: &self.start,
            drift: network(&self.drift),
            context: match &self.contexts {
                Contexts::None => Context::None,
                Contexts::Constant(values) => Context::Constant { width: self.width, values },
                Contexts::Next { offsets, times, values } => {
                    Context::Next { width: self.width, offsets, times, values }
                }
            },
            driving: self.driven.as_ref().map(|driven| Driving {
                diffusion: Diffusion { hidden: driven.hidden, parameters: &driven.diffusion },
                noise: match &driven.noise {
                    Some(values) => Noise::Given(values),
                    None => Noise::Counter {
                        key: NoiseKey::new(KEY.0, KEY.1),
                        series: &self.numbers,
                        first_sample: 4,
                    },
                },
                prior: driven.prior.as_deref().map(network),
            }),
            requests: Requests::At { offsets: &self.request_offsets, indices: &self.requests },
        }
    }

    pub fn forward(&self, solver: FlowSolver) -> Result<Flow<T>, FlowError> {
        solver.forward(&self.problem())
    }

    /// Forward, and backward with the cotangents `sin(state)` and 0.5.
    pub fn both(&self, solver: FlowSolver) -> (Flow<T>, Gradients<T>) {
        let flow = self.forward(solver).unwrap();
        let of_states: Vec<T> = flow.states.iter().map(|x| x.sin()).collect();
        let of_kl = vec![T::of(0.5); flow.kl.len()];
        let gradients = solver.backward(&self.problem(), &flow.tape, &of_states, &of_kl).unwrap();
        (flow, gradients)
    }
}

/// `-sum cos(state) + sum KL / 2`, whose cotangents are those of [`Batch::both`].
pub fn loss<T: FlowReal>(flow: &Flow<T>) -> f64 {
    let states: f64 = flow.states.iter().map(|x| -x.as_f64().cos()).sum();
    states + 0.5 * flow.kl.iter().map(|x| x.as_f64()).sum::<f64>()
}

impl Batch<f64> {
    /// The inputs by name, to be changed.
    pub fn leaves(&mut self) -> Vec<(&'static str, &mut Vec<f64>)> {
        let mut leaves = vec![("start", &mut self.start), ("drift", &mut self.drift)];
        match &mut self.contexts {
            Contexts::None => {}
            Contexts::Constant(values) | Contexts::Next { values, .. } => leaves.push(("context", values)),
        }
        if let Some(driven) = &mut self.driven {
            leaves.push(("diffusion", &mut driven.diffusion));
            if let Some(prior) = &mut driven.prior {
                leaves.push(("prior", prior));
            }
        }
        leaves
    }

    pub fn single(&self) -> Batch<f32> {
        let cast = |values: &[f64]| -> Vec<f32> { values.iter().map(|&x| x as f32).collect() };
        Batch {
            dim: self.dim,
            samples: self.samples,
            series: self.series,
            time_offsets: self.time_offsets.clone(),
            times: cast(&self.times),
            start: cast(&self.start),
            hidden: self.hidden.clone(),
            activation: self.activation,
            drift: cast(&self.drift),
            width: self.width,
            contexts: match &self.contexts {
                Contexts::None => Contexts::None,
                Contexts::Constant(values) => Contexts::Constant(cast(values)),
                Contexts::Next { offsets, times, values } => {
                    Contexts::Next { offsets: offsets.clone(), times: cast(times), values: cast(values) }
                }
            },
            driven: self.driven.as_ref().map(|driven| Driven {
                hidden: driven.hidden,
                diffusion: cast(&driven.diffusion),
                noise: driven.noise.as_deref().map(cast),
                prior: driven.prior.as_deref().map(cast),
            }),
            request_offsets: self.request_offsets.clone(),
            requests: self.requests.clone(),
            numbers: self.numbers.clone(),
        }
    }
}

/// The gradients in the order of [`Batch::leaves`].
pub fn by_leaf<T: FlowReal>(gradients: &Gradients<T>) -> Vec<Vec<f64>> {
    let Gradients { start, drift, context, diffusion, prior } = gradients;
    let all = [start, drift, context, diffusion, prior];
    let some = all.into_iter().filter(|gradient| !gradient.is_empty());
    some.map(|gradient| gradient.iter().map(|x| x.as_f64()).collect()).collect()
}
