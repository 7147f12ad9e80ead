//! Runs that are stopped go on exactly where they were.

mod oscillations;

use std::collections::BTreeMap;

use burn::module::Module;
use burn::tensor::Device;
use oscillations::{Model, batcher, model, oscillations};
use stroock::model::{from_file, to_file};
use stroock::objective::ElboWeights;
use stroock::run::{Metrics, Progress, RunFolder, RunLength, StopFlag, TensorFile, to_toml};
use stroock::series::{Dataset, Split};
use stroock::training::{AdamConfig, Outcome, Schedule, Trained, Trainer, TrainingConfig, TrainingError};

fn config(epochs: u64) -> TrainingConfig {
    TrainingConfig {
        epochs,
        batch_size: 4,
        rate: 3e-3,
        schedule: Schedule::CyclicCosine { period: 8 },
        adam: AdamConfig { weight_decay: 1e-4, clip: Some(5.0), ..AdamConfig::default() },
        weights: ElboWeights { kl_start: 1e-3, kl_path: 1e-4, ..ElboWeights::default() },
        ..TrainingConfig::default()
    }
}

fn start() -> Model {
    model(2, 4, 6, &Device::flex().autodiff())
}

fn train<'f>(
    data: &Dataset,
    config: TrainingConfig,
    folder: impl Into<Option<&'f RunFolder>>,
    stop: &StopFlag,
) -> Result<Trained<Model>, TrainingError> {
    let split = Split { train: (0..10).collect(), validation: (10..14).collect(), test: Vec::new() };
    let trainer = Trainer { config, data, split: &split, batcher: batcher(), metadata: None };
    let mut progress = Progress::hidden(RunLength { epochs: config.epochs, steps_per_epoch: 3, done: 0 });
    trainer.run(start(), folder, stop, &mut progress)
}

/// The metrics of a run without the wall time.
fn metrics(folder: &RunFolder) -> Vec<String> {
    let metrics = Metrics::read(&folder.paths().metrics()).unwrap();
    let numbers = ["loss", "kl_start", "kl_path", "negative_log_likelihood", "validation_loss", "rate"];
    metrics.rows.iter().map(|row| format!("{:?}", numbers.map(|name| row.get(name).cloned()))).collect()
}

#[test]
fn a_resumed_run_has_the_same_metrics_to_the_last_bit() {
    let (data, root) = (oscillations(14, 2), tempfile::tempdir().unwrap());
    let whole = RunFolder::create(root.path().join("whole")).unwrap();
    let trained = train(&data, config(5), &whole, &StopFlag::new()).unwrap();
    assert_eq!((trained.outcome, trained.epochs), (Outcome::Finished, 5));

    let parts = root.path().join("parts");
    let folder = RunFolder::create(&parts).unwrap();
    folder.write_config(&to_toml(&config(5)).unwrap()).unwrap();
    train(&data, config(2), &folder, &StopFlag::new()).unwrap();
    drop(folder);
    // Between the two, a run that is asked to stop at once changes nothing.
    let folder = RunFolder::open(&parts).unwrap();
    let stop = StopFlag::new();
    stop.request();
    let stopped = train(&data, config(5), &folder, &stop).unwrap();
    assert_eq!((stopped.outcome, stopped.epochs), (Outcome::Stopped, 2));
    let resumed = train(&data, config(5), &folder, &StopFlag::new()).unwrap();
    assert_eq!(resumed.outcome, Outcome::Finished);
    assert_eq!(metrics(&folder), metrics(&whole));
    assert_eq!(resumed.best, trained.best);
    let [a, b] = [&resumed.model, &trained.model].map(|model| to_file(model).unwrap().tensors);
    assert_eq!(a, b);
    // The best model is the one on disk, whoever trained it.
    let tensors = |model: &Model| BTreeMap::from_iter(to_file(model).unwrap().tensors);
    let saved = BTreeMap::from_iter(TensorFile::load(&whole.paths().model()).unwrap().tensors);
    assert_eq!([tensors(&resumed.best_model), tensors(&trained.best_model)], [saved.clone(), saved]);

    // In memory, without a folder, it is the same run.
    let in_memory = train(&data, config(5), None, &StopFlag::new()).unwrap();
    assert_eq!((tensors(&in_memory.model), in_memory.best), (tensors(&trained.model), trained.best));
    assert_eq!(tensors(&in_memory.best_model), tensors(&trained.best_model));
}

