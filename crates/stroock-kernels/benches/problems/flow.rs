//! Batches of flows of the sizes of the paper's comparison.

use std::hint::black_box;

use stroock_kernels::flow::{Activation, Context, Diffusion, Driving, FlowProblem, FlowSolver, Network};
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::{Grid, Noise, Requests};

const DIM: usize = 16;
const HIDDEN: [usize; 2] = [32, 32];
const CONTEXT: usize = 64;
const UNITS: usize = 32;

/// Networks 16 - 32 - 32 - 16, states wanted at every time; driven ones have a context of 64 numbers and 32 units for
/// every coordinate of the diffusion.
pub struct Batch {
    driven: bool,
    numbers: Vec<u32>,
    times: Vec<f32>,
    start: Vec<f32>,
    drift: Vec<f32>,
    context: Vec<f32>,
    prior: Vec<f32>,
    diffusion: Vec<f32>,
}

fn waves(count: usize, size: f32) -> Vec<f32> {
    (0..count).map(|i| size * (1.7 * i as f32).sin()).collect()
}

impl Batch {
    pub fn new(driven: bool, series: usize, steps: usize) -> Self {
        let inputs = if driven { DIM + CONTEXT } else { DIM };
        Self {
            driven,
            numbers: (0..series as u32).collect(),
            times: (0..=steps).map(|j| j as f32 / steps as f32).collect(),
            start: waves(series * DIM, 1.0),
            drift: waves(Network::<f32>::parameters(inputs, &HIDDEN, DIM), 0.2),
            context: waves(series * CONTEXT, 1.0),
            prior: waves(Network::<f32>::parameters(DIM, &HIDDEN, DIM), 0.2),
            diffusion: waves(Diffusion::<f32>::parameters(DIM, UNITS), 0.3),
        }
    }

    pub fn series_steps(&self) -> u64 {
        (self.numbers.len() * (self.times.len() - 1)) as u64
    }

    fn problem(&self) -> FlowProblem<'_, f32> {
        let activation = if self.driven { Activation::Softplus } else { Activation::Elu };
        let network = |parameters| Network { hidden: &HIDDEN, activation, parameters };
        let driving = Driving {
            diffusion: Diffusion { hidden: UNITS, parameters: &self.diffusion },
            noise: Noise::Counter { key: NoiseKey::new(1, 0), series: &self.numbers, first_sample: 0 },
            prior: Some(network(&self.prior)),
        };
        FlowProblem {
            dim: DIM,
            samples: 1,
            grid: Grid::Shared(&self.times),
            start: &self.start,
            drift: network(&self.drift),
            context: match self.driven {
                true => Context::Constant { width: CONTEXT, values: &self.context },
                false => Context::None,
            },
            driving: self.driven.then_some(driving),
            requests: Requests::All,
        }
    }

    pub fn forward(&self, solver: FlowSolver) {
        black_box(solver.forward(&self.problem()).expect("the batch is valid"));
    }

    pub fn forward_backward(&self, solver: FlowSolver) {
        let problem = self.problem();
        let flow = solver.forward(&problem).expect("the batch is valid");
        let of_kl = vec![1e-3; flow.kl.len()];
        black_box(solver.backward(&problem, &flow.tape, &flow.states, &of_kl).expect("the tape fits"));
    }
}
