//! Models that follow the observations from knot to knot.

#[allow(dead_code, reason = "another test trains the model")]
mod oscillations;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use oscillations::{batcher, oscillations};
use stroock::batch::{Batch, Batcher, GridKind, InputChoice, TimeAxis};
use stroock::decoder::MlpConfig;
use stroock::encoder::{KnotEncoderConfig, KnotPositions};
use stroock::entries::entries;
use stroock::initial::InitialWeights;
use stroock::latent::{KnotPrior, MarginalConfig, SteeredConfig};
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{
    DecoderConfig, KnotLatentConfig, KnotSdeConfig, ModelConfigError, ModelSettings, OutputParts, PathDraws,
    SeriesModel, StandardKnotSde,
};
use stroock::objective::ElboWeights;
use stroock::run::{Progress, RunFolder, RunLength, StopFlag, to_toml};
use stroock::score::squared_errors;
use stroock::series::{Dataset, Observation, Split};
use stroock::training::{AdamConfig, Schedule, Trained, Trainer, TrainingConfig};
use stroock_kernels::noise::NoiseKey;

fn steered() -> KnotLatentConfig {
    KnotLatentConfig::Steered(SteeredConfig { dim: 6, ..SteeredConfig::default() })
}

fn marginal() -> KnotLatentConfig {
    KnotLatentConfig::Marginal(MarginalConfig { dim: 6, ..MarginalConfig::default() })
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
    config(latent).init(&mut InitialWeights::new(3, &Device::flex().autodiff())).unwrap().materialize()
}

/// All processes, with both priors.
fn processes() -> [KnotLatentConfig; 4] {
    let KnotLatentConfig::Steered(steered) = steered() else { unreachable!() };
    let KnotLatentConfig::Marginal(marginal) = marginal() else { unreachable!() };
    let prior = KnotPrior::Attractor;
    [
        KnotLatentConfig::Steered(steered),
        KnotLatentConfig::Marginal(marginal),
        KnotLatentConfig::Steered(SteeredConfig { prior, ..steered }),
        KnotLatentConfig::Marginal(MarginalConfig { prior, ..marginal }),
    ]
}

fn draws(samples: usize) -> PathDraws {
    PathDraws { key: NoiseKey::new(4, 0), samples, first_sample: 0 }
}

fn train<'f>(
    data: &Dataset,
    latent: KnotLatentConfig,
    epochs: u64,
    folder: impl Into<Option<&'f RunFolder>>,
) -> Trained<StandardKnotSde> {
    let split = Split { train: (0..30).collect(), validation: (30..40).collect(), test: Vec::new() };
    let config = TrainingConfig {
        epochs,
        batch_size: 8,
        rate: 1e-2,
        schedule: Schedule::WarmCosine { epochs: 25, warm_up: 1.0, floor: 0.0 },
        adam: AdamConfig { clip: Some(1.0), ..AdamConfig::default() },
        average: Some(0.9),
        weights: ElboWeights { kl_start: 1e-3, kl_path: 1e-4, ..ElboWeights::default() },
        ..TrainingConfig::default()
    };
    let trainer = Trainer { config, data, split: &split, batcher: batcher(), metadata: None };
    let mut progress = Progress::hidden(RunLength { epochs, steps_per_epoch: 4, done: 0 });
    trainer.run(model(latent), folder, &StopFlag::new(), &mut progress).unwrap()
}

/// Mean squared error of the mean output over the points that the encoder has not seen.
fn unseen_error(model: &StandardKnotSde, batch: &Batch) -> f64 {
    let outputs = model.outputs(batch, draws(8), OutputParts::OBSERVATIONS).unwrap();
    let means = entries(outputs.mean.unwrap().mean_dim(0));
    let (sum, count) = squared_errors(&means, &batch.targets, |point| !batch.seen[point]);
    sum / count as f64
}

#[test]
fn every_process_learns_to_fill_gaps() {
    let data = oscillations(60, 2);
    let held = batcher().assemble(&data, &(40..60).collect::<Vec<_>>(), NoiseKey::new(9, 0)).unwrap();
    for latent in processes() {
        let before = unseen_error(&model(latent).valid(), &held);
        let trained = train(&data, latent, 25, None);
        let after = unseen_error(&trained.model.valid(), &held);
        // The values have the variance 1/2.
        assert!(before > 0.3 && after < 0.12, "{latent:?}: {before} {after}");
    }
}

#[test]
fn a_series_is_the_same_whatever_stands_beside_it() {
    let data = oscillations(12, 2);
    for latent in processes() {
        let model = model(latent).valid();
        let outputs = |numbers: &[usize]| {
            let batch = batcher().assemble(&data, numbers, NoiseKey::new(2, 0)).unwrap();
            let outputs = model.outputs(&batch, draws(1), OutputParts::OBSERVATIONS).unwrap();
            let ends: Vec<usize> = batch.requests.offsets.iter().map(|&offset| offset * 2).collect();
            let means = entries(outputs.mean.unwrap());
            ends.windows(2).map(|run| means[run[0]..run[1]].to_vec()).collect::<Vec<_>>()
        };
        let together = outputs(&[3, 7, 1, 11, 0]);
        let [alone, pair] = [outputs(&[7]), outputs(&[0, 11])];
        assert_eq!(together[1], alone[0], "{latent:?}");
        assert_eq!((&together[4], &together[3]), (&pair[0], &pair[1]), "{latent:?}");
    }
}

