//! Training and evaluation in a run folder.

use std::path::Path;

use burn::module::Module;
use burn::tensor::Device;
use stroock::batch::{Batcher, TargetChoice};
use stroock::initial::InitialWeights;
use stroock::model::{Description, ModelConfigError, ModelFileError, ModelSettings, StandardModel};
use stroock::run::{ConfigError, Metrics, Progress, RunError, RunFolder, RunLength, StopFlag, to_toml};
use stroock::training::{Outcome, Trainer, TrainingError, World, WorldError};
use stroock_kernels::noise::{NoiseKey, Stage};
use thiserror::Error;

use super::{Evaluation, Evaluator, PreparedData, PreparedDataError, RunConfig, RunResult, RunStatus};
use crate::protocol::Experiment;

/// Why an experiment cannot be reproduced.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// There are no data.
    #[error(transparent)]
    PreparedData(#[from] PreparedDataError),
    /// The configuration makes no model.
    #[error(transparent)]
    Model(#[from] ModelConfigError),
    /// Training failed.
    #[error(transparent)]
    Training(#[from] TrainingError),
    /// Another process of the run failed.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The model file cannot be used.
    #[error(transparent)]
    ModelFile(#[from] ModelFileError),
    /// The run folder cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The configuration cannot be written.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// A run that has ended: the model that was tested, its description and the result.
#[derive(Debug)]
pub struct Reproduction {
    /// The tested model, ready for inference.
    pub model: StandardModel,
    /// What its file says about it.
    pub description: Description,
    /// What the run has found.
    pub result: RunResult,
}

/// Draws of the second evaluation on the test series.
const DRAWS: usize = 16;

/// Trains a model on the prepared data of a run, from where the folder ends, and tests it.
///
/// The tested model is that of the best validation metric; where a protocol has no validation series, that of
/// the last epoch. `command` is noted in the result.
///
/// Several processes of a world train and test together. The first of them has the folder, and the result.
///
/// # Errors
/// When the data do not fit, training diverges, the folder cannot be written, or another process fails.
pub fn reproduce(
    world: &dyn World,
    config: &RunConfig,
    prepared: &PreparedData,
    folder: Option<&RunFolder>,
    command: String,
    stop: &StopFlag,
    progress: impl FnOnce(RunLength) -> Progress,
) -> Result<Option<Reproduction>, ReproduceError> {
    let protocol = &config.protocol;
    let training = protocol.training;
    let device = Device::flex().autodiff();
    let model = protocol.model.init(&mut InitialWeights::new(training.seed, &device))?.materialize();
    let description = Description { model: protocol.model.clone(), data: prepared.description(config) };
    let metadata = description.metadata()?;
    let trainer = Trainer {
        config: training,
        data: &prepared.data,
        split: &prepared.split,
        batcher: Batcher {
            input: protocol.training_input.unwrap_or(protocol.batcher.input),
            ..protocol.batcher
        },
        metadata: Some(&metadata),
    };
    let evaluator = |numbers, stage, samples| Evaluator {
        metric: protocol.metric,
        data: &prepared.data,
        numbers,
        // What is left out in training only is there to be predicted in testing.
        batcher: Batcher { targets: TargetChoice::All, ..protocol.batcher },
        batch_size: training.batch_size,
        key: NoiseKey::of(training.seed, stage),
        samples,
    };
    let steps_per_epoch = training.steps_of_epoch(prepared.split.train.len());
    let begin = |folder: &RunFolder| -> Result<u64, ReproduceError> {
        folder.write_config(&to_toml(config)?)?;
        Ok(trainer.done(folder)?)
    };
    let done = world.agree(folder.map_or(Ok(0), begin))?;
    let mut progress = progress(RunLength { epochs: training.epochs, steps_per_epoch, done });
    let validation = evaluator(&prepared.split.validation, Stage::Validation, training.validation_samples);
    let trained = trainer.run_over(world, model, &validation, folder, stop, &mut progress)?;
    progress.finish();

    let by_validation = !prepared.split.validation.is_empty() && config.experiment != Experiment::Physionet;
    let (model, tested_epoch, selection) = match trained.best {
        Some((epoch, _)) if by_validation => (trained.best_model, epoch, "best validation metric"),
        _ => (trained.model, trained.epochs, "last epoch"),
    };
    let model = model.valid();
    let test = |samples| -> Result<Evaluation, TrainingError> {
        evaluator(&prepared.split.test, Stage::Test, samples).evaluate(world, &model)
    };
    let tested = test(training.validation_samples)?;
    let finished = trained.outcome != Outcome::Stopped && !world.any(stop.is_requested())?;
    let test_with_draws = if finished { Some((DRAWS, test(DRAWS)?)) } else { None };
    let Some(folder) = folder else { return Ok(None) };
    let result = RunResult {
        config: config.clone(),
        status: if finished { RunStatus::Finished } else { RunStatus::Stopped },
        epochs: trained.epochs,
        tested_epoch,
        selection: selection.into(),
        test: tested,
        test_with_draws,
        seconds: seconds(&folder.paths().metrics())?,
        threads: Some(rayon::current_num_threads()),
        series: [&prepared.split.train, &prepared.split.validation, &prepared.split.test].map(Vec::len),
        coverage: prepared.coverage.clone(),
        command,
    };
    result.write(folder.paths().folder())?;
    Ok(Some(Reproduction { model, description, result }))
}

/// Seconds of all epochs of a run.
fn seconds(metrics: &Path) -> Result<f64, RunError> {
    let rows = Metrics::read(metrics)?.rows;
    Ok(rows.iter().filter_map(|row| row.get("seconds")?.as_number()).sum())
}
