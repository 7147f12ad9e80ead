//! Multi-time attention networks and state-space layers as models: they train, resume to the same bits, are saved and loaded, and what they say of
//! a series depends on neither its neighbours nor what else is asked.

mod numbers;
#[allow(dead_code, reason = "another test trains the model")]
mod oscillations;
mod parameters;
#[allow(dead_code, reason = "another test uses the models of images")]
mod pictures;
mod resumed;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use numbers::doubles;
use oscillations::{batcher, oscillations};
use parameters::assert_gradients;
use resumed::trained_as_in_parts;
use stroock::batch::{Batch, Batcher, InputChoice};
use stroock::decoder::{Activation, MlpConfig};
use stroock::encoder::FrameFeaturesConfig;
use stroock::initial::InitialWeights;
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{
    DataDescription, DecoderConfig, Description, EncoderConfig, LatentSdeConfig, ModelConfig, ModelSettings,
    MtandEncConfig, MtandFullConfig, OutputParts, PathDraws, ReferenceSizes, S5Config, S5Sizes, SeriesModel,
    StandardModel, TimeViewsSizes,
};
use stroock::objective::ElboWeights;
use stroock::predict::Predictor;
use stroock::series::{Dataset, Labels, Observation, Series};
use stroock::task::{TaskConfig, TaskKind};
use stroock::training::TrainingConfig;
use stroock_kernels::noise::NoiseKey;

/// Oscillations with their slope at every time as what is to be predicted.
fn data(count: usize) -> Dataset {
    let plain = oscillations(count, 2);
    let series = plain.series().iter().enumerate().map(|(b, series)| {
        let slope = |t: &f64| [(6.0 * t + b as f64).cos() as f32, (7.0 * t + b as f64).cos() as f32];
        let labels = Labels::RealPerTime { width: 2, values: series.times.iter().flat_map(slope).collect() };
        Series { labels, ..series.clone() }
    });
    Dataset::new(Observation::Vector { channels: 2 }, series.collect()).unwrap()
}

const ENCODER: TimeViewsSizes = TimeViewsSizes { embedding: 4, hidden: 6 };
const LATENT: ReferenceSizes =
    ReferenceSizes { embedding: 4, reference_points: 5, hidden: 6, head: 7, latent: 2, generator: 4 };

fn task() -> TaskConfig {
    let network = MlpConfig { hidden: vec![5], activation: Activation::Relu };
    TaskConfig { output: TaskKind::RealPerTime { width: 2 }, network }
}

/// One model of each kind.
fn configs() -> Vec<ModelConfig> {
    let observation = Observation::Vector { channels: 2 };
    let enc = MtandEncConfig { observation, frames: None, encoder: ENCODER, task: task() };
    let full = MtandFullConfig {
        observation,
        frames: None,
        latent: LATENT,
        decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![5], ..MlpConfig::default() }),
        likelihood: LikelihoodKind::Gaussian { scale: 0.3, scale_kind: ScaleKind::PerChannel },
        task: Some(task()),
    };
    let encoder = S5Sizes { width: 5, states: 3, layers: 2, unit: 0.05 };
    let s5 = S5Config { observation, frames: None, encoder, task: task() };
    vec![enc.into(), s5.into(), full.into()]
}

fn init(config: &ModelConfig, seed: u64, device: &Device) -> StandardModel {
    config.init(&mut InitialWeights::new(seed, device)).unwrap().materialize()
}

fn batch() -> Batch {
    batcher().assemble(&data(5), &[3, 0, 4], NoiseKey::new(1, 0)).unwrap()
}

fn draws(samples: usize) -> PathDraws {
    PathDraws { key: NoiseKey::new(6, 0), samples, first_sample: 2 }
}

fn weights() -> ElboWeights {
    ElboWeights { kl_start: 0.3, task: 1.5, ..ElboWeights::default() }
}

