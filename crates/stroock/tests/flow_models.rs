//! Latent models in `R^n`: they train, are saved and loaded, resume to the same bits, and sample from their priors.

mod numbers;
#[allow(dead_code, reason = "another test trains the model")]
mod oscillations;
mod parameters;
mod resumed;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use numbers::doubles;
use oscillations::{batcher, oscillations};
use parameters::{assert_gradients, filled};
use resumed::trained_as_in_parts;
use stroock::batch::Batch;
use stroock::decoder::MlpConfig;
use stroock::encoder::{OdeRnnConfig, TimeAttentionConfig};
use stroock::initial::InitialWeights;
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{
    DataDescription, DecoderConfig, Description, EncoderConfig, LatentOdeConfig, ModelConfig, ModelSettings,
    NeuralSdeConfig, Ode2VaeConfig, OdeConfig, OdeOdeConfig, OutputParts, PathDraws, PredictionKind,
    SdeConfig, SecondOrderConfig, SeriesModel, StandardModel, StartDensity,
};
use stroock::objective::ElboWeights;
use stroock::predict::Predictor;
use stroock::series::Observation;
use stroock::task::{TaskConfig, TaskKind};
use stroock::training::TrainingConfig;
use stroock_kernels::noise::NoiseKey;

const DIM: usize = 3;

/// One model of each kind.
fn configs() -> Vec<ModelConfig> {
    let observation = Observation::Vector { channels: 2 };
    let attention =
        TimeAttentionConfig { hidden: 6, embedding: 4, reference_points: 5, stretched: true, local_heads: 0 };
    let encoder = EncoderConfig::TimeAttention(attention);
    let decoder = DecoderConfig::Mlp(MlpConfig { hidden: vec![5], ..MlpConfig::default() });
    let likelihood = LikelihoodKind::Gaussian { scale: 0.3, scale_kind: ScaleKind::PerChannel };
    let latent = OdeConfig { dim: DIM, hidden: vec![7, 5] };
    let ode = LatentOdeConfig {
        observation,
        encoder: encoder.clone(),
        latent,
        decoder: decoder.clone(),
        likelihood,
        task: None,
    };
    let latent = SdeConfig { dim: DIM, hidden: vec![7, 5], diffusion_hidden: 4 };
    let sde = NeuralSdeConfig {
        observation,
        encoder: encoder.clone(),
        latent,
        decoder: decoder.clone(),
        likelihood,
        task: None,
    };
    let latent =
        SecondOrderConfig { dim: DIM, hidden: 7, variance: 1e-2, substeps: 2, density: StartDensity::Exact };
    let second_order = Ode2VaeConfig {
        observation,
        encoder,
        latent,
        decoder,
        likelihood,
        weight_divergence: 0.01,
        encoder_divergence: None,
        prediction: PredictionKind::Draws,
    };
    let with_encoders = Ode2VaeConfig {
        encoder_divergence: Some(0.1),
        prediction: PredictionKind::Mean,
        ..second_order.clone()
    };
    let own_encoder = OdeOdeConfig {
        encoder: OdeRnnConfig { frames: None, state: 4, hidden: vec![6, 5], gates: 3 },
        start_hidden: 8,
        latent: OdeConfig { dim: DIM, hidden: vec![7, 5] },
        scale: 0.3,
        ..OdeOdeConfig::new(observation, second_order.decoder.clone())
    };
    vec![ode.into(), sde.into(), second_order.into(), with_encoders.into(), own_encoder.into()]
}

fn init(config: &ModelConfig, seed: u64, device: &Device) -> StandardModel {
    config.init(&mut InitialWeights::new(seed, device)).unwrap().materialize()
}

fn batch() -> Batch {
    batcher().assemble(&oscillations(5, 2), &[3, 0, 4], NoiseKey::new(1, 0)).unwrap()
}

fn draws(samples: usize) -> PathDraws {
    PathDraws { key: NoiseKey::new(6, 0), samples, first_sample: 2 }
}

fn weights() -> ElboWeights {
    ElboWeights { kl_start: 0.3, kl_path: 0.2, ..ElboWeights::default() }
}

#[test]
fn gradients_of_all_parameters_are_those_of_finite_differences() {
    let batch = batch();
    // The trace of a network of ReLU units jumps where one of them falls silent: differences see that, gradients do not.
    // Those of ODE2VAE are compared with independent code instead.
    let is_smooth = |config: &ModelConfig| !matches!(config, ModelConfig::Ode2vae(_));
    for config in configs().into_iter().filter(is_smooth) {
        let model = init(&config, 3, &Device::flex().autodiff());
        let model = match config {
            // Its standard deviations are close to 0 at first, where their logarithms are steep; and they are magnitudes,
            // whose kinks differences must not reach across, as they do with some seeds.
            ModelConfig::OdeOde(_) => filled(model, 0.5, 11),
            _ => model,
        };
        let loss = |model: &StandardModel| -> Tensor<1> {
            model.objective(&batch, draws(2), weights()).unwrap().losses.mean()
        };
        assert_gradients(
            &model,
            loss,
            |name| name.contains("process") || name.starts_with("OdeOde.") && !name.contains("decoder"),
            6,
            1e-6,
        );
    }
}

