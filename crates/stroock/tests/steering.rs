//! What steers paths is what the kernels steer them by, and paths are as wide about it as it says.

mod numbers;
#[allow(dead_code, reason = "another test trains the model")]
mod oscillations;

use burn::module::Module;
use burn::tensor::{DType, Device, Tensor};
use numbers::{doubles, tensor, unit_vectors};
use oscillations::{batcher, oscillations};
use stroock::batch::{Batch, Batcher, GridKind, TimeAxis};
use stroock::decoder::MlpConfig;
use stroock::encoder::{Encoder, KnotEncoderConfig, KnotPositions};
use stroock::initial::InitialWeights;
use stroock::latent::{
    KnotPrior, MarginalConfig, Memory, PathDrift, PathGrid, PathNoise, PathPlan, PathRequests, Scheme, Space,
    SteeredConfig, Steering, simulate,
};
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{
    DecoderConfig, KnotLatentConfig, KnotProcess, KnotSdeConfig, ModelConfig, ModelSettings, OutputParts,
    PathDraws, SeriesModel, StandardKnotSde, StandardModel,
};
use stroock::predict::Predictor;
use stroock::series::Observation;
use stroock_kernels::moebius::{MoebiusProcess, SeriesTimes};
use stroock_kernels::noise::NoiseKey;
use stroock_kernels::path::PathSolver;
use stroock_kernels::simd::Level;
use stroock_testing::statistics::estimate;

const DIM: usize = 5;

fn steered(prior: KnotPrior) -> KnotLatentConfig {
    KnotLatentConfig::Steered(SteeredConfig { dim: DIM, prior, ..SteeredConfig::default() })
}

fn marginal() -> KnotLatentConfig {
    KnotLatentConfig::Marginal(MarginalConfig { dim: DIM, width: 0.5, ..MarginalConfig::default() })
}

fn config(latent: KnotLatentConfig) -> KnotSdeConfig {
    KnotSdeConfig {
        observation: Observation::Vector { channels: 2 },
        encoder: KnotEncoderConfig {
            hidden: 12,
            width: 12,
            positions: KnotPositions { observed: true, even: 9, end: 1.0 },
            ..KnotEncoderConfig::default()
        },
        latent,
        decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![12], ..MlpConfig::default() }),
        likelihood: LikelihoodKind::Gaussian { scale: 0.3, scale_kind: ScaleKind::PerChannel },
        task: None,
    }
}

fn model(latent: KnotLatentConfig) -> StandardKnotSde {
    config(latent).init(&mut InitialWeights::new(3, &Device::flex())).unwrap().materialize()
}

fn batch(numbers: &[usize]) -> Batch {
    batcher().assemble(&oscillations(6, 2), numbers, NoiseKey::new(2, 0)).unwrap()
}

