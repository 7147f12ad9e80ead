//! A variational autoencoder under a Gaussian process: gradients, training, files, and predictions of hidden frames.

mod numbers;
#[allow(dead_code, reason = "another test trains the model")]
mod oscillations;
mod parameters;

use std::collections::BTreeMap;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use numbers::doubles;
use oscillations::oscillations;
use parameters::{assert_gradients, filled};
use stroock::batch::{Batch, Batcher, GridKind, InputChoice, TargetChoice, TimeAxis};
use stroock::decoder::MlpConfig;
use stroock::encoder::TimeAttentionConfig;
use stroock::initial::InitialWeights;
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{
    DataDescription, DecoderConfig, Description, EncoderConfig, GaussianProcessConfig, GppVae, GppVaeConfig,
    ModelConfig, ModelSettings, OutputParts, PathDraws, ProcessTraining, SeriesModel, StandardModel,
    TrainingSeries, to_file,
};
use stroock::objective::ElboWeights;
use stroock::predict::Predictor;
use stroock::run::{Progress, RunFolder, RunLength, StopFlag, TensorFile};
use stroock::series::{Dataset, Observation, Series, Split};
use stroock::training::{Schedule, Trained, Trainer, TrainingConfig};
use stroock_kernels::noise::NoiseKey;

fn config(objects: usize, alone: u64, then: ProcessTraining) -> GppVaeConfig {
    let attention =
        TimeAttentionConfig { hidden: 6, embedding: 4, reference_points: 2, stretched: true, local_heads: 0 };
    GppVaeConfig {
        observation: Observation::Vector { channels: 2 },
        encoder: EncoderConfig::TimeAttention(attention),
        latent: GaussianProcessConfig { dim: 3, objects, vector: 2, harmonics: 2, period: 1.0, speed: 4.0 },
        decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![8], ..MlpConfig::default() }),
        likelihood: LikelihoodKind::Gaussian { scale: 0.2, scale_kind: ScaleKind::PerChannel },
        alone,
        then,
    }
}

fn batcher() -> Batcher {
    Batcher { input: InputChoice::All, ..oscillations::batcher() }
}

fn init(config: &GppVaeConfig, device: &Device) -> GppVae {
    config.init(&mut InitialWeights::new(2, device)).unwrap().materialize()
}

fn training<'a>(data: &'a Dataset, numbers: &'a [usize], batcher: &'a Batcher) -> TrainingSeries<'a> {
    TrainingSeries { data, numbers, batcher, batch_size: 2, key: NoiseKey::new(1, 0), epochs: 5 }
}

fn draws(samples: usize) -> PathDraws {
    PathDraws { key: NoiseKey::new(6, 0), samples, first_sample: 2 }
}

/// With all training series in the batch, the derivatives of a step are those of the loss.
#[test]
fn gradients_of_all_parameters_are_those_of_finite_differences() {
    let (data, batcher) = (oscillations(5, 2), batcher());
    let numbers = [4, 0, 2];
    let config = config(3, 0, ProcessTraining::Joint);
    let mut model = filled(init(&config, &Device::flex().autodiff()), 0.5, 11);
    model.see_training(&training(&data, &numbers, &batcher)).unwrap();
    let batch = batcher.assemble(&data, &numbers, NoiseKey::new(1, 0)).unwrap();
    let loss = |model: &GppVae| -> Tensor<1> {
        let weights = ElboWeights { kl_path: 0.3, ..ElboWeights::default() };
        let loss = model.objective(&batch, draws(2), weights).unwrap().losses.mean();
        // No gradient belongs to what is taken from the training series, and the comparison wants one.
        loss + (model.loadings.val().sum() + model.uncertainty.val().sum()).mul_scalar(0.0)
    };
    let is_learned = |name: &str| !["loadings", "uncertainty"].contains(&name) && !name.contains("encoder");
    assert_gradients(&model, loss, is_learned, 5, 1e-6);
}