/// Averaged parameters, and a rate that changes with every step.
fn averaged(epochs: u64) -> TrainingConfig {
    let schedule = Schedule::WarmCosine { epochs: 5, warm_up: 1.5, floor: 0.01 };
    TrainingConfig { average: Some(0.9), schedule, ..config(epochs) }
}

const FILES: [&str; 4] =
    ["model.safetensors", "last/model.safetensors", "last/optimiser.safetensors", "last/state.json"];

#[test]
fn a_resumed_run_with_averages_and_a_warm_cosine_has_the_same_files_to_the_byte() {
    let (data, root) = (oscillations(14, 2), tempfile::tempdir().unwrap());
    let whole = RunFolder::create(root.path().join("whole")).unwrap();
    let trained = train(&data, averaged(5), &whole, &StopFlag::new()).unwrap();

    let parts = root.path().join("parts");
    let folder = RunFolder::create(&parts).unwrap();
    folder.write_config(&to_toml(&averaged(5)).unwrap()).unwrap();
    train(&data, averaged(2), &folder, &StopFlag::new()).unwrap();
    let stop = StopFlag::new();
    stop.request();
    let tensors = |model: &Model| BTreeMap::from_iter(to_file(model).unwrap().tensors);
    let stopped = train(&data, averaged(5), &folder, &stop).unwrap();
    let two = train(&data, averaged(2), None, &StopFlag::new()).unwrap();
    assert_eq!((stopped.outcome, tensors(&stopped.model)), (Outcome::Stopped, tensors(&two.model)));
    drop(folder);
    let folder = RunFolder::open(&parts).unwrap();
    let resumed = train(&data, averaged(5), &folder, &StopFlag::new()).unwrap();
    assert_eq!(metrics(&folder), metrics(&whole));
    for name in FILES {
        let [a, b] = ["whole", "parts"].map(|run| std::fs::read(root.path().join(run).join(name)).unwrap());
        assert!(a == b, "{name} differs");
    }
    assert_eq!(resumed.best, trained.best);
    assert_eq!(tensors(&resumed.model), tensors(&trained.model));
    assert_eq!(tensors(&resumed.best_model), tensors(&trained.best_model));

    // The model that is returned is the average of the one that goes on.
    let load = |name: &str| TensorFile::load(&root.path().join("whole").join(name)).unwrap();
    let (raw, optimiser) = (load("last/model.safetensors"), load("last/optimiser.safetensors"));
    assert_ne!(tensors(&trained.model), BTreeMap::from_iter(raw.tensors));
    for (name, tensor) in tensors(&trained.model) {
        let average = optimiser.entries::<f32>(&format!("average.{name}")).unwrap();
        assert_eq!(tensor.entries::<f32>().unwrap(), average, "{name}");
    }
    assert_eq!(tensors(&trained.best_model), BTreeMap::from_iter(load("model.safetensors").tensors));
}

/// Three steps an epoch; the row of an epoch has the rate of its last one.
#[test]
fn a_warm_cosine_has_a_rate_for_every_step() {
    let (data, root) = (oscillations(14, 2), tempfile::tempdir().unwrap());
    let folder = RunFolder::create(root.path().join("run")).unwrap();
    train(&data, averaged(2), &folder, &StopFlag::new()).unwrap();
    let metrics = Metrics::read(&folder.paths().metrics()).unwrap();
    for (epoch, row) in metrics.rows.iter().enumerate() {
        let time = epoch as f64 + 2.5 / 3.0;
        let rate = averaged(2).schedule.rate_at(3e-3, time);
        assert_eq!(row.get("rate").and_then(|rate| rate.as_number()), Some(rate));
    }
}

