//! Continuous recurrent units: they train, are saved and loaded, resume to the same bits, and see the past alone.

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
use stroock::batch::{Batch, Batcher, InputChoice};
use stroock::initial::InitialWeights;
use stroock::model::{
    CruConfig, CruDecoderConfig, CruEncoderConfig, CruLatent, CruLatentConfig, CruTaskConfig,
    DataDescription, Description, FastCruLatentConfig, KalmanFilter, LayersConfig, ModelConfig,
    ModelConfigError, ModelSettings, NormalHeadConfig, OutputParts, PathDraws, SeriesModel, StandardModel,
    VarianceKind,
};
use stroock::objective::ElboWeights;
use stroock::predict::Predictor;
use stroock::series::{Dataset, Labels, Observation, Series};
use stroock::task::TaskKind;
use stroock::training::TrainingConfig;
use stroock_kernels::noise::NoiseKey;

const HALF: usize = 3;

fn config<L: CruLatent>(latent: L) -> CruConfig<L> {
    let layers = |width| LayersConfig::ReluNorm { hidden: vec![width] };
    CruConfig {
        observation: Observation::Vector { channels: 2 },
        encoder: CruEncoderConfig::Vector { layers: layers(7), variance: VarianceKind::EluPlusOne },
        latent,
        decoder: Some(CruDecoderConfig::Normal(NormalHeadConfig {
            mean: layers(6),
            variance: LayersConfig::Tanh { hidden: vec![5] },
            variance_kind: VarianceKind::EluPlusOne,
        })),
        task: None,
    }
}

const BANDED: CruLatentConfig =
    CruLatentConfig { half: HALF, sets: 4, bandwidth: 1, time_scale: 5.0, noise: VarianceKind::Softplus };
const EIGENVALUES: FastCruLatentConfig =
    FastCruLatentConfig { half: HALF, sets: 4, time_scale: 5.0, noise: VarianceKind::Softplus };

/// One model of each kind.
fn configs() -> [ModelConfig; 2] {
    [config(BANDED).into(), config(EIGENVALUES).into()]
}

fn init(config: &ModelConfig, seed: u64, device: &Device) -> StandardModel {
    config.init(&mut InitialWeights::new(seed, device)).unwrap().materialize()
}

/// Away from the published start, where nothing moves.
fn moving(config: &ModelConfig) -> StandardModel {
    filled(init(config, 3, &Device::flex().autodiff()), 0.6, 3)
}

fn batch() -> Batch {
    batcher().assemble(&oscillations(5, 2), &[3, 0, 4], NoiseKey::new(1, 0)).unwrap()
}

fn draws(samples: usize) -> PathDraws {
    PathDraws { key: NoiseKey::new(6, 0), samples, first_sample: 2 }
}

#[test]
fn gradients_of_all_parameters_are_those_of_finite_differences() {
    let batch = batch();
    for config in configs() {
        let model = moving(&config);
        let loss = |model: &StandardModel| -> Tensor<1> {
            model.objective(&batch, draws(1), ElboWeights::default()).unwrap().losses.mean()
        };
        assert_gradients(&model, loss, |name| name.contains("filter") || name.contains("variance"), 6, 1e-6);
    }
}

#[test]
fn a_series_does_not_depend_on_its_neighbours() {
    let data = oscillations(20, 2);
    for config in configs() {
        let model = moving(&config).valid();
        let states = |numbers: &[usize]| {
            let batch = batcher().assemble(&data, numbers, NoiseKey::new(1, 0)).unwrap();
            let outputs = model.outputs(&batch, draws(1), OutputParts::ALL).unwrap();
            (batch.requests.offsets.clone(), doubles(outputs.states.expect("states")))
        };
        let all: Vec<usize> = (0..20).collect();
        let (offsets, together) = states(&all);
        for b in [0, 7, 19] {
            let own = offsets[b] * 2 * HALF..offsets[b + 1] * 2 * HALF;
            assert_eq!(states(&[b]).1, together[own], "{} {b}", config.kind());
        }
    }
}

/// Means of a model at the given times of a series.
fn means(model: &StandardModel, data: &Dataset, times: &[f64]) -> Vec<f64> {
    let batch = batcher().ask(data, &[0], &[times.to_vec()]).unwrap();
    let outputs = model.outputs(&batch, draws(1), OutputParts::OBSERVATIONS).unwrap();
    let scale = outputs.scale.expect("scales");
    assert_eq!(scale.dims(), [times.len(), 2]);
    assert!(doubles(scale).iter().all(|scale| *scale > 0.0));
    doubles(outputs.mean.expect("means"))
}

#[test]
fn outputs_know_the_past_alone() {
    let one = oscillations(1, 2);
    let mut series = one.series()[0].clone();
    let last = series.times.len() - 1;
    series.values[2 * last] += 1.0;
    series.values[2 * last + 1] += 1.0;
    let time = series.times[last];
    let other = Dataset::new(one.observation(), vec![series]).unwrap();
    let times = [0.1, 0.4, time - 0.02, time, time + 0.05];
    for config in configs() {
        let model = moving(&config).valid();
        let [one, other] = [&one, &other].map(|data| means(&model, data, &times));
        assert_eq!(one[..6], other[..6], "{}", config.kind());
        // At the time of the changed input, and after it.
        for i in [6, 8] {
            assert_ne!(one[i], other[i], "{}", config.kind());
        }
    }
}

#[test]
fn a_series_without_inputs_has_the_belief_of_all_series() {
    let series = Series {
        times: vec![0.2],
        values: vec![0.0; 2],
        observed: Some(vec![false; 2]),
        ..Series::default()
    };
    let data = Dataset::new(Observation::Vector { channels: 2 }, vec![series]).unwrap();
    for config in configs() {
        let means = means(&moving(&config).valid(), &data, &[0.1, 0.5]);
        assert!(means.iter().all(|mean| mean.is_finite()), "{}", config.kind());
    }
}

