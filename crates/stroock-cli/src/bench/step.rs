//! One training step of an experiment: forward, backward, optimiser.

use std::time::Instant;

use burn::module::Module;
use burn::tensor::Device;
use serde::Serialize;
use stroock::batch::Batch;
use stroock::encoder::Encoder;
use stroock::initial::InitialWeights;
use stroock::latent::{PathGrid, StartPlan, start_points};
use stroock::model::{Bound, ModelSettings, PathDraws, StandardLatentSde};
use stroock::training::Adam;
use stroock_experiments::protocol::{Experiment, Protocol};
use stroock_kernels::noise::NoiseKey;

use super::memory::peak_memory_mb;
use super::record::Record;
use super::timing::Timing;
use super::{latent_sde, shapes};
use crate::arguments::StepArguments;
use crate::failure::Failure;
use crate::output::{print, print_json};

const WARM_UP: usize = 3;

/// Medians of the parts of a step, in their order.
#[derive(Serialize)]
struct Parts {
    encoder: f64,
    path: f64,
    decoder: f64,
    backward: f64,
    optimiser: f64,
}

#[derive(Serialize)]
struct Report {
    name: String,
    batch_size: usize,
    threads: usize,
    repeat: usize,
    #[serde(flatten)]
    step: Timing,
    parts_ms: Parts,
    /// Beside the step: from series to a batch.
    assemble_ms: f64,
    peak_memory_mb: Option<f64>,
}

pub fn run(arguments: &StepArguments) -> Result<(), Failure> {
    let experiments = match arguments.experiment {
        Some(experiment) => vec![experiment],
        None => Experiment::ALL.to_vec(),
    };
    for experiment in experiments {
        let Some(report) = measure(experiment, arguments)? else { continue };
        match arguments.json {
            true => print_json(&report)?,
            false => print(&text(&report))?,
        }
    }
    Ok(())
}

/// The times of a step; none where it is recorded instead.
fn measure(experiment: Experiment, arguments: &StepArguments) -> Result<Option<Report>, Failure> {
    let options = arguments.minutes.options();
    let protocol = experiment.paper(options);
    let batch_size = arguments.batch_size.unwrap_or(protocol.training.batch_size).max(1);
    let data = shapes::series(experiment, options, &protocol, batch_size)?;
    let numbers: Vec<usize> = (0..batch_size).collect();
    let assemble =
        |epoch| protocol.batcher.assemble(&data, &numbers, NoiseKey::new(1, epoch)).map_err(Failure::from);

    let device = Device::flex().autodiff();
    let mut model = latent_sde(&protocol)?.init(&mut InitialWeights::new(1, &device))?.materialize();
    if let Some(file) = &arguments.record {
        record(&model, &protocol, &assemble(0)?, !arguments.no_noise)?.save(file)?;
        return Ok(None);
    }
    let mut adam = Adam::new(protocol.training.adam);
    let (mut steps, mut assembling) = (Vec::new(), Vec::new());
    let mut parts = vec![Vec::new(); 5];
    for repeat in 0..WARM_UP + arguments.repeat.max(1) {
        let began = Instant::now();
        let batch = assemble(if arguments.same_batch { 0 } else { repeat as u64 })?;
        let assembled = began.elapsed().as_secs_f64();
        let (next, times) = step(model, &mut adam, &protocol, &batch, repeat as u64)?;
        model = next;
        if repeat >= WARM_UP {
            assembling.push(assembled);
            steps.push(times.iter().sum());
            parts.iter_mut().zip(times).for_each(|(part, time)| part.push(time));
        }
    }
    let name = match experiment {
        Experiment::Physionet => format!("step/physionet-{}min", options.resolution.minutes()),
        other => format!("step/{}", other.name()),
    };
    let part = |i: usize| Timing::of(&parts[i]).median_ms;
    Ok(Some(Report {
        name,
        batch_size,
        threads: rayon::current_num_threads(),
        repeat: steps.len(),
        step: Timing::of(&steps),
        parts_ms: Parts {
            encoder: part(0),
            path: part(1),
            decoder: part(2),
            backward: part(3),
            optimiser: part(4),
        },
        assemble_ms: Timing::of(&assembling).median_ms,
        peak_memory_mb: peak_memory_mb(),
    }))
}