fn predictions(model: &StandardModel, batch: &Batch) -> Vec<f64> {
    let outputs = model.outputs(batch, draws(1), OutputParts::ALL).unwrap();
    doubles(outputs.task.expect("a prediction").1)
}

#[test]
fn gradients_of_all_parameters_are_those_of_finite_differences() {
    let batch = batch();
    for config in configs() {
        let model = init(&config, 3, &Device::flex().autodiff());
        let loss = |model: &StandardModel| -> Tensor<1> {
            model.objective(&batch, draws(2), weights()).unwrap().losses.mean()
        };
        // Scores do not change with the bias of the keys.
        assert_gradients(&model, loss, |name| !name.contains("key.bias"), 5, 1e-6);
    }
}

#[test]
fn a_series_does_not_depend_on_its_neighbours() {
    let data = data(20);
    for config in configs() {
        let model = init(&config, 3, &Device::flex());
        let of = |batcher: &Batcher, numbers: &[usize]| {
            let batch = batcher.assemble(&data, numbers, NoiseKey::new(1, 0)).unwrap();
            (batch.requests.offsets.clone(), predictions(&model, &batch))
        };
        let everything: Vec<usize> = (0..20).collect();
        // To the last bit where everything is seen; up to rounding at times that are not.
        let all_seen = Batcher { input: InputChoice::All, ..batcher() };
        for (batcher, tolerance) in [(all_seen, 0.0), (batcher(), 1e-6)] {
            let (offsets, together) = of(&batcher, &everything);
            for b in [0, 7, 19] {
                let alone = of(&batcher, &[b]).1;
                for (a, b) in alone.iter().zip(&together[offsets[b] * 2..offsets[b + 1] * 2]) {
                    assert!((a - b).abs() <= tolerance, "{}: {a} is not {b}", config.kind());
                }
            }
        }
    }
}

#[test]
fn what_is_said_of_a_time_does_not_depend_on_what_else_is_asked() {
    let data = data(6);
    // Before, at, between and behind observations.
    let own = data.series()[4].times.clone();
    let mut times = vec![own[0] - 0.01, own[3], 0.5 * (own[3] + own[4]), own[7], own[11] + 0.03];
    times.sort_by(f64::total_cmp);
    for config in configs() {
        let model = init(&config, 3, &Device::flex());
        let of = |times: &[f64]| predictions(&model, &batcher().ask(&data, &[4], &[times.to_vec()]).unwrap());
        let together = of(&times);
        for (i, &time) in times.iter().enumerate() {
            let alone = of(&[time]);
            for (a, b) in alone.iter().zip(&together[2 * i..]) {
                assert!((a - b).abs() < 1e-6, "{} at {time}: {a} is not {b}", config.kind());
            }
        }
        let observed = of(&own);
        for (i, place) in [(1, 3), (3, 7)] {
            for (a, b) in together[2 * i..2 * i + 2].iter().zip(&observed[2 * place..]) {
                assert!((a - b).abs() < 1e-6, "{}: {a} is not {b}", config.kind());
            }
        }
    }
}

#[test]
fn series_without_anything_seen_have_predictions() {
    let mut data = data(3).series().to_vec();
    data[1].observed = Some(vec![false; 24]);
    let data = Dataset::new(Observation::Vector { channels: 2 }, data).unwrap();
    for config in configs() {
        let model = init(&config, 3, &Device::flex());
        for numbers in [vec![0, 1, 2], vec![1]] {
            let times = vec![vec![0.1, 0.6]; numbers.len()];
            let found = predictions(&model, &batcher().ask(&data, &numbers, &times).unwrap());
            assert_eq!(found.len(), 4 * numbers.len());
            assert!(found.iter().all(|x| x.is_finite()), "{}", config.kind());
        }
    }
}

fn training() -> TrainingConfig {
    TrainingConfig { samples: 2, weights: weights(), ..TrainingConfig::default() }
}

