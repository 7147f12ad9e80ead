//! Flows and their divergence.

use burn::tensor::{Device, Tensor};
use stroock::latent::{
    self, Activation, ContextTimes, DrivenPlan, FlowError, FlowPlan, PathGrid, PathNoise, PathRequests,
    RaggedTimes,
};
use stroock::plain;
use stroock_kernels::flow::{Diffusion, Network};
use stroock_kernels::noise::NoiseKey;

use crate::agreement::{Leaf, assert_agreement};
use crate::numbers::uniform;

const SAMPLES: usize = 2;
const SERIES: usize = 4;
const DIM: usize = 3;
const WIDTH: usize = 2;
const UNITS: usize = 5;
const HIDDEN: [usize; 2] = [6, 4];

fn shared() -> (PathGrid, PathRequests) {
    let times = (0..=9).map(|j| 0.1 * f64::from(j) + 0.03 * f64::from(j % 2)).collect();
    let requests = PathRequests { offsets: vec![0, 3, 4, 4, 8], indices: vec![0, 4, 8, 3, 1, 1, 5, 8] };
    (PathGrid::Shared(times), requests)
}

/// Grids of 6, 1, 12 and 2 times: one series stays where it starts.
fn ragged() -> (PathGrid, PathRequests) {
    let (mut offsets, mut times) = (vec![0], Vec::new());
    for (b, count) in [6, 1, 12, 2].into_iter().enumerate() {
        times.extend((0..count).map(|j| 0.02 * b as f64 + 0.07 * f64::from(j) + 0.01 * f64::from(j * j % 3)));
        offsets.push(times.len());
    }
    let requests = PathRequests { offsets: vec![0, 2, 3, 7, 8], indices: vec![1, 5, 0, 0, 6, 6, 11, 1] };
    (PathGrid::PerSeries { offsets, times }, requests)
}

fn plan((grid, requests): (PathGrid, PathRequests), activation: Activation) -> FlowPlan {
    FlowPlan { dim: DIM, samples: SAMPLES, grid, requests, hidden: HIDDEN.to_vec(), activation }
}

fn driven(grid: (PathGrid, PathRequests), contexts: ContextTimes) -> DrivenPlan {
    DrivenPlan {
        flow: plan(grid, Activation::Softplus),
        diffusion_hidden: UNITS,
        noise: PathNoise::Counter { key: NoiseKey::new(3, 1), series: vec![4, 0, 9, 2], first_sample: 6 },
        contexts,
    }
}

fn start() -> Leaf {
    ("start", uniform(SAMPLES * SERIES * DIM, 1))
}

fn network(name: &'static str, inputs: usize, seed: u64) -> Leaf {
    (name, uniform(Network::<f64>::parameters(inputs, &HIDDEN, DIM), seed))
}

fn diffusion() -> Leaf {
    ("diffusion", uniform(Diffusion::<f64>::parameters(DIM, UNITS), 4))
}

fn points(leaf: &Tensor<1>) -> Tensor<3> {
    leaf.clone().reshape([SAMPLES, SERIES, DIM])
}

#[test]
fn without_noise() {
    for activation in [Activation::Elu, Activation::Softplus, Activation::Tanh] {
        for (kind, grid) in [("shared", shared()), ("ragged", ragged())] {
            let plan = plan(grid, activation);
            type Flow = fn(FlowPlan, Tensor<3>, Tensor<1>) -> Result<Tensor<3>, FlowError>;
            let run = |flow: Flow| {
                let plan = plan.clone();
                move |leaves: &[Tensor<1>]| {
                    flow(plan.clone(), points(&leaves[0]), leaves[1].clone()).unwrap().flatten(0, 2)
                }
            };
            let leaves = [start(), network("drift", DIM, 2)];
            let name = format!("{activation:?}, {kind}");
            assert_agreement(&name, &leaves, run(latent::flow), run(plain::flow));
        }
    }
}

#[test]
fn driven_without_a_prior() {
    let plan = driven(ragged(), ContextTimes::Constant);
    type Flow = fn(DrivenPlan, Tensor<3>, Tensor<1>, Tensor<1>) -> Result<Tensor<3>, FlowError>;
    let run = |flow: Flow| {
        let plan = plan.clone();
        move |leaves: &[Tensor<1>]| {
            let [drift, diffusion] = [leaves[1].clone(), leaves[2].clone()];
            flow(plan.clone(), points(&leaves[0]), drift, diffusion).unwrap().flatten(0, 2)
        }
    };
    let leaves = [start(), network("drift", DIM, 2), diffusion()];
    assert_agreement("driven", &leaves, run(latent::driven_flow), run(plain::driven_flow));
}

#[test]
fn with_a_prior_and_contexts() {
    let next =
        RaggedTimes { offsets: vec![0, 2, 3, 7, 8], times: vec![0.1, 0.3, 0.0, 0.0, 0.11, 0.2, 0.9, 0.5] };
    for (name, contexts, count) in
        [("constant", ContextTimes::Constant, SERIES), ("next", ContextTimes::Next(next), 8)]
    {
        for (kind, grid) in [("shared", shared()), ("ragged", ragged())] {
            let plan = driven(grid, contexts.clone());
            type Flow = fn(
                DrivenPlan,
                Tensor<3>,
                Tensor<1>,
                Tensor<2>,
                Tensor<1>,
                Tensor<1>,
            ) -> Result<latent::PathStates, FlowError>;
            let run = |flow: Flow| {
                let plan = plan.clone();
                move |leaves: &[Tensor<1>]| {
                    let context = leaves[2].clone().reshape([count, WIDTH]);
                    let [drift, prior, diffusion] = [1, 3, 4].map(|i| leaves[i].clone());
                    let paths =
                        flow(plan.clone(), points(&leaves[0]), drift, context, prior, diffusion).unwrap();
                    Tensor::cat(vec![paths.states.flatten(0, 2), paths.kl.flatten(0, 1)], 0)
                }
            };
            let leaves = [
                start(),
                network("drift", DIM + WIDTH, 2),
                ("context", uniform(count * WIDTH, 5)),
                network("prior", DIM, 3),
                diffusion(),
            ];
            let name = format!("{name} contexts, {kind} grid");
            assert_agreement(&name, &leaves, run(latent::posterior_flow), run(plain::posterior_flow));
        }
    }
}

#[test]
fn plans_that_do_not_fit_are_errors() {
    let device = Device::flex();
    type Flow = fn(FlowPlan, Tensor<3>, Tensor<1>) -> Result<Tensor<3>, FlowError>;
    for flow in [latent::flow as Flow, plain::flow] {
        let run = |change: &dyn Fn(&mut FlowPlan), parameters: usize| {
            let mut plan = plan(ragged(), Activation::Elu);
            change(&mut plan);
            flow(plan, Tensor::ones([SAMPLES, SERIES, DIM], &device), Tensor::ones([parameters], &device))
        };
        let fits = Network::<f64>::parameters(DIM, &HIDDEN, DIM);
        assert!(run(&|_| (), fits).is_ok());
        assert!(run(&|_| (), fits + 1).is_err());
        assert!(run(&|plan| plan.samples = 3, fits).is_err());
        assert!(run(&|plan| plan.dim = 2, fits).is_err());
        assert!(run(&|plan| plan.hidden = vec![6, 5], fits).is_err());
        assert!(run(&|plan| plan.requests.indices[7] = 2, fits).is_err());
        assert!(run(&|plan| plan.grid = PathGrid::Shared(vec![0.0, 0.0]), fits).is_err());
    }
}