/// The rest of the frames enters a step with their codes from before the epoch.
#[test]
fn a_batch_has_the_gradients_of_its_series_within_all_of_them() {
    let (data, batcher) = (oscillations(5, 2), batcher());
    let numbers = [4, 0, 2];
    let mut model = init(&config(3, 0, ProcessTraining::Joint), &Device::flex().autodiff());
    model.see_training(&training(&data, &numbers, &batcher)).unwrap();
    let gradient = |numbers: &[usize]| {
        let batch = batcher.assemble(&data, numbers, NoiseKey::new(1, 0)).unwrap();
        let weights = ElboWeights { likelihood: 0.0, ..ElboWeights::default() };
        let gradients = model.objective(&batch, draws(1), weights).unwrap().losses.sum().backward();
        let bias = model.recognition.mean.bias.as_ref().unwrap().val();
        let of_process = model.kernel.mixture.val().grad(&gradients).unwrap();
        (doubles(bias.grad(&gradients).unwrap()), doubles(of_process))
    };
    let (all, of_process) = gradient(&numbers);
    let mut sum = vec![0.0; all.len()];
    for number in numbers {
        let (one, same) = gradient(&[number]);
        sum.iter_mut().zip(one).for_each(|(sum, one)| *sum += one);
        // Every step has the whole gradient of the process, as a share of one series.
        for (same, all) in same.iter().zip(&of_process) {
            assert!((3.0 * same - all).abs() < 1e-3 * (1.0 + all.abs()), "{same} {all}");
        }
    }
    for (sum, all) in sum.iter().zip(&all) {
        assert!((sum - all).abs() < 1e-3 * (1.0 + all.abs()), "{sum} {all}");
    }
}

#[test]
fn a_series_does_not_depend_on_its_neighbours() {
    let (data, batcher) = (oscillations(20, 2), batcher());
    let numbers: Vec<usize> = (0..12).collect();
    let mut model = init(&config(12, 0, ProcessTraining::Joint), &Device::flex());
    model.see_training(&training(&data, &numbers, &batcher)).unwrap();
    let states = |numbers: &[usize]| {
        let batch = batcher.assemble(&data, numbers, NoiseKey::new(1, 0)).unwrap();
        let states = model.outputs(&batch, draws(1), OutputParts::ALL).unwrap().states.unwrap();
        (batch.requests.offsets.clone(), doubles(states))
    };
    let all: Vec<usize> = (0..20).collect();
    let (offsets, together) = states(&all);
    for b in [0, 7, 19] {
        assert_eq!(states(&[b]).1, together[offsets[b] * 3..offsets[b + 1] * 3], "{b}");
    }
}

fn train(config: &GppVaeConfig, epochs: u64, folder: &RunFolder) -> Trained<StandardModel> {
    let data = oscillations(14, 2);
    let split = Split { train: (0..10).collect(), validation: (10..14).collect(), test: Vec::new() };
    let training =
        TrainingConfig { epochs, batch_size: 4, rate: 3e-3, average: Some(0.9), ..TrainingConfig::default() };
    let metadata = description(config.clone()).metadata().unwrap();
    let trainer = Trainer {
        config: training,
        data: &data,
        split: &split,
        batcher: batcher(),
        metadata: Some(&metadata),
    };
    let mut progress = Progress::hidden(RunLength { epochs, steps_per_epoch: 3, done: 0 });
    let model = ModelConfig::from(config.clone());
    let start = model.init(&mut InitialWeights::new(2, &Device::flex().autodiff())).unwrap().materialize();
    trainer.run(start, folder, &StopFlag::new(), &mut progress).unwrap()
}

fn description(model: GppVaeConfig) -> Description {
    Description { model: model.into(), data: DataDescription::new(batcher(), &["a", "b"]) }
}