#[test]
fn training_makes_them_better_and_resumes_to_the_same_bits() {
    let data = data(14);
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

fn description(model: ModelConfig) -> Description {
    Description { model, data: DataDescription::new(batcher(), &[]) }
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
        assert_eq!(predictions(&loaded, &batch()), predictions(&model, &batch()), "{}", config.kind());
    }
}

fn full() -> ModelConfig {
    configs().pop().expect("a model of observations")
}

#[test]
fn observations_are_predicted_at_any_time() {
    let config = full();
    let model = init(&config, 1, &Device::flex());
    let description = description(config);
    let predictor = Predictor::new(&model, &description.data);
    let times = vec![vec![0.1, 0.45, 0.9], vec![0.7]];
    let found = predictor.posterior(&data(9), &[8, 4], &times, draws(3)).unwrap();
    let alone = predictor.posterior(&data(9), &[4], &times[1..], draws(3)).unwrap();
    assert_eq!(found[1], alone[0]);
}

#[test]
fn the_prior_is_sampled_whatever_the_series_are() {
    let (batch, model) = (batch(), init(&full(), 3, &Device::flex()));
    let states = |draws: PathDraws| {
        let outputs = model.prior_outputs(&batch, draws, OutputParts::ALL).unwrap();
        assert_eq!(outputs.mean.expect("means").dims(), [draws.samples, batch.requests.indices.len(), 2]);
        doubles(outputs.states.expect("states"))
    };
    let all = states(draws(30));
    assert_eq!(all[..all.len() / 30], states(draws(1)));
    let (one, other) = (states(draws(1)), states(PathDraws { first_sample: 9, ..draws(1) }));
    assert!(one != other && all.iter().all(|z| z.is_finite()));
}

#[test]
fn more_samples_make_the_bound_tighter() {
    let (batch, model) = (batch(), init(&full(), 3, &Device::flex()));
    let weights = ElboWeights { task: 0.0, ..ElboWeights::default() };
    let loss = |draws| doubles(model.objective(&batch, draws, weights).unwrap().losses.mean())[0];
    let one_by_one: f64 =
        (0..32).map(|s| loss(PathDraws { first_sample: 2 + s, ..draws(1) })).sum::<f64>() / 32.0;
    let together = loss(draws(32));
    // The divergence is the same, and a logarithm of means is more than the mean of logarithms.
    assert!(together < one_by_one, "{together} {one_by_one}");
}

#[test]
fn frames_are_read_as_features() {
    let data = pictures::pictures(4);
    let EncoderConfig::Frames(frames) = pictures::of_frames().encoder else { panic!("frames") };
    let frames = Some(FrameFeaturesConfig { network: frames.network, features: frames.features });
    let observation = data.observation();
    let LatentSdeConfig { decoder, likelihood, .. } = pictures::of_frames();
    let full = MtandFullConfig {
        observation,
        frames: frames.clone(),
        latent: LATENT,
        decoder,
        likelihood,
        task: Some(task()),
    };
    let sizes = S5Sizes { width: 5, states: 3, layers: 2, unit: 0.05 };
    let s5 = S5Config { observation, frames: frames.clone(), encoder: sizes, task: task() };
    let enc = MtandEncConfig { observation, frames, encoder: ENCODER, task: task() };
    let batch = pictures::batcher().assemble(&data, &[2, 0, 3], NoiseKey::new(1, 0)).unwrap();
    for config in [ModelConfig::from(enc), s5.into(), full.into()] {
        let found = predictions(&init(&config, 1, &Device::flex()), &batch);
        assert_eq!(found.len(), 2 * batch.requests.indices.len());
        assert!(found.iter().all(|x| x.is_finite()), "{}", config.kind());
    }
    let enc = MtandEncConfig { observation, frames: None, encoder: ENCODER, task: task() };
    let fault = enc.init(&mut InitialWeights::new(1, &Device::flex())).unwrap_err().to_string();
    assert_eq!(fault, "the encoder `mtand-enc` reads vectors, but images are observed");
}
