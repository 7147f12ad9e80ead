//! The choices about a latent path: bound of the divergence, learned prior, space, memory.

mod numbers;
#[allow(dead_code, reason = "another test trains the model")]
mod oscillations;
mod parameters;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use numbers::{doubles, tensor, uniform, unit_vectors};
use oscillations::{batcher, oscillations};
use parameters::{assert_gradients, double, filled, gradients_by_name};
use stroock::batch::{Batch, GridKind};
use stroock::decoder::{Activation, MlpConfig};
use stroock::encoder::TimeAttentionConfig;
use stroock::initial::InitialWeights;
use stroock::latent::{
    DivergenceKind, DriftKind, LatentConfig, LatentConfigError, Memory, PathDrift, PathGrid, PathNoise,
    PathPlan, PathRequests, PathStates, PriorKind, Scheme, Space, frobenius_bound, simulate,
};
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{
    DecoderConfig, EncoderConfig, LatentSdeConfig, ModelSettings, PathDraws, Process, StandardLatentSde,
};
use stroock::objective::ElboWeights;
use stroock::series::Observation;
use stroock::training::{Adam, AdamConfig};
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::PathSolver;
use stroock_testing::finite_difference::{assert_close, gradient};

const SAMPLES: usize = 5;
const SERIES: usize = 3;
const TERMS: usize = 3;
const INTERVAL: (f64, f64) = (0.0, 1.5);

fn grids() -> [PathGrid; 2] {
    let offsets = vec![0, 5, 6, 14];
    let times =
        (0..5).chain(0..1).chain(0..8).map(|j| 0.08 * f64::from(j) + 0.01 * f64::from(j % 2)).collect();
    [PathGrid::Shared((0..=10).map(|j| 0.1 * f64::from(j)).collect()), PathGrid::PerSeries { offsets, times }]
}

fn coefficients(m: usize, seed: u64, device: &Device) -> Tensor<3> {
    tensor(&uniform(SERIES * m * TERMS, seed), [SERIES, m, TERMS], device).mul_scalar(2.0)
}

/// Paths on the sphere of dimension `dim - 1`, and their states at the last times.
fn paths(grid: &PathGrid, dim: usize, drift: Tensor<3>, prior: Option<Tensor<3>>) -> PathStates {
    let device = Device::flex();
    let last = match grid {
        PathGrid::Shared(times) => vec![times.len() - 1; SERIES],
        PathGrid::PerSeries { offsets, .. } => offsets.windows(2).map(|pair| pair[1] - pair[0] - 1).collect(),
    };
    let plan = PathPlan {
        space: Space::Sphere,
        dim,
        samples: SAMPLES,
        grid: grid.clone(),
        drift: PathDrift::Chebyshev { terms: TERMS, interval: INTERVAL },
        noise: PathNoise::Counter { key: NoiseKey::new(2, 0), series: vec![0, 1, 2], first_sample: 0 },
        requests: PathRequests { offsets: (0..=SERIES).collect(), indices: last },
        solver: PathSolver::default(),
    };
    let start = tensor(&unit_vectors(SAMPLES * SERIES, dim, 4), [SAMPLES, SERIES, dim], &device);
    simulate(plan, start, drift, tensor(&[0.3], [1], &device), prior).unwrap()
}