#[test]
fn a_resumed_run_ends_in_the_same_bytes() {
    let (data, root) = (oscillations(40, 2), tempfile::tempdir().unwrap());
    for (i, latent) in processes().into_iter().enumerate() {
        let [whole, parts] = ["whole", "parts"].map(|name| root.path().join(format!("{name} {i}")));
        let folder = RunFolder::create(&whole).unwrap();
        train(&data, latent, 4, &folder);
        let stopped = RunFolder::create(&parts).unwrap();
        stopped.write_config(&to_toml(&config(latent)).unwrap()).unwrap();
        train(&data, latent, 2, &stopped);
        drop(stopped);
        let resumed = RunFolder::open(&parts).unwrap();
        train(&data, latent, 4, &resumed);
        let bytes = |folder: &RunFolder| std::fs::read(folder.paths().model()).unwrap();
        assert_eq!(bytes(&folder), bytes(&resumed), "{latent:?}");
    }
}

/// Series without any input, and with one, are what a prior and a point make of them.
#[test]
fn series_with_few_or_no_inputs_are_served() {
    let data = oscillations(6, 2);
    for latent in processes() {
        let model = model(latent).valid();
        for count in [0, 1] {
            let batcher = Batcher { input: InputChoice::First { count }, ..batcher() };
            let batch = batcher.assemble(&data, &[0, 5], NoiseKey::new(2, 0)).unwrap();
            let objective = model.objective(&batch, draws(2), ElboWeights::default()).unwrap();
            assert!(entries(objective.losses).iter().all(|loss| loss.is_finite()), "{latent:?}, {count}");
        }
    }
}

/// Beyond the last knot nothing steers: states there do not depend on the series, but for where the path is let go.
#[test]
fn paths_are_let_go_beyond_the_last_knot() {
    let data = oscillations(2, 2);
    let axis = TimeAxis { start: -0.1, end: 1.1, horizon: 4.0 };
    let far = Batcher {
        input_axis: TimeAxis { horizon: 0.9, ..axis },
        grid_axis: axis,
        grid: GridKind::Observations { largest_step: 0.02 },
        ..batcher()
    };
    let batch = far.assemble(&data, &[0], NoiseKey::new(2, 0)).unwrap();
    let model = model(steered()).valid();
    let outputs = model.outputs(&batch, draws(400), OutputParts::OBSERVATIONS).unwrap();
    let states = outputs.states.unwrap();
    let points = states.dims()[1];
    let spread = |point: usize| {
        // 1 - |mean state|^2: small where paths keep together.
        let mean = entries(states.clone().narrow(1, point, 1).mean_dim(0));
        1.0 - mean.iter().map(|x| f64::from(x * x)).sum::<f64>()
    };
    let times = batch.point_times();
    let inside = (0..points).rfind(|&point| times[point] < 0.9).unwrap();
    assert!(spread(inside) < 0.01, "steered paths keep together: {}", spread(inside));
    assert!(spread(points - 1) > 0.05, "and part where nothing steers: {}", spread(points - 1));
}

#[test]
fn the_prior_has_paths_of_its_own() {
    let data = oscillations(3, 2);
    let batch = batcher().assemble(&data, &[0, 1, 2], NoiseKey::new(2, 0)).unwrap();
    for latent in processes() {
        let outputs = model(latent).valid().prior_outputs(&batch, draws(500), OutputParts::ALL).unwrap();
        let states = outputs.states.unwrap();
        let norms: Vec<f32> = entries(states.clone().powi_scalar(2).sum_dim(2));
        assert!(norms.iter().all(|norm| (norm - 1.0).abs() < 1e-5));
        // Uniform at every time: the mean of 500 has a standard deviation of 0.02 in every direction.
        let mean: Tensor<3> = states.mean_dim(0);
        assert!(entries(mean).iter().all(|x| x.abs() < 0.1), "{latent:?}");
    }
}

#[test]
fn what_makes_no_model_is_refused_in_words() {
    let words = |change: &dyn Fn(&mut KnotSdeConfig)| {
        let mut config = config(steered());
        change(&mut config);
        config.init(&mut InitialWeights::new(1, &Device::flex())).unwrap_err().to_string()
    };
    assert_eq!(
        words(&|config| config.encoder.nearness = 0.0),
        "`encoder.nearness` is 0; it must be positive and finite"
    );
    assert!(words(&|config| config.encoder.positions.even = 1).contains("`encoder.positions.even`"));
    assert!(words(&|config| config.encoder.hidden = 0).contains("`encoder.hidden`"));
    assert!(words(&|config| config.latent = config.latent.with_dim(1)).contains("`latent.dim`"));
    let image = Observation::Image { channels: 1, height: 4, width: 4 };
    let mut config = config(steered());
    config.observation = image;
    let error = config.init(&mut InitialWeights::new(1, &Device::flex())).unwrap_err();
    assert!(matches!(error, ModelConfigError::Encoder { reads: "vectors", .. }), "{error}");
}