fn description(model: ModelConfig) -> Description {
    Description { model, data: DataDescription::new(batcher(), &["a", "b"]) }
}

#[test]
fn training_makes_them_better_and_resumes_to_the_same_bits() {
    let data = oscillations(14, 2);
    for config in configs() {
        let start = || init(&config, 2, &Device::flex().autodiff());
        let trained = trained_as_in_parts(start, TrainingConfig::default(), &data, batcher());
        let loss = |model: &StandardModel| {
            let losses = model.objective(&batch(), draws(1), ElboWeights::default()).unwrap().losses;
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
        let model = moving(&config).valid();
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
fn tasks_are_predicted_with_and_without_observations() {
    let layers = LayersConfig::Tanh { hidden: vec![4] };
    let head =
        NormalHeadConfig { mean: layers.clone(), variance: layers, variance_kind: VarianceKind::EluPlusOne };
    let one = oscillations(2, 2);
    let series = one.series().iter().map(|series| Series {
        labels: Labels::RealPerTime { width: 1, values: vec![0.5; series.times.len()] },
        ..series.clone()
    });
    let data = Dataset::new(one.observation(), series.collect()).unwrap();
    let batcher = Batcher { input: InputChoice::All, ..batcher() };
    let batch = batcher.assemble(&data, &[0, 1], NoiseKey::new(1, 0)).unwrap();
    let task = Some(CruTaskConfig { width: 1, head });
    let both = CruConfig { task: task.clone(), ..config(EIGENVALUES) };
    let alone = CruConfig { decoder: None, ..both.clone() };
    for (config, parts) in [(both, vec!["negative_log_likelihood", "task"]), (alone, vec!["task"])] {
        let config: ModelConfig = config.into();
        assert_eq!(config.task(), Some(TaskKind::RealPerTime { width: 1 }));
        let model = init(&config, 1, &Device::flex());
        let objective = model.objective(&batch, draws(1), ElboWeights::default()).unwrap();
        assert_eq!(objective.parts.iter().map(|(name, _)| *name).collect::<Vec<_>>(), parts);
        let outputs = model.outputs(&batch, draws(2), OutputParts::ALL).unwrap();
        let (kind, prediction) = outputs.task.expect("a prediction");
        assert_eq!(kind, TaskKind::RealPerTime { width: 1 });
        assert_eq!(prediction.dims(), [2, batch.requests.indices.len(), 1]);
        assert_eq!(outputs.mean.is_some(), parts.len() == 2);
    }
    let nothing = CruConfig { decoder: None, ..config(BANDED) };
    let error = nothing.init(&mut InitialWeights::new(1, &Device::flex())).map(|_| ()).unwrap_err();
    assert_eq!(error, ModelConfigError::NothingPredicted);
}

/// The key that is at fault.
fn fault<L: CruLatent>(config: CruConfig<L>) -> &'static str {
    match config.init(&mut InitialWeights::new(1, &Device::flex())) {
        Ok(_) => "none",
        Err(
            ModelConfigError::Size { key, .. }
            | ModelConfigError::Parameters { key, .. }
            | ModelConfigError::NotPositive { key, .. },
        ) => key,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn sizes_without_numbers_or_beyond_memory() {
    let banded = |change: fn(&mut CruLatentConfig)| {
        let mut latent = BANDED;
        change(&mut latent);
        fault(config(latent))
    };
    assert_eq!(banded(|_| {}), "none");
    assert_eq!(banded(|latent| latent.bandwidth = usize::MAX), "none");
    assert_eq!(banded(|latent| latent.half = 0), "latent.half");
    assert_eq!(banded(|latent| latent.half = 1 << 40), "latent.half");
    assert_eq!(banded(|latent| latent.half = 1 << 18), "latent.half");
    assert_eq!(banded(|latent| latent.sets = 0), "latent.sets");
    assert_eq!(banded(|latent| latent.sets = usize::MAX), "latent.sets");
    assert_eq!(banded(|latent| (latent.sets, latent.half) = (1 << 18, 100)), "latent.sets");
    for time_scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(fault(config(FastCruLatentConfig { time_scale, ..EIGENVALUES })), "latent.time_scale");
    }
    let wide = LayersConfig::Tanh { hidden: vec![1 << 40] };
    let mut decoded = config(EIGENVALUES);
    if let Some(CruDecoderConfig::Normal(head)) = &mut decoded.decoder {
        head.variance = wide.clone();
    }
    assert_eq!(fault(decoded), "decoder.variance.hidden");
    let encoder = CruEncoderConfig::Vector { layers: wide, variance: VarianceKind::Square };
    assert_eq!(fault(CruConfig { encoder, ..config(EIGENVALUES) }), "encoder.layers.hidden");
}

#[test]
fn a_basis_is_orthogonal_to_single_precision() {
    let mut weights = InitialWeights::new(1, &Device::flex());
    let latent = FastCruLatentConfig { half: 10, ..FastCruLatentConfig::default() };
    let mut filter = KalmanFilter::new(latent.filter(), &mut weights);
    filter.rotation = Some(weights.uniform([190], 0.05));
    let basis = doubles(filter.basis().unwrap());
    for (i, j) in (0..20).flat_map(|i| (0..20).map(move |j| (i, j))) {
        let product: f64 = (0..20).map(|k| basis[20 * k + i] * basis[20 * k + j]).sum();
        let expected = f64::from(u8::from(i == j));
        assert!((product - expected).abs() < 5e-7, "columns {i} and {j}: {product}");
    }
}