#[test]
fn a_series_does_not_depend_on_its_neighbours() {
    let data = oscillations(20, 2);
    for config in configs() {
        let model = init(&config, 3, &Device::flex());
        let states = |numbers: &[usize]| {
            let batch = batcher().assemble(&data, numbers, NoiseKey::new(1, 0)).unwrap();
            let outputs = model.outputs(&batch, draws(1), OutputParts::ALL).unwrap();
            let states = outputs.states.expect("states");
            (batch.requests.offsets.clone(), states.dims()[2], doubles(states))
        };
        let all: Vec<usize> = (0..20).collect();
        let (offsets, n, together) = states(&all);
        for b in [0, 7, 19] {
            let (.., alone) = states(&[b]);
            assert_eq!(alone, together[offsets[b] * n..offsets[b + 1] * n], "{} {b}", config.kind());
        }
    }
}

#[test]
fn priors_are_sampled_whatever_the_series_are() {
    let batch = batch();
    for config in configs() {
        let model = init(&config, 3, &Device::flex());
        let states = |draws| {
            let outputs = model.prior_outputs(&batch, draws, OutputParts::ALL).unwrap();
            let mean = outputs.mean.expect("means");
            assert_eq!(mean.dims(), [draws.samples, batch.requests.indices.len(), 2]);
            doubles(outputs.states.expect("states"))
        };
        let all = states(draws(100));
        assert_eq!(all[..all.len() / 100], states(draws(1)), "{}", config.kind());
        let (one, other) = (states(draws(1)), states(PathDraws { first_sample: 9, ..draws(1) }));
        assert!(one != other && all.iter().all(|z| z.is_finite()), "{}", config.kind());
    }
}

#[test]
fn divergences_are_those_of_their_definitions() {
    let batch = batch();
    for config in configs() {
        let model = init(&config, 3, &Device::flex());
        let objective = model.objective(&batch, draws(1), weights()).unwrap();
        let part = |name: &str| {
            let found = objective.parts.iter().find(|(part, _)| *part == name).expect("the part");
            doubles(found.1.clone())
        };
        if let ModelConfig::Ode2vae(second_order) = &config {
            assert!(part("kl_weights").iter().all(|kl| *kl > 0.0 && *kl == part("kl_weights")[0]));
            let with_encoders = objective.parts.iter().any(|(part, _)| *part == "kl_encoder");
            assert_eq!(with_encoders, second_order.encoder_divergence.is_some());
            continue;
        }
        if let ModelConfig::OdeOde(_) = &config {
            assert!(part("kl_start").iter().all(|kl| *kl > 0.0));
            continue;
        }
        assert!(part("kl_start").iter().all(|kl| *kl > 0.0), "{}", config.kind());
        let driven = config.kind() == "neural-sde";
        assert!(part("kl_path").iter().all(|kl| (*kl > 0.0) == driven), "{}", config.kind());
    }
}

fn description(model: ModelConfig) -> Description {
    Description { model, data: DataDescription::new(batcher(), &[]) }
}

fn training() -> TrainingConfig {
    TrainingConfig { weights: weights(), ..TrainingConfig::default() }
}

#[test]
fn training_makes_them_better_and_resumes_to_the_same_bits() {
    let data = oscillations(14, 2);
    for config in configs() {
        let start = || init(&config, 2, &Device::flex().autodiff());
        let trained = trained_as_in_parts(start, training(), &data, batcher());
        let loss = |model: &StandardModel| {
            let losses = model.objective(&batch(), draws(8), weights()).unwrap().losses;
            doubles(losses.mean())[0]
        };
        let [before, after] = [loss(&init(&config, 2, &Device::flex())), loss(&trained.valid())];
        assert!(after < before, "{}: {before} {after}", config.kind());
    }
}

#[test]
fn a_loaded_model_gives_the_same_numbers() {
    for config in configs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        let description = description(config.clone());
        let model = init(&config, 1, &Device::flex().autodiff());
        description.save(&model, &path).unwrap();
        let (loaded, found): (StandardModel, Description) =
            Description::load(&path, &Device::flex()).unwrap();
        assert_eq!(found, description);
        let predictions = |model: &StandardModel| {
            let times = vec![vec![0.1, 0.45, 0.9], vec![0.7]];
            let predictor = Predictor::new(model, &description.data);
            predictor.posterior(&oscillations(9, 2), &[8, 4], &times, draws(3)).unwrap()
        };
        assert_eq!(predictions(&loaded), predictions(&model), "{}", config.kind());
    }
}

#[test]
fn tasks_are_predicted() {
    let task = TaskConfig { output: TaskKind::RealPerTime { width: 2 }, network: MlpConfig::default() };
    for config in configs() {
        let config: ModelConfig = match config {
            ModelConfig::Ode2vae(_) => continue,
            ModelConfig::OdeOde(ode) => OdeOdeConfig { task: Some(task.clone()), ..ode }.into(),
            ModelConfig::LatentOde(ode) => LatentOdeConfig { task: Some(task.clone()), ..ode }.into(),
            ModelConfig::NeuralSde(sde) => NeuralSdeConfig { task: Some(task.clone()), ..sde }.into(),
            other => other,
        };
        let batch = batch();
        let outputs = init(&config, 1, &Device::flex()).outputs(&batch, draws(2), OutputParts::TASK).unwrap();
        let (kind, prediction) = outputs.task.expect("a prediction");
        assert_eq!((kind, Some(kind)), (TaskKind::RealPerTime { width: 2 }, config.task()));
        assert_eq!(prediction.dims(), [2, batch.requests.indices.len(), 2]);
    }
}