fn draws(samples: usize) -> PathDraws {
    PathDraws { key: NoiseKey::new(4, 0), samples, first_sample: 0 }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The flow of `b - <b, z> z` for the time `dt`, by its Möbius map.
fn flow(z: &[f64], b: &[f64], dt: f64) -> Vec<f64> {
    let norm = dot(b, b).sqrt();
    let psi: Vec<f64> = b.iter().map(|b| (0.5 * norm * dt).tanh() * b / norm).collect();
    let s: Vec<f64> = z.iter().zip(&psi).map(|(z, psi)| z + psi).collect();
    let q = (1.0 - dot(&psi, &psi)) / dot(&s, &s);
    s.iter().zip(&psi).map(|(s, psi)| q * s + psi).collect()
}

/// Paths of the kernel without noise go from grid point to grid point as the vectors there say.
#[test]
fn vectors_of_steered_paths_are_those_of_the_kernel() {
    let mut batch = batch(&[1, 4]);
    // States at all points of the grids.
    let PathGrid::PerSeries { offsets, .. } = batch.grid.clone() else { unreachable!() };
    let indices = offsets.windows(2).flat_map(|run| 0..run[1] - run[0]).collect();
    batch.requests = PathRequests { offsets: offsets.clone(), indices };

    let model = model(steered(KnotPrior::Driftless));
    let steering = model.steering(&batch).unwrap().unwrap();
    assert_eq!(steering.vectors.len(), offsets[2] * DIM);

    let KnotProcess::Steered(process) = &model.process else { unreachable!() };
    let knots = model.encoder.encode(&batch.input).unwrap();
    let vectors = process.parameters(&knots).steering.cast(DType::F64);
    let device = Device::flex();
    let start = unit_vectors(2, DIM, 1);
    let steps = offsets.windows(2).map(|run| run[1] - run[0] - 1).max().unwrap();
    let plan = PathPlan {
        space: Space::Sphere,
        dim: DIM,
        samples: 1,
        grid: batch.grid.clone(),
        drift: PathDrift::PiecewiseLinear {
            knots: PathGrid::PerSeries { offsets: knots.offsets, times: knots.times },
        },
        noise: PathNoise::Counter { key: NoiseKey::new(1, 0), series: vec![0, 1], first_sample: 0 },
        requests: batch.requests.clone(),
        solver: PathSolver { level: Level::detect(), memory: Memory::Stored, scheme: Scheme::Steered },
    };
    assert!(steps > 10);
    // Noise of this size is none.
    let sigma = tensor(&[1e-14], [1], &device);
    let paths =
        simulate(plan, tensor(&start, [1, 2, DIM], &device), vectors.unsqueeze_dim(0), sigma, None).unwrap();
    let states = doubles(paths.states);
    for (b, first) in offsets.iter().take(2).enumerate() {
        let times = batch.grid.of_series(b);
        for j in 0..times.len() - 1 {
            let place = first + j;
            let [z, next] = [place, place + 1].map(|place| &states[place * DIM..][..DIM]);
            let led = flow(z, &steering.vectors[place * DIM..][..DIM], times[j + 1] - times[j]);
            let error = led.iter().zip(next).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error < 1e-10, "series {b}, step {j}: {error}");
        }
    }
    let norm = |vector: &[f64]| dot(vector, vector).sqrt();
    assert!(steering.vectors.chunks(DIM).zip(&steering.gains).all(|(b, gain)| norm(b) == *gain));
    assert!(steering.gains.iter().all(|gain| *gain > 1.0), "an untrained model steers");
}

#[test]
fn nothing_steers_beyond_the_last_knot() {
    let axis = TimeAxis { start: -0.1, end: 1.1, horizon: 4.0 };
    let far = Batcher {
        input_axis: TimeAxis { horizon: 0.9, ..axis },
        grid_axis: axis,
        grid: GridKind::Observations { largest_step: 0.02 },
        ..batcher()
    };
    let data = oscillations(2, 2);
    let model = model(steered(KnotPrior::Attractor));
    let times = [vec![0.0, 0.1, 0.18, 1.0, 1.05]];
    let batch = far.ask(&data, &[1], &times).unwrap();
    let steering = model.steering(&batch).unwrap().unwrap();
    // The last knot is at 1 in model time, and one step of 1/8 later nothing steers.
    let later = batch.request_times().iter().position(|time| *time > 1.125).unwrap();
    assert_eq!(later, 3);
    assert!(steering.gains[..later].iter().all(|gain| *gain > 1.0), "{:?}", steering.gains);
    assert_eq!(steering.gains[later..], [0.0; 2]);
    assert!(steering.widths[later..].iter().all(|width| (width * width * DIM as f64 - 1.0).abs() < 1e-12));
    assert_eq!(steering.direction(later), None);
}

/// The variance across a pull `b` with `2 |b| / sigma^2 = kappa`.
fn variance_of_pull(n: usize, kappa: f64) -> f64 {
    let mut b = vec![0.0; n];
    b[0] = 0.5 * kappa * 0.04;
    Steering::of_pull(n, b, 0.2).widths[0].powi(2)
}