#[test]
fn training_makes_it_better_and_resumes_to_the_same_bits() {
    for then in [ProcessTraining::Disjoint, ProcessTraining::Joint] {
        let config = config(10, 2, then);
        let root = tempfile::tempdir().unwrap();
        let whole = RunFolder::create(root.path().join("whole")).unwrap();
        let trained = train(&config, 5, &whole);
        for before in [1, 3] {
            let name = format!("after {before}");
            let parts = RunFolder::create(root.path().join(&name)).unwrap();
            train(&config, before, &parts);
            let resumed = train(&config, 5, &parts);
            let tensors = |model: &StandardModel| BTreeMap::from_iter(to_file(model).unwrap().tensors);
            assert_eq!(tensors(&resumed.model), tensors(&trained.model), "{then:?}");
            assert_eq!(tensors(&resumed.best_model), tensors(&trained.best_model), "{then:?}");
            for file in ["model.safetensors", "last/model.safetensors", "last/optimiser.safetensors"] {
                let [a, b] =
                    ["whole", &name].map(|run| std::fs::read(root.path().join(run).join(file)).unwrap());
                assert!(a == b, "{then:?}: {file} differs");
            }
        }
        let rows = stroock::run::Metrics::read(&whole.paths().metrics()).unwrap().rows;
        let loss = |row: usize| rows[row].get("validation_loss").and_then(|loss| loss.as_number()).unwrap();
        assert!(loss(4) < loss(0), "{then:?}: {} {}", loss(0), loss(4));
    }
}

/// While the process alone is trained, nothing else moves.
#[test]
fn a_disjoint_process_leaves_the_autoencoder_alone() {
    let root = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(root.path().join("run")).unwrap();
    let last = || {
        let file = TensorFile::load(&folder.paths().last().join("model.safetensors")).unwrap();
        BTreeMap::from_iter(file.tensors)
    };
    let config = config(10, 2, ProcessTraining::Disjoint);
    train(&config, 2, &folder);
    let before = last();
    train(&config, 4, &folder);
    for (name, tensor) in last() {
        let is_of_process = ["kernel", "loadings", "uncertainty"].iter().any(|part| name.contains(part));
        assert_eq!(tensor != before[&name], is_of_process, "{name}");
    }
}

#[test]
fn a_loaded_model_gives_the_same_numbers() {
    let root = tempfile::tempdir().unwrap();
    let folder = RunFolder::create(root.path().join("run")).unwrap();
    let config = config(10, 1, ProcessTraining::Joint);
    let trained = train(&config, 3, &folder);
    let predictions = |model: &StandardModel| {
        let description = description(config.clone());
        let times = vec![vec![0.1, 0.45, 0.9], vec![0.7]];
        let predictor = Predictor::new(model, &description.data);
        predictor.posterior(&oscillations(14, 2), &[8, 12], &times, draws(2)).unwrap()
    };
    let path = root.path().join("model.safetensors");
    description(config.clone()).save(&trained.model, &path).unwrap();
    let load = |path| -> (StandardModel, Description) { Description::load(path, &Device::flex()).unwrap() };
    assert_eq!(predictions(&load(&path).0), predictions(&trained.model.valid()));
    // The file of the run has the best one.
    let best = load(&folder.paths().model()).0;
    assert_eq!(predictions(&best), predictions(&trained.best_model.valid()));
}

