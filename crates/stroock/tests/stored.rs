//! A table in a file gives the model, the metrics and the answers of the same table in memory, in bounded memory.

use std::path::{Path, PathBuf};

use stroock::estimator::{
    EstimatorError, EvaluateOptions, FitConfig, Goal, Model, PredictOptions, Predictions, Subject,
};
use stroock::run::{Progress, RunFolder, StopFlag};
use stroock::series::table::{Align, Overview, ReadOptions, Room, Sampling, StoredTable, Table};
use stroock::training::Alone;
use stroock_testing::allocation::{self, Counting};
use tempfile::TempDir;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The counters of the allocator are those of the process: tests take turns.
static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Room for very few rows.
fn little() -> Room {
    Room { memory: 20_000, scratch: std::env::temp_dir() }
}

/// Waves of so many series, with gaps, rows of all series mixed, in two files.
fn waves(folder: &Path, series: usize, times: usize) -> Vec<PathBuf> {
    let paths = [folder.join("a.csv"), folder.join("b.csv")];
    let mut texts = [String::from("id,time,x,y,kind\n"), String::from("id,time,x,y,kind\n")];
    for time in 0..times {
        for number in 0..series {
            let t = time as f64 + 0.1 * (number % 7) as f64;
            let x = (0.7 * t + number as f64).sin() + (number % 3) as f64;
            let y = (number + time) % 4 != 0;
            let y = if y { format!("{:.4}", (0.5 * t + number as f64).cos() + 2.0) } else { String::new() };
            texts[(number + time) % 2] += &format!("s{number},{t},{x:.4},{y},{}\n", number % 2);
        }
    }
    for (path, text) in paths.iter().zip(texts) {
        std::fs::write(path, text).unwrap();
    }
    paths.to_vec()
}

fn options() -> ReadOptions {
    ReadOptions { ignore: vec!["kind".into()], ..ReadOptions::default() }
}

/// Metrics and model file of a run, without what depends on the clock.
fn outcome(folder: &TempDir) -> (Vec<String>, Vec<u8>) {
    let metrics = std::fs::read_to_string(folder.path().join("run/metrics.jsonl")).unwrap();
    let is_clock = |part: &&str| part.starts_with("\"seconds\":");
    let timeless = |line: &str| line.split(',').filter(|part| !is_clock(part)).collect::<Vec<_>>().join(",");
    let metrics: Vec<String> = metrics.lines().map(timeless).collect();
    assert!(metrics.len() == 2 && metrics[1].contains("\"validation_loss\":"), "{metrics:?}");
    (metrics, std::fs::read(folder.path().join("run/model.safetensors")).unwrap())
}

fn run(folder: &TempDir) -> RunFolder {
    RunFolder::create(folder.path().join("run")).unwrap()
}

fn fit_both(
    paths: &[PathBuf],
    options: &ReadOptions,
    sampling: Option<Sampling>,
    goal: Goal,
) -> (Model, Model) {
    let table = Table::read(paths, options).unwrap();
    let stored = StoredTable::store(paths, options, &little()).unwrap();
    assert_eq!(Sampling::suggest_stored(&stored).unwrap(), Sampling::suggest(&table));
    let sampling = sampling.unwrap_or_else(|| FitConfig::sampling(&table, goal).sampling);
    let table = table.sampled(sampling);
    let stored = stored.sampled_stored(sampling).unwrap();
    let config = FitConfig::suggest(&table, sampling, goal).unwrap();
    assert_eq!(FitConfig::suggest(&stored, sampling, goal).unwrap(), config);
    let config = config.with_epochs(2);
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let stop = StopFlag::new();
    let fitted = config.fit(&table, &run(&folders[0]), &stop, Progress::hidden).unwrap();
    let plan = config.plan(&stored).unwrap();
    let of_file =
        plan.fit_stored_over(&Alone, &stored, &run(&folders[1]), &stop, Progress::hidden).unwrap().unwrap();
    assert_eq!(of_file.split, fitted.split);
    let (expected, found) = (outcome(&folders[0]), outcome(&folders[1]));
    assert_eq!(found.0, expected.0, "metrics");
    assert!(found.1 == expected.1, "the model files differ");
    let evaluate = EvaluateOptions { draws: 10, ..EvaluateOptions::of(goal) };
    let subject = Subject::of_split(fitted.split, fitted.prepared, table);
    let of_stored = Subject::of_stored(&of_file.model, of_file.split, &stored).unwrap();
    assert_eq!(
        of_stored.evaluate(&of_file.model, &evaluate).unwrap(),
        subject.evaluate(&fitted.model, &evaluate).unwrap()
    );
    (fitted.model, of_file.model)
}

#[test]
fn a_fit_to_a_file_is_the_fit_to_memory() {
    let _turn = TURN.lock();
    let folder = tempfile::tempdir().unwrap();
    let paths = waves(folder.path(), 200, 8);
    let (model, of_file) = fit_both(&paths, &options(), None, Goal::Impute);
    drop(of_file);
    // And so are its answers, whether they are found at once or in parts.
    let expectation = ReadOptions { expect: Some(model.expectation().unwrap()), ..options() };
    let table = Table::read(&paths, &expectation).unwrap();
    let stored = StoredTable::store(&paths, &expectation, &little()).unwrap();
    for at in [None, Some([1.5, 3.25].as_slice())] {
        let predict = PredictOptions { draws: 20, samples: 2, ..PredictOptions::default() };
        let expected = model.impute(&table, at, &predict).unwrap();
        let mut rows = Vec::new();
        let take = |part: &Predictions| {
            let mut text = Vec::new();
            part.data_frame().rows_to_csv(&mut text).unwrap();
            rows.extend(text);
            Ok::<(), EstimatorError>(())
        };
        let answered = model.impute_stored(&stored, at, &predict, take).unwrap();
        let mut text = Vec::new();
        expected.data_frame().rows_to_csv(&mut text).unwrap();
        assert_eq!(rows, text);
        assert_eq!(answered.warnings, expected.warnings);
    }
}

#[test]
fn windows_classes_and_forecasts_of_a_file_are_those_of_memory() {
    let _turn = TURN.lock();
    let folder = tempfile::tempdir().unwrap();
    let long = waves(folder.path(), 4, 600);
    let windows = Sampling { window: Some(12.0), align: Align::Start };
    fit_both(&long, &options(), Some(windows), Goal::Impute);
    let folder = tempfile::tempdir().unwrap();
    let many = waves(folder.path(), 180, 8);
    let labelled = ReadOptions { label: Some("kind".into()), ..ReadOptions::default() };
    fit_both(&many, &labelled, None, Goal::Classify);
    fit_both(&many, &options(), None, Goal::Forecast);
}

#[test]
fn memory_does_not_grow_with_the_table() {
    let _turn = TURN.lock();
    let room = Room { memory: 8 << 20, scratch: std::env::temp_dir() };
    let peak = |times: usize| {
        let folder = tempfile::tempdir().unwrap();
        let paths = waves(folder.path(), 50, times);
        let (bytes, stored) = allocation::peak_of(|| StoredTable::store(&paths, &options(), &room).unwrap());
        let (passes, _) = allocation::peak_of(|| {
            Overview::of_stored(&stored, &room).unwrap();
        });
        (bytes, passes)
    };
    let (few, many) = (peak(4_000), peak(16_000));
    // 800 000 rows of 36 bytes are 29 MB.
    assert!(few.0.max(many.0) < 10 << 20, "reading: {} and {} bytes", few.0, many.0);
    assert!(few.1.max(many.1) < 10 << 20, "describing: {} and {} bytes", few.1, many.1);
}