/// The variance of the marginal of a point of the ball with the radius `r`.
fn variance_of_marginal(n: usize, r: f64) -> f64 {
    let mut psi = vec![0.0; n];
    psi[0] = r;
    Steering::of_marginals(n, psi, 1.0).widths[0].powi(2)
}

#[test]
fn the_width_of_a_pull_has_its_closed_form_on_the_two_dimensional_sphere() {
    for kappa in [1e-3, 0.1, 1.0, 7.0, 40.0, 300.0, 2e3] {
        // For small ones the closed form cancels.
        let exact: f64 = match kappa < 0.05 {
            true => 1.0 / 3.0 - kappa * kappa / 45.0,
            false => (1.0 / f64::tanh(kappa) - 1.0 / kappa) / kappa,
        };
        let found = variance_of_pull(3, kappa);
        assert!((found / exact - 1.0).abs() < 1e-9, "{kappa}: {found} {exact}");
    }
}

/// Strong steering has the variance of a linear equation, `sigma^2 / (2 |b|)`, or of Cauchy's distribution; without any,
/// states are uniform.
#[test]
fn widths_have_the_limits_of_strong_and_of_no_steering() {
    for n in [2, 3, 6, 16, 64] {
        for kappa in [1e5, 1e8] {
            let found = kappa * variance_of_pull(n, kappa);
            let expected = 1.0 - 0.5 * (n as f64 - 1.0) / kappa;
            assert!((found - expected).abs() < 1e-6, "{n} {kappa}: {found} {expected}");
        }
        for found in [variance_of_pull(n, 0.0), variance_of_marginal(n, 0.0)] {
            assert!((found - 1.0 / n as f64).abs() < 1e-12, "{n}: {found}");
        }
    }
    for n in [5, 6, 16, 64] {
        let eps = 1e-4;
        let found = variance_of_marginal(n, 1.0 - eps) * (n as f64 - 3.0) / (eps * eps);
        assert!((found - 1.0).abs() < 2e-2, "{n}: {found}");
    }
}

/// `|z - <z, d> d|^2 / (n - 1)` of a state about a direction.
fn square_across(z: &[f64], direction: &[f64]) -> f64 {
    (1.0 - dot(z, direction).powi(2)) / (direction.len() as f64 - 1.0)
}

#[test]
fn steered_paths_settle_at_the_width() {
    let device = Device::flex();
    let (samples, rounds) = (1000, 20);
    for (n, pull, sigma) in [(3, 3.0, 0.5), (3, 0.4, 1.0), (6, 2.0, 0.7)] {
        let mut b = vec![0.0; n];
        (b[0], b[n - 1]) = (0.6 * pull, 0.8 * pull);
        let steering = Steering::of_pull(n, b.clone(), sigma);
        let direction = steering.direction(0).unwrap();
        // Long enough to forget the start, in steps short enough for their bias not to be seen.
        let (end, steps) = (8.0 / (pull + 0.5 * sigma * sigma), 1000);
        let mut squares = Vec::new();
        for round in 0..rounds {
            let first_sample = round * samples as u32;
            let plan = PathPlan {
                space: Space::Sphere,
                dim: n,
                samples,
                grid: PathGrid::Shared((0..=steps).map(|j| end * j as f64 / steps as f64).collect()),
                drift: PathDrift::PiecewiseLinear { knots: PathGrid::Shared(vec![0.0]) },
                noise: PathNoise::Counter { key: NoiseKey::new(5, 0), series: vec![0], first_sample },
                requests: PathRequests { offsets: vec![0, 1], indices: vec![steps] },
                solver: PathSolver {
                    level: Level::detect(),
                    memory: Memory::Stored,
                    scheme: Scheme::Steered,
                },
            };
            let start = tensor(&direction, [1, 1, n], &device).repeat_dim(0, samples);
            let (vectors, sigma) = (tensor(&b, [1, 1, n], &device), tensor(&[sigma], [1], &device));
            let states = doubles(simulate(plan, start, vectors, sigma, None).unwrap().states);
            squares.extend(states.chunks(n).map(|z| square_across(z, &direction)));
        }
        let found = estimate(squares);
        found.assert_mean(&format!("n = {n}"), steering.widths[0].powi(2));
        assert!(found.standard_error < 0.01 * found.mean);
    }
}

