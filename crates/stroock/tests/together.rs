//! Members of a world that train together get the bits of one process, whatever their number.

mod members;
mod oscillations;
mod pictures;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use burn::module::Module;
use burn::tensor::Device;
use members::together;
use stroock::batch::Batcher;
use stroock::initial::InitialWeights;
use stroock::model::{ModelSettings, SeriesModel, to_file};
use stroock::run::{Metrics, Progress, RunFolder, RunLength, StopFlag, TensorValues};
use stroock::series::{Dataset, Split};
use stroock::training::{
    AdamConfig, Alone, Outcome, Scores, Trained, Trainer, TrainingConfig, TrainingError, Validation, World,
    WorldError,
};

const FILES: [&str; 4] =
    ["model.safetensors", "last/model.safetensors", "last/optimiser.safetensors", "last/state.json"];

/// Batches of 5, 5 and 1 series in chunks that are not all of one size, and in one that is a single series.
fn config(epochs: u64, chunks: usize) -> TrainingConfig {
    TrainingConfig {
        epochs,
        chunks,
        batch_size: 5,
        rate: 3e-3,
        adam: AdamConfig { clip: Some(1.0), ..AdamConfig::default() },
        average: Some(0.9),
        ..TrainingConfig::default()
    }
}

struct Problem<F> {
    data: Dataset,
    batcher: Batcher,
    model: F,
}

fn oscillators() -> Problem<impl Fn() -> oscillations::Model + Sync> {
    Problem {
        data: oscillations::oscillations(18, 2),
        batcher: oscillations::batcher(),
        model: || oscillations::model(2, 4, 6, &Device::flex().autodiff()),
    }
}