/// One step, and the seconds of its parts.
pub(super) fn step(
    model: StandardLatentSde,
    adam: &mut Adam,
    protocol: &Protocol,
    batch: &Batch,
    epoch: u64,
) -> Result<(StandardLatentSde, [f64; 5]), Failure> {
    let training = &protocol.training;
    let draws = PathDraws { key: NoiseKey::new(1, epoch), samples: training.samples, first_sample: 0 };
    let mut began = Instant::now();
    let mut lap = || {
        let seconds = began.elapsed().as_secs_f64();
        began = Instant::now();
        seconds
    };
    let h = model.encoder.encode(&batch.input)?;
    let encoder = lap();
    let paths = model.process.paths_of(model.process.parameters(h), batch, draws)?;
    let path = lap();
    let loss = model.score(paths, batch)?.losses(training.weights.at(60), batch).mean();
    let decoder = lap();
    let gradients = loss.backward();
    let backward = lap();
    let model = adam.step(model, &gradients, training.rate);
    Ok((model, [encoder, path, decoder, backward, lap()]))
}

/// The first step without the optimiser: parameters, batch, random numbers, parts of the loss, gradients.
fn record(
    model: &StandardLatentSde,
    protocol: &Protocol,
    batch: &Batch,
    with_noise: bool,
) -> Result<Record, Failure> {
    let (training, latent) = (&protocol.training, model.latent());
    let (key, samples, series) = (NoiseKey::new(1, 0), training.samples, batch.numbers.clone());
    let weights = training.weights.at(60);
    let mut record = Record::new("step");
    record.set("protocol", protocol)?;
    record.set("weights", &weights)?;
    record.push_batch(batch)?;
    if let (true, PathGrid::Shared(times)) = (with_noise, &batch.grid) {
        record.push_noise(key, &series, samples, times.len() - 1, latent.algebra_dim())?;
    }

    let h = model.encoder.encode(&batch.input)?;
    let process = model.process.parameters(h.clone());
    // The model draws the same points again: they are a function of the key.
    let kind = latent.space.start();
    let plan = StartPlan { kind, dim: latent.dim, key, series, samples, first_sample: 0 };
    let start = start_points(plan, process.location.clone(), process.spread.clone())?;
    record.push_tensor("start", start.points)?;
    record.push_tensor("result.h", h)?;
    record.push_tensor("result.mu", process.location.clone())?;
    record.push_tensor("result.kappa", process.spread.clone())?;

    let paths = model.process.paths_of(process, batch, PathDraws { key, samples, first_sample: 0 })?;
    let bound = model.score(paths, batch)?;
    let loss = bound.losses(weights, batch).mean();
    record.push_module(model, &loss.backward())?;
    record.push_tensor("result.loss", loss)?;
    let Bound { parts, output, states, prediction } = bound;
    record.push_tensor("result.states", states)?;
    record.push_tensor("result.output", output)?;
    record.push_tensor("result.kl_start", parts.kl_start)?;
    record.push_tensor("result.kl_path", parts.kl_path)?;
    record.push_tensor("result.nll", parts.negative_log_likelihood)?;
    if let Some(prediction) = prediction {
        record.push_tensor("result.prediction", prediction)?;
    }
    if let Some(task) = parts.task {
        record.push_tensor("result.task", task)?;
    }
    Ok(record)
}

fn text(report: &Report) -> String {
    let Report { name, batch_size, threads, repeat, step, parts_ms, assemble_ms, .. } = report;
    let Parts { encoder, path, decoder, backward, optimiser } = parts_ms;
    format!(
        "{name}, batch {batch_size}, {threads} threads: {:.1} ms a step (median of {repeat}; 80 % between {:.1} and {:.1})\n  \
         encoder {encoder:.1} + path {path:.1} + decoder {decoder:.1} + backward {backward:.1} + optimiser {optimiser:.1} ms; \
         beside the step, assembling the batch {assemble_ms:.1} ms",
        step.median_ms, step.low_ms, step.high_ms,
    )
}