#[test]
fn marginals_are_drawn_about_the_direction_and_in_the_width() {
    let (batch, samples) = (batch(&[0, 3]), 20_000);
    let model = model(marginal());
    let steering = model.steering(&batch).unwrap().unwrap();
    let outputs = model.outputs(&batch, draws(samples), OutputParts::OBSERVATIONS).unwrap();
    let states: Tensor<3> = outputs.states.unwrap();
    let points = states.dims()[1];
    let states = doubles(states.cast(DType::F64));
    for point in 0..points {
        let direction = steering.direction(point).unwrap();
        let of_point = || (0..samples).map(|s| states[(s * points + point) * DIM..][..DIM].to_vec());
        let squares = estimate(of_point().map(|z| square_across(&z, &direction)));
        squares.assert_mean(&format!("point {point}"), steering.widths[point].powi(2));
        for axis in 0..DIM {
            let across = estimate(of_point().map(|z| z[axis] - dot(&z, &direction) * direction[axis]));
            across.assert_mean(&format!("point {point}, axis {axis}"), 0.0);
        }
    }
}

/// The gain is how fast the kernel's drift grows away from the direction.
#[test]
fn gains_of_marginals_are_the_slope_of_the_drift() {
    for (n, eps, sigma) in [(3, 0.1, 0.5), (5, 0.8, 0.3), (16, 0.02, 1.2)] {
        let mut w = vec![0.0; n];
        (w[0], w[1]) = (3.0, 4.0);
        let knots = SeriesTimes { offsets: &[0, 1], times: &[0.0] };
        let process = MoebiusProcess { dim: n, knots, positions: &w, widths: &[eps], sigma };
        let psi = process.psi(SeriesTimes { offsets: &[0, 1], times: &[0.7] }).unwrap();
        let steering = Steering::of_marginals(n, psi, sigma);
        let direction = steering.direction(0).unwrap();
        // A tangent vector at the direction.
        let mut e = vec![0.0; n];
        (e[0], e[1]) = (-0.8, 0.6);
        let h = 1e-4 * eps;
        let along = |angle: f64| {
            let z: Vec<f64> =
                direction.iter().zip(&e).map(|(d, e)| angle.cos() * d + angle.sin() * e).collect();
            dot(&process.drift(0, 0.7, &z).unwrap(), &e)
        };
        let slope = (along(h) - along(-h)) / (2.0 * h);
        let gain = steering.gains[0];
        assert!((slope + gain).abs() < 1e-6 * gain, "n = {n}: {slope} {gain}");
    }
}

#[test]
fn a_predictor_asks_any_model() {
    let data = oscillations(3, 2);
    let config = ModelConfig::from(config(steered(KnotPrior::Driftless)));
    let model: StandardModel = config.init(&mut InitialWeights::new(3, &Device::flex())).unwrap();
    let batcher = batcher();
    let predictor = Predictor { model: &model, batcher: &batcher, residual: None };
    let times = [vec![0.1, 0.3, 0.8], vec![0.5]];
    let both = predictor.steering(&data, &[2, 0], &times).unwrap().unwrap();
    assert_eq!(both.iter().map(|steering| steering.gains.len()).collect::<Vec<_>>(), [3, 1]);
    let alone = predictor.steering(&data, &[0], &times[1..]).unwrap().unwrap();
    assert_eq!(both[1..], alone[..]);

    let plain = oscillations::model(2, 4, 8, &Device::flex());
    let predictor = Predictor { model: &plain, batcher: &batcher, residual: None };
    assert_eq!(predictor.steering(&data, &[0], &times[1..]).unwrap(), None);
}