/// What a run leaves behind: the bytes of its files, and its metrics without times.
type Traces = (BTreeMap<&'static str, Vec<u8>>, Vec<String>);

fn traces(run: &Path) -> Traces {
    let files = FILES.map(|name| (name, fs::read(run.join(name)).unwrap()));
    let untimed = |name: &str| !["seconds", "threads", "processes"].contains(&name);
    let rows = Metrics::read(&run.join("metrics.jsonl")).unwrap().rows;
    let row = |row: &stroock::run::MetricsRow| {
        let numbers = row.numbers();
        format!("{:?}", numbers.iter().filter(|(name, _)| untimed(name)).collect::<Vec<_>>())
    };
    (BTreeMap::from(files), rows.iter().map(row).collect())
}

/// One member of a run, in a folder that only the first one opens.
fn train<M: SeriesModel>(
    world: &dyn World,
    problem: &Problem<impl Fn() -> M>,
    config: TrainingConfig,
    run: &Path,
    stop: &StopFlag,
) -> Result<Trained<M>, TrainingError> {
    let split = Split { train: (0..11).collect(), validation: (11..18).collect(), test: Vec::new() };
    let Problem { data, batcher, model } = problem;
    let trainer = Trainer { config, data, split: &split, batcher: *batcher, metadata: None };
    let folder = world.is_first().then(|| {
        let folder = RunFolder::open(run).or_else(|_| RunFolder::create(run)).unwrap();
        folder.write_config("").unwrap();
        folder
    });
    let mut progress = Progress::hidden(RunLength { epochs: config.epochs, steps_per_epoch: 3, done: 0 });
    trainer.run_over(world, model(), &trainer.by_loss(), folder.as_ref(), stop, &mut progress)
}

fn bytes<M: Module>(model: &M) -> Vec<u8> {
    to_file(model).unwrap().to_bytes().unwrap()
}

/// Runs with 1 to 4 members leave the same bytes as a process on its own, and all members have the same models.
fn any_number_gets_the_same<M: SeriesModel + Send>(problem: &Problem<impl Fn() -> M + Sync>, chunks: usize) {
    let root = tempfile::tempdir().unwrap();
    let (alone, config) = (root.path().join("alone"), config(2, chunks));
    let expected = train(&Alone, problem, config, &alone, &StopFlag::new()).unwrap();
    for size in 1..=chunks.min(4) {
        let run = root.path().join(format!("{chunks}-{size}"));
        let trained = together(size, |world| train(world, problem, config, &run, &StopFlag::new()).unwrap());
        assert!(traces(&run) == traces(&alone), "{chunks} chunks, {size} members");
        for member in trained {
            assert_eq!((member.outcome, member.best), (Outcome::Finished, expected.best));
            assert!(bytes(&member.model) == bytes(&expected.model), "the last model of {size}");
            assert!(bytes(&member.best_model) == bytes(&expected.best_model), "the best model of {size}");
        }
    }
}

#[test]
fn any_number_of_members_gets_the_same_bits() {
    for chunks in [4, 5, 12] {
        any_number_gets_the_same(&oscillators(), chunks);
    }
}

/// Layers that are normalised over a batch leave running moments behind.
#[test]
fn layers_of_images_and_their_running_moments_do_not_depend_on_the_number_of_members() {
    for config in [pictures::of_frames(), pictures::of_the_first_frame()] {
        let model = || {
            let mut weights = InitialWeights::new(4, &Device::flex().autodiff());
            config.init(&mut weights).unwrap().materialize()
        };
        let problem = Problem { data: pictures::pictures(18), batcher: pictures::batcher(), model };
        any_number_gets_the_same(&problem, 3);
    }
}

fn parameters<M: Module>(model: &M) -> Vec<f32> {
    let tensors = to_file(model).unwrap().tensors.into_iter();
    let values = |tensor: stroock::run::Tensor| match tensor.into_values() {
        TensorValues::F32(values) => values,
        other => panic!("{other:?}"),
    };
    tensors.flat_map(|(_, tensor)| values(tensor)).collect()
}

/// The gradient of a batch is the sum of those of its chunks: only the rounding differs.
#[test]
fn a_batch_that_is_cut_trains_as_a_whole_one() {
    let (problem, root) = (oscillators(), tempfile::tempdir().unwrap());
    let start = parameters(&(problem.model)());
    let trained = |chunks: usize| {
        // With a large `epsilon`, steps are proportional to gradients, and rounding stays rounding.
        let adam = AdamConfig { epsilon: 1.0, ..AdamConfig::default() };
        let config = TrainingConfig { adam, rate: 0.1, average: None, ..config(1, chunks) };
        let run = root.path().join(chunks.to_string());
        parameters(&train(&Alone, &problem, config, &run, &StopFlag::new()).unwrap().model)
    };
    let largest = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    let (whole, cut) = (trained(1), trained(4));
    assert_ne!(whole, cut);
    let (moved, difference) = (largest(&whole, &start), largest(&whole, &cut));
    assert!(difference < 1e-4 * moved, "{difference} after a way of {moved}");
}

#[test]
fn a_run_that_one_member_stops_goes_on_in_another_number_of_them() {
    let (problem, root) = (oscillators(), tempfile::tempdir().unwrap());
    let [whole, parts] = ["whole", "parts"].map(|name| root.path().join(name));
    train(&Alone, &problem, config(3, 4), &whole, &StopFlag::new()).unwrap();

    together(3, |world| train(world, &problem, config(1, 4), &parts, &StopFlag::new()).unwrap());
    let before = traces(&parts);
    let stopped = together(4, |world| {
        let stop = StopFlag::new();
        if world.rank() == 2 {
            stop.request();
        }
        train(world, &problem, config(3, 4), &parts, &stop).unwrap()
    });
    assert!(stopped.iter().all(|member| (member.outcome, member.epochs) == (Outcome::Stopped, 1)));
    assert!(traces(&parts) == before);
    together(2, |world| train(world, &problem, config(2, 4), &parts, &StopFlag::new()).unwrap());
    train(&Alone, &problem, config(3, 4), &parts, &StopFlag::new()).unwrap();
    assert!(traces(&parts) == traces(&whole));
}

#[test]
fn a_member_without_a_chunk_is_refused() {
    let (problem, root) = (oscillators(), tempfile::tempdir().unwrap());
    let refused = together(3, |world| {
        train(world, &problem, config(1, 2), &root.path().join("run"), &StopFlag::new())
            .unwrap_err()
            .to_string()
    });
    for words in refused {
        assert!(words.starts_with("`chunks` is 2: ") && words.contains("processes (3)"), "{words}");
    }
}

/// Finds nothing to compare by, and on one member something wrong.
struct FailsOnTheSecond;

impl<M> Validation<M> for FailsOnTheSecond {
    fn score(&self, _: &M, _: u64, world: &dyn World) -> Result<Option<Scores>, TrainingError> {
        if world.rank() == 1 { Err(TrainingError::NoSeries) } else { Ok(None) }
    }
}

#[test]
fn a_member_that_fails_ends_all_with_its_reason() {
    let Problem { data, batcher, model } = &oscillators();
    let split = Split { train: (0..11).collect(), validation: Vec::new(), test: Vec::new() };
    let errors = together(3, |world| {
        let trainer =
            Trainer { config: config(2, 4), data, split: &split, batcher: *batcher, metadata: None };
        let mut progress = Progress::hidden(RunLength { epochs: 2, steps_per_epoch: 3, done: 0 });
        trainer
            .run_over(world, model(), &FailsOnTheSecond, None, &StopFlag::new(), &mut progress)
            .unwrap_err()
    });
    assert!(matches!(errors[1], TrainingError::NoSeries));
    for rank in [0, 2] {
        let TrainingError::World(WorldError::Elsewhere { rank: failed, size: 3, reason }) = &errors[rank]
        else {
            panic!("{:?}", errors[rank]);
        };
        assert_eq!((*failed, reason), (1, &TrainingError::NoSeries.to_string()));
    }
}

#[test]
fn a_member_with_other_parameters_is_found() {
    let Problem { data, batcher, .. } = &oscillators();
    let split = Split { train: (0..11).collect(), validation: Vec::new(), test: Vec::new() };
    let errors = together(3, |world| {
        let trainer =
            Trainer { config: config(1, 4), data, split: &split, batcher: *batcher, metadata: None };
        let mut progress = Progress::hidden(RunLength { epochs: 1, steps_per_epoch: 3, done: 0 });
        let mut model = oscillations::model(2, 4, 6, &Device::flex().autodiff());
        if world.rank() == 2 {
            let mut file = to_file(&model).unwrap();
            let (_, tensor) = &mut file.tensors[0];
            let moved: Vec<f32> = tensor.entries::<f32>().unwrap().iter().map(|entry| entry + 1e-3).collect();
            *tensor = stroock::run::Tensor::new(tensor.shape().to_vec(), moved).unwrap();
            model = stroock::model::from_file(model, &file).unwrap();
        }
        let by_loss = trainer.by_loss();
        trainer.run_over(world, model, &by_loss, None, &StopFlag::new(), &mut progress).unwrap_err()
    });
    for error in errors {
        assert!(matches!(error, TrainingError::World(WorldError::Differs { rank: 2, size: 3 })), "{error}");
    }
}
