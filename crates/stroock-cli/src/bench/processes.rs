//! Training steps of an experiment in the processes that a launcher of MPI has started, as runs take them: batches
//! assembled and cut, gradients exchanged.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use burn::module::Module;
use burn::tensor::Device;
use serde::Serialize;
use stroock::initial::InitialWeights;
use stroock::model::{ModelSettings, StandardModel, to_file};
use stroock::run::{Progress, RunLength, StopFlag};
use stroock::series::{Dataset, Split};
use stroock::training::{Scores, Trainer, TrainingConfig, TrainingError, Validation, World};
use stroock_experiments::protocol::Protocol;
use stroock_mpi::Meter;

use super::shapes;
use super::timing::Timing;
use crate::arguments::ProcessesArguments;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::processes::Processes;

/// Steps of an epoch, which is what is timed, and epochs before.
const STEPS: usize = 10;
const WARM_UP: usize = 1;

#[derive(Serialize)]
struct Report {
    name: String,
    processes: usize,
    threads: usize,
    batch_size: usize,
    chunks: usize,
    parameters: usize,
    #[serde(flatten)]
    step: Timing,
    /// A step in the first process: messages, bytes to others, milliseconds of moving them, and of waiting for others.
    operations: f64,
    bytes_sent: f64,
    moving_ms: f64,
    waiting_ms: f64,
}

/// Nothing to compare models by.
struct Never;

impl<M> Validation<M> for Never {
    fn score(&self, _: &M, _: u64, _: &dyn World) -> Result<Option<Scores>, TrainingError> {
        Ok(None)
    }
}

struct Problem {
    protocol: Protocol,
    data: Dataset,
    split: Split,
}

pub fn run(arguments: &ProcessesArguments, processes: &Processes) -> Result<(), Failure> {
    let options = arguments.minutes.options();
    let mut protocol = arguments.experiment.paper(options);
    let training = &mut protocol.training;
    training.batch_size = arguments.batch_size.unwrap_or(training.batch_size).max(1);
    processes.open_chunks(training);
    training.chunks = arguments.chunks.unwrap_or(training.chunks);
    processes.settle_chunks(training);
    let (batch_size, chunks) = (training.batch_size, training.chunks);
    let count = batch_size * STEPS;
    let data = shapes::series(arguments.experiment, options, &protocol, count)?;
    let split = Split { train: (0..count).collect(), validation: Vec::new(), test: Vec::new() };
    let problem = Problem { protocol, data, split };

    let world = processes.world();
    let (parameters, times) = problem.train(world, arguments.repeat.max(1))?;
    // The meter has its own price: another run pays it.
    let meter = Meter::new(world);
    let (_, measured) = problem.train(&meter, arguments.repeat.max(1))?;
    let traffic = meter.take();
    let steps = ((measured.len() + WARM_UP) * STEPS) as f64;
    let report = Report {
        name: format!("processes/{}", arguments.experiment.name()),
        processes: world.size(),
        threads: rayon::current_num_threads(),
        batch_size,
        chunks,
        parameters,
        step: Timing::of(&times),
        operations: traffic.operations as f64 / steps,
        bytes_sent: traffic.sent as f64 / steps,
        moving_ms: traffic.moving.as_secs_f64() * 1e3 / steps,
        waiting_ms: traffic.waiting.as_secs_f64() * 1e3 / steps,
    };
    if arguments.json { print_json(&report) } else { print(&text(&report)) }
}

impl Problem {
    /// The number of parameters, and the seconds a step of every epoch.
    fn train(&self, world: &dyn World, repeat: usize) -> Result<(usize, Vec<f64>), Failure> {
        let config = TrainingConfig { epochs: (WARM_UP + repeat) as u64, ..self.protocol.training };
        let device = Device::flex().autodiff();
        let model: StandardModel =
            self.protocol.model.init(&mut InitialWeights::new(1, &device))?.materialize();
        let parameters = to_file(&model)?.tensors.iter().map(|(_, tensor)| tensor.values().len()).sum();
        let (data, split, batcher) = (&self.data, &self.split, self.protocol.batcher);
        let trainer = Trainer { config, data, split, batcher, metadata: None };
        let ends = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&ends);
        let length = RunLength { epochs: config.epochs, steps_per_epoch: STEPS as u64, done: 0 };
        let mut progress = Progress::called(length, move |moment| {
            if moment.is_mark {
                noted.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
            }
        });
        trainer.run_over(world, model, &Never, None, &StopFlag::new(), &mut progress)?;
        let ends = ends.lock().unwrap_or_else(PoisonError::into_inner);
        let seconds = ends.windows(2).skip(WARM_UP - 1).map(|pair| (pair[1] - pair[0]).as_secs_f64());
        Ok((parameters, seconds.map(|seconds| seconds / STEPS as f64).collect()))
    }
}

fn text(report: &Report) -> String {
    let Report { name, processes, threads, batch_size, chunks, parameters, step, .. } = report;
    let Report { operations, bytes_sent, moving_ms, waiting_ms, .. } = report;
    format!(
        "{name}, batch {batch_size} in {chunks} chunks, {processes} processes with {threads} threads: {:.2} ms a step \
         (80 % between {:.2} and {:.2})\n  {parameters} parameters; {operations:.0} messages a step, {:.1} kB to other \
         processes in {moving_ms:.3} ms ({:.1} % of the step), {waiting_ms:.3} ms of waiting for them",
        step.median_ms,
        step.low_ms,
        step.high_ms,
        bytes_sent / 1e3,
        100.0 * moving_ms / step.median_ms,
    )
}