#[test]
fn averages_change_what_is_kept_and_not_what_is_trained() {
    let (data, root) = (oscillations(14, 2), tempfile::tempdir().unwrap());
    let files = |name: &str, config: TrainingConfig| {
        let folder = RunFolder::create(root.path().join(name)).unwrap();
        train(&data, config, &folder, &StopFlag::new()).unwrap();
        FILES.map(|file| std::fs::read(folder.paths().folder().join(file)).unwrap())
    };
    let with = files("with", TrainingConfig { average: Some(0.9), ..config(2) });
    let without = files("without", config(2));
    assert!(with[0] != without[0], "the best models are the same");
    assert!(with[1] == without[1], "the models that go on differ");
    // Without averages, the state is the one of runs that know nothing of them.
    let [_, _, optimiser, state] = without;
    let optimiser = TensorFile::from_bytes("optimiser", &optimiser).unwrap();
    let is_moment = |name: &str| name.starts_with("first.") || name.starts_with("second.");
    assert!(optimiser.tensors.iter().all(|(name, _)| is_moment(name)));
    assert!(!String::from_utf8(state).unwrap().contains("averaged"));
}

#[test]
fn averages_can_begin_and_end_with_a_resumed_run() {
    let (data, root) = (oscillations(14, 2), tempfile::tempdir().unwrap());
    let folder = RunFolder::create(root.path().join("run")).unwrap();
    let average = |epochs| TrainingConfig { average: Some(0.9), ..config(epochs) };
    let tensors = |trained: &Trained<Model>| BTreeMap::from_iter(to_file(&trained.model).unwrap().tensors);
    let run = |config: TrainingConfig| train(&data, config, &folder, &StopFlag::new()).unwrap();
    run(config(1));
    let raw = || {
        BTreeMap::from_iter(
            TensorFile::load(&folder.paths().last().join("model.safetensors")).unwrap().tensors,
        )
    };
    assert_ne!(tensors(&run(average(2))), raw());
    assert_eq!(tensors(&run(config(3))), raw());
    let whole = train(&data, config(3), None, &StopFlag::new()).unwrap();
    assert_eq!(raw(), tensors(&whole), "the parameters themselves are those of a run without averages");
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    let data = oscillations(14, 2);
    let words = |config| train(&data, config, None, &StopFlag::new()).unwrap_err().to_string();
    for average in [-0.1, 1.0, f64::NAN] {
        let error = words(TrainingConfig { average: Some(average), ..config(1) });
        assert!(error.contains(&format!("`average` is {average}")), "{error}");
    }
    let schedule = Schedule::WarmCosine { epochs: 5, warm_up: -1.0, floor: 0.0 };
    let error = words(TrainingConfig { schedule, ..config(1) });
    assert!(error.contains("`schedule.warm_up` is -1"), "{error}");
}

/// An epoch of five out of ten series has two steps of at most four, and other series than the next one.
#[test]
fn an_epoch_can_be_a_part_of_the_series() {
    #[derive(serde::Deserialize)]
    struct State {
        steps: u64,
    }
    let (data, root) = (oscillations(14, 2), tempfile::tempdir().unwrap());
    let frozen = TrainingConfig { rate: 0.0, series_per_epoch: Some(5), ..config(3) };
    assert_eq!(
        (frozen.series_of_epoch(10), frozen.steps_of_epoch(10), config(3).steps_of_epoch(10)),
        (5, 2, 3)
    );
    assert_eq!(TrainingConfig { series_per_epoch: Some(50), ..config(3) }.series_of_epoch(10), 10);
    let folder = RunFolder::create(root.path().join("parts")).unwrap();
    train(&data, frozen, &folder, &StopFlag::new()).unwrap();
    assert_eq!(folder.load_state::<State>().unwrap().map(|state| state.steps), Some(6));
    // The start divergence depends on which series there are, not on the noise of the paths.
    let metrics = Metrics::read(&folder.paths().metrics()).unwrap();
    let start = |row: usize| metrics.rows[row].get("kl_start").cloned();
    assert!(start(0).is_some() && start(0) != start(1));
}