#[test]
fn the_bound_lies_above_the_divergence_of_every_path_and_on_it_in_the_plane() {
    let device = Device::flex();
    for grid in grids() {
        for dim in [2, 3, 6] {
            for with_prior in [false, true] {
                let m = Space::Sphere.algebra_dim(dim);
                let drift = coefficients(m, 1, &device);
                let prior = with_prior.then(|| coefficients(m, 2, &device));
                let difference = match &prior {
                    Some(prior) => drift.clone() - prior.clone(),
                    None => drift.clone(),
                };
                let bound =
                    doubles(frobenius_bound(&grid, INTERVAL, difference, tensor(&[0.3], [1], &device)));
                for (row, kl) in doubles(paths(&grid, dim, drift, prior).kl).into_iter().enumerate() {
                    let bound = bound[row % SERIES];
                    if dim == 2 {
                        assert_close("in the plane", &[kl], &[bound], 1e-12);
                    } else {
                        // Equal only without steps.
                        assert!(kl < bound || (kl, bound) == (0.0, 0.0), "{kl} is above {bound}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_bound_is_the_sum_that_it_stands_for() {
    let (device, sigma) = (Device::flex(), 0.3);
    let m = 3;
    let difference = doubles(coefficients(m, 1, &device));
    // T_0, T_1 and T_2.
    let drift = |b: usize, k: usize, s: f64| {
        let c = &difference[(b * m + k) * TERMS..(b * m + k + 1) * TERMS];
        c[0] + c[1] * s + c[2] * (2.0 * s * s - 1.0)
    };
    for grid in grids() {
        let expected: Vec<f64> = (0..SERIES)
            .map(|b| {
                let times = match &grid {
                    PathGrid::Shared(times) => &times[..],
                    PathGrid::PerSeries { offsets, times } => &times[offsets[b]..offsets[b + 1]],
                };
                let step = |pair: &[f64]| {
                    let squares = (0..m).map(|k| drift(b, k, pair[0] / 1.5).powi(2)).sum::<f64>();
                    (pair[1] - pair[0]) * squares / (2.0 * sigma * sigma)
                };
                times.windows(2).map(step).sum()
            })
            .collect();
        let difference = tensor(&difference, [SERIES, m, TERMS], &device);
        let bound = frobenius_bound(&grid, INTERVAL, difference, tensor(&[sigma], [1], &device));
        assert_close("bound", &doubles(bound), &expected, 1e-13);
    }
}

#[test]
fn gradients_of_the_bound_are_those_of_finite_differences() {
    let device = Device::flex().autodiff();
    let count = SERIES * 3 * TERMS;
    for grid in grids() {
        let start = [uniform(count, 3), vec![0.4]].concat();
        let loss = |x: Tensor<1>| {
            let difference = x.clone().narrow(0, 0, count).reshape([SERIES, 3, TERMS]);
            let bound = frobenius_bound(&grid, INTERVAL, difference, x.narrow(0, count, 1));
            (bound * tensor(&[1.0, 0.7, -0.4], [SERIES], &device)).sum()
        };
        let x = tensor(&start, [count + 1], &device).require_grad();
        let gradients = loss(x.clone()).backward();
        let exact = doubles(x.grad(&gradients).expect("a gradient"));
        let numeric = gradient(&start, 1e-3, |x| doubles(loss(tensor(x, [count + 1], &device)))[0]);
        assert_close("bound", &exact, &numeric, 1e-9);
    }
}

#[test]
fn a_prior_without_drift_is_the_driftless_one_and_the_drift_itself_is_no_distance() {
    let device = Device::flex();
    for grid in grids() {
        let drift = coefficients(6, 1, &device);
        let [driftless, zero, same] = [None, Some(drift.zeros_like()), Some(drift.clone())]
            .map(|prior| paths(&grid, 4, drift.clone(), prior));
        let states = doubles(driftless.states);
        assert_eq!(states, doubles(zero.states));
        assert_eq!(states, doubles(same.states), "the prior moves no path");
        assert_eq!(doubles(driftless.kl), doubles(zero.kl));
        assert_eq!(doubles(same.kl), [0.0; SAMPLES * SERIES]);
    }
}

fn model(latent: LatentConfig, device: &Device) -> StandardLatentSde {
    let attention =
        TimeAttentionConfig { hidden: 6, embedding: 4, reference_points: 5, stretched: true, local_heads: 0 };
    let config = LatentSdeConfig {
        observation: Observation::Vector { channels: 2 },
        encoder: EncoderConfig::TimeAttention(attention),
        latent,
        decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![8], activation: Activation::Tanh }),
        likelihood: LikelihoodKind::Gaussian { scale: 0.3, scale_kind: ScaleKind::PerChannel },
        task: None,
    };
    config.init(&mut InitialWeights::new(3, device)).unwrap().materialize()
}

fn latent() -> LatentConfig {
    let drift = DriftKind::Chebyshev { terms: TERMS, interval: (0.0, 2.0) };
    LatentConfig { dim: 3, drift, sigma: 0.3, ..LatentConfig::default() }
}

fn batches() -> [Batch; 2] {
    let data = oscillations(3, 2);
    let regular = stroock::batch::Batcher { grid: GridKind::Regular { points: 20 }, ..batcher() };
    [batcher(), regular].map(|batcher| batcher.assemble(&data, &[0, 1, 2], NoiseKey::new(5, 0)).unwrap())
}

fn loss(model: &StandardLatentSde, batch: &Batch, epoch: u64) -> Tensor<1> {
    let draws = PathDraws { key: NoiseKey::new(1, epoch), samples: 2, first_sample: 0 };
    let weights = ElboWeights { kl_start: 1e-2, kl_path: 1e-1, ..ElboWeights::default() };
    model.bound(batch, draws).unwrap().losses(weights, batch).mean()
}

#[test]
fn models_with_the_bound_and_with_a_learned_prior_begin_as_the_usual_one() {
    let device = Device::flex().autodiff();
    let usual = model(latent(), &device);
    let bounded = model(LatentConfig { divergence: DivergenceKind::FrobeniusBound, ..latent() }, &device);
    let learned = model(LatentConfig { prior: PriorKind::Learned, ..latent() }, &device);
    let draws = PathDraws { key: NoiseKey::new(1, 0), samples: 4, first_sample: 0 };
    for batch in batches() {
        let [usual, bounded, learned] =
            [&usual, &bounded, &learned].map(|model| model.bound(&batch, draws).unwrap());
        assert_eq!(doubles(usual.states.clone()), doubles(bounded.states));
        assert_eq!(doubles(usual.states), doubles(learned.states));
        assert_eq!(doubles(usual.parts.kl_path.clone()), doubles(learned.parts.kl_path));
        for (kl, bound) in doubles(usual.parts.kl_path).into_iter().zip(doubles(bounded.parts.kl_path)) {
            assert!(kl < bound, "{kl} is not below {bound}");
        }
    }
}

#[test]
fn gradients_of_the_learned_prior_are_those_of_finite_differences() {
    let device = Device::flex().autodiff();
    for divergence in [DivergenceKind::MonteCarlo, DivergenceKind::FrobeniusBound] {
        let model = model(LatentConfig { prior: PriorKind::Learned, divergence, ..latent() }, &device);
        let mut model = filled(model, 0.6, 30);
        model.process.sigma = burn::module::Param::from_tensor(Tensor::full([1], 0.3, &device));
        for batch in batches() {
            let chosen =
                |name: &str| ["process.prior", "process.drift.bias", "process.sigma"].contains(&name);
            assert_gradients(&model, |model| loss(model, &batch, 0), chosen, 9, 1e-7);
        }
    }
}

#[test]
fn reversible_memory_gives_the_gradients_of_stored_states() {
    let device = Device::flex().autodiff();
    for (space, prior) in [
        (Space::Sphere, PriorKind::Driftless),
        (Space::Sphere, PriorKind::Learned),
        (Space::GeneralLinear, PriorKind::Driftless),
    ] {
        let gradients = |memory, batch: &Batch| {
            let model = double(&model(LatentConfig { space, prior, memory, ..latent() }, &device));
            let gradients = loss(&model, batch, 0).backward();
            gradients_by_name(&model, &gradients)
        };
        for batch in batches() {
            let stored = gradients(Memory::Stored, &batch);
            let reversible = gradients(Memory::Reversible, &batch);
            for ((name, _, stored), (_, _, reversible)) in stored.iter().zip(&reversible) {
                assert_close(name, reversible, stored, 1e-11);
            }
        }
    }
}

/// From a configuration, with any space, drift and scheme: the loss falls, and states stay on the space.
fn learns(choices: LatentConfig) {
    let device = Device::flex().autodiff();
    let [batch, _] = batches();
    let mut model = model(choices, &device);
    let before = doubles(loss(&model, &batch, 0))[0];
    let mut adam = Adam::new(AdamConfig::default());
    for epoch in 0..60 {
        let loss = loss(&model, &batch, epoch);
        assert!(doubles(loss.clone())[0].is_finite(), "epoch {epoch}");
        let gradients = loss.backward();
        model = adam.step(model, &gradients, 5e-3);
    }
    let after = doubles(loss(&model, &batch, 0))[0];
    assert!(after < 0.8 * before, "{choices:?}: loss {before} -> {after}");
    let draws = PathDraws { key: NoiseKey::new(2, 0), samples: 3, first_sample: 0 };
    let posterior = model.bound(&batch, draws).unwrap().states;
    let prior = model.process.prior_paths(&batch, draws).unwrap().states;
    for z in [doubles(posterior), doubles(prior)].concat().chunks(choices.dim) {
        assert_eq!(choices.space.misfit(z), None);
    }
}

#[test]
fn a_model_on_hyperbolic_space_learns() {
    learns(LatentConfig { space: Space::Hyperbolic, ..latent() });
    let prior = PriorKind::Learned;
    learns(LatentConfig { space: Space::Hyperbolic, prior, scheme: Scheme::TangentNoise, ..latent() });
}

#[test]
fn a_model_with_a_drift_between_knots_learns() {
    let drift = DriftKind::PiecewiseLinear { knots: 5, interval: (0.0, 1.0) };
    learns(LatentConfig { drift, ..latent() });
    learns(LatentConfig { drift, prior: PriorKind::Learned, scheme: Scheme::TangentNoise, ..latent() });
}

#[test]
fn gradients_of_new_choices_are_those_of_finite_differences() {
    let device = Device::flex().autodiff();
    let knots = DriftKind::PiecewiseLinear { knots: 4, interval: (0.1, 0.9) };
    for choices in [
        LatentConfig { space: Space::Hyperbolic, ..latent() },
        LatentConfig { drift: knots, scheme: Scheme::TangentNoise, ..latent() },
    ] {
        let choices = LatentConfig { prior: PriorKind::Learned, ..choices };
        let mut model = filled(model(choices, &device), 0.6, 30);
        model.process.sigma = burn::module::Param::from_tensor(Tensor::full([1], 0.3, &device));
        let [batch, _] = batches();
        // Start points on the sphere follow their mean direction by parallel transport: their gradients are unbiased, but
        // not those of differences at fixed noise.
        let start = if choices.space == Space::Sphere { "" } else { "process.mu.bias" };
        let chosen =
            |name: &str| ["process.prior", "process.drift.bias", "process.sigma", start].contains(&name);
        assert_gradients(&model, |model| loss(model, &batch, 0), chosen, 9, 1e-6);
    }
}

#[test]
fn choices_are_written_and_read() {
    let choices = LatentConfig {
        space: Space::Hyperbolic,
        drift: DriftKind::PiecewiseLinear { knots: 4, interval: (0.0, 1.0) },
        scheme: Scheme::TangentNoise,
        ..latent()
    };
    let text = serde_json::to_string(&choices).unwrap();
    assert!(text.contains(r#""scheme":"tangent-noise""#), "{text}");
    assert_eq!(serde_json::from_str::<LatentConfig>(&text).unwrap(), choices);
}

#[test]
fn a_model_on_the_general_linear_group_learns() {
    let device = Device::flex().autodiff();
    let [batch, _] = batches();
    let choices = LatentConfig { space: Space::GeneralLinear, ..latent() };
    assert_eq!(choices.algebra_dim(), 9);
    let mut model = model(choices, &device);
    let before = doubles(loss(&model, &batch, 0))[0];
    let mut adam = Adam::new(AdamConfig::default());
    for epoch in 0..60 {
        let loss = loss(&model, &batch, epoch);
        assert!(doubles(loss.clone())[0].is_finite(), "epoch {epoch}");
        let gradients = loss.backward();
        model = adam.step(model, &gradients, 5e-3);
    }
    let after = doubles(loss(&model, &batch, 0))[0];
    assert!(after < 0.8 * before, "loss {before} -> {after}");
}

#[test]
fn choices_that_cannot_be_are_refused_with_a_sentence() {
    let refused = |config: LatentConfig| config.check().unwrap_err().to_string();
    assert_eq!(latent().check(), Ok(()));
    assert_eq!(
        refused(LatentConfig { dim: 1, ..latent() }),
        "`latent.dim` is 1; a path needs at least 2 dimensions there"
    );
    for sigma in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        let words = format!("`latent.sigma` is {sigma}; it must be positive and finite");
        assert_eq!(refused(LatentConfig { sigma, ..latent() }), words);
    }
    for (terms, interval) in
        [(0, (0.0, 1.0)), (2, (1.0, 1.0)), (2, (0.0, f64::INFINITY)), (2, (f64::NAN, 1.0))]
    {
        let drift = DriftKind::Chebyshev { terms, interval };
        assert_eq!(LatentConfig { drift, ..latent() }.check(), Err(LatentConfigError::Drift));
    }
    let bound =
        LatentConfig { space: Space::GeneralLinear, divergence: DivergenceKind::FrobeniusBound, ..latent() };
    assert!(refused(bound).contains("holds on the sphere only"));
    assert!(refused(LatentConfig { space: Space::Hyperbolic, ..bound }).contains("holds on the sphere only"));
    let drift = DriftKind::PiecewiseLinear { knots: 3, interval: (0.0, 1.0) };
    let knots = LatentConfig { space: Space::Sphere, drift, ..bound };
    assert_eq!(knots.check(), Err(LatentConfigError::BoundOfDrift));
    let one = DriftKind::PiecewiseLinear { knots: 1, interval: (0.0, 1.0) };
    assert_eq!(LatentConfig { drift: one, ..latent() }.check(), Err(LatentConfigError::Drift));
    let scheme = Scheme::TangentNoise;
    let reversible = LatentConfig { scheme, memory: Memory::Reversible, ..latent() };
    assert_eq!(reversible.check(), Err(LatentConfigError::Memory));
}