/// Turning vectors, hidden at one angle from all of training and from the encoder.
#[test]
fn an_angle_that_no_series_was_trained_at_is_predicted() {
    const FRAMES: usize = 9;
    const HIDDEN: usize = 3;
    let series = |b: usize, with_hidden: bool| {
        let frames: Vec<usize> = (0..FRAMES).filter(|&frame| with_hidden || frame != HIDDEN).collect();
        let value = |&frame: &usize| {
            let (sine, cosine) = (std::f64::consts::TAU * frame as f64 / (FRAMES - 1) as f64).sin_cos();
            let (a, b) = (1.0 + 0.3 * (b as f64).sin(), 0.3 * (2.0 * b as f64).cos());
            [(a * cosine + b * sine) as f32, (a * sine - b * cosine) as f32]
        };
        Series {
            id: format!("{b}"),
            values: frames.iter().flat_map(value).collect(),
            times: frames.iter().map(|&frame| frame as f64).collect(),
            withheld: Some(frames.iter().flat_map(|&frame| [frame == HIDDEN; 2]).collect()),
            ..Series::default()
        }
    };
    let all = (0..40).map(|b| series(b, false)).chain((0..60).map(|b| series(b, true))).collect();
    let data = Dataset::new(Observation::Vector { channels: 2 }, all).unwrap();
    let split = Split { train: (0..40).collect(), validation: Vec::new(), test: (40..100).collect() };
    let axis = TimeAxis { start: 0.0, end: (FRAMES - 1) as f64, horizon: 1.0 };
    let batcher = Batcher {
        input_axis: axis,
        grid_axis: axis,
        grid: GridKind::Regular { points: FRAMES },
        input: InputChoice::All,
        targets: TargetChoice::All,
    };
    let config = config(40, 100, ProcessTraining::Joint);
    let epochs = 200;
    let training = TrainingConfig {
        epochs,
        batch_size: 8,
        rate: 1e-2,
        schedule: Schedule::Constant,
        ..TrainingConfig::default()
    };
    let trainer = Trainer { config: training, data: &data, split: &split, batcher, metadata: None };
    let mut progress = Progress::hidden(RunLength { epochs, steps_per_epoch: 5, done: 0 });
    let start = init(&config, &Device::flex().autodiff());
    let model = trainer.run(start, None, &StopFlag::new(), &mut progress).unwrap().model.valid();
    let batch = batcher.assemble(&data, &split.test, NoiseKey::new(1, 0)).unwrap();
    assert!(batch.seen.iter().enumerate().all(|(point, &seen)| seen == (point % FRAMES != HIDDEN)));
    let mean = doubles(model.outputs(&batch, draws(1), OutputParts::ALL).unwrap().mean.unwrap());
    let error = |series: std::ops::Range<usize>| {
        let entries = series.clone().flat_map(|b| [0, 1].map(|c| (b * FRAMES + HIDDEN) * 2 + c));
        let square = |entry: usize| (mean[entry] - f64::from(batch.targets.values()[entry])).powi(2);
        entries.map(square).sum::<f64>() / (2 * series.len()) as f64
    };
    // The first 40 are those of training, the others new. Squares of the values are about 0.5, and 0.04 around their mean
    // at the angle.
    let (trained, new) = (error(0..40), error(40..60));
    assert!(trained < 0.01 && new < 0.01, "{trained} {new}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let (data, batcher) = (oscillations(5, 2), batcher());
    let mut model = init(&config(3, 0, ProcessTraining::Joint), &Device::flex());
    let error = model.see_training(&training(&data, &[0, 1, 2, 3], &batcher)).unwrap_err().to_string();
    assert!(error.contains("vectors for 3 series, but 4 are for training"), "{error}");
    let batch: Batch = batcher.assemble(&data, &[0], NoiseKey::new(1, 0)).unwrap();
    let codes = Tensor::zeros([1, 5], &Device::flex());
    let error = model.outputs_of_codes(codes, &batch, draws(1), OutputParts::ALL).unwrap_err().to_string();
    assert!(error.contains("5 numbers each, but the model reads 2"), "{error}");
}

/// Without training series nothing is known: every frame is that of the code 0.
#[test]
fn a_model_that_has_seen_nothing_predicts_the_mean() {
    let (data, batcher) = (oscillations(5, 2), batcher());
    let model = init(&config(3, 0, ProcessTraining::Joint), &Device::flex());
    let batch = batcher.assemble(&data, &[0, 3], NoiseKey::new(1, 0)).unwrap();
    let states = model.outputs(&batch, draws(2), OutputParts::ALL).unwrap().states.unwrap();
    assert_eq!(states.dims(), [2, batch.requests.indices.len(), 3]);
    assert!(doubles(states).iter().all(|&z| z == 0.0));
    let losses = model.objective(&batch, draws(1), ElboWeights::default()).unwrap().losses;
    assert!(doubles(losses).iter().all(|loss| loss.is_finite()));
}