#[test]
fn a_saved_model_gives_the_same_numbers() {
    let (data, root) = (oscillations(14, 2), tempfile::tempdir().unwrap());
    let folder = RunFolder::create(root.path().join("run")).unwrap();
    let trained = train(&data, config(3), &folder, &StopFlag::new()).unwrap();
    let file = TensorFile::load(&root.path().join("run/last/model.safetensors")).unwrap();
    let loaded = from_file(start(), &file).unwrap();
    let batch =
        batcher().assemble(&data, &[11, 12, 13], stroock_kernels::noise::NoiseKey::new(8, 8)).unwrap();
    let output = |model: &Model| {
        let key = stroock_kernels::noise::NoiseKey::new(4, 0);
        let draws = stroock::model::PathDraws { key, samples: 3, first_sample: 0 };
        let output = model.valid().bound(&batch, draws).unwrap().output;
        output.into_data().try_to_vec::<f32>().unwrap()
    };
    assert_eq!(output(&loaded), output(&trained.model));
    let other = model(2, 5, 6, &Device::flex().autodiff());
    let error = from_file(other, &file).unwrap_err().to_string();
    assert!(error.contains("process.mu"), "{error}");
}

#[test]
fn a_diverging_run_names_the_place_and_keeps_the_last_model() {
    let (data, root) = (oscillations(14, 2), tempfile::tempdir().unwrap());
    let folder = RunFolder::create(root.path().join("run")).unwrap();
    train(&data, config(1), &folder, &StopFlag::new()).unwrap();
    let kept = std::fs::read(folder.paths().model()).unwrap();
    let wild =
        TrainingConfig { rate: 1e30, schedule: Schedule::Constant, adam: AdamConfig::default(), ..config(9) };
    let error = train(&data, wild, &folder, &StopFlag::new()).unwrap_err().to_string();
    assert!(error.contains("epoch 2"), "{error}");
    assert_eq!(std::fs::read(folder.paths().model()).unwrap(), kept);
}

#[test]
fn training_stops_early_when_validation_does_not_get_better() {
    let (data, root) = (oscillations(14, 2), tempfile::tempdir().unwrap());
    let folder = RunFolder::create(root.path().join("run")).unwrap();
    let frozen = TrainingConfig { rate: 0.0, patience: 2, ..config(20) };
    let trained = train(&data, frozen, &folder, &StopFlag::new()).unwrap();
    assert_eq!((trained.outcome, trained.epochs), (Outcome::EarlyStop, 3));
}

#[test]
fn rare_saves_give_the_same_run_and_lose_nothing_at_its_end() {
    let (data, root) = (oscillations(14, 2), tempfile::tempdir().unwrap());
    let often = RunFolder::create(root.path().join("often")).unwrap();
    train(&data, config(5), &often, &StopFlag::new()).unwrap();
    let seldom = RunFolder::create(root.path().join("seldom")).unwrap();
    let rare = TrainingConfig { save_every: 3, tensorboard: true, ..config(5) };
    let trained = train(&data, rare, &seldom, &StopFlag::new()).unwrap();
    assert_eq!(metrics(&seldom), metrics(&often));
    let [a, b] = [&seldom, &often].map(|folder| std::fs::read(folder.paths().model()).unwrap());
    assert!(a == b, "the best models differ");
    let last = std::fs::read(seldom.paths().last().join("model.safetensors")).unwrap();
    assert!(last == to_file(&trained.model).unwrap().to_bytes().unwrap(), "the last models differ");
    let names = std::fs::read_dir(seldom.paths().folder()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().any(|name| name.to_string_lossy().starts_with("events.out.tfevents")));
}
