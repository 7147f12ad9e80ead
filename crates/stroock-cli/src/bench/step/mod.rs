//! One training step of an experiment: forward, backward, optimiser.

mod paper;
mod rival;

pub(super) use paper::step;

use std::time::Instant;

use burn::module::Module;
use burn::tensor::Device;
use serde::ser::{Serialize, SerializeMap, Serializer};
use stroock::batch::Batch;
use stroock::initial::InitialWeights;
use stroock::model::{ModelSettings, PathDraws};
use stroock::series::Dataset;
use stroock::training::{Adam, TrainingConfig};
use stroock_experiments::protocol::{Experiment, Protocol};
use stroock_kernels::noise::NoiseKey;

use super::memory::peak_memory_mb;
use super::timing::Timing;
use super::{latent_sde, shapes};
use crate::arguments::StepArguments;
use crate::failure::Failure;
use crate::output::{print, print_json};
use crate::rivals::no_model;

const WARM_UP: usize = 3;
/// Weights of the parts of the loss are those of this epoch.
const EPOCH: u64 = 60;

/// Medians of the parts of a step, in their order.
struct Parts(Vec<(&'static str, f64)>);

impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, median) in &self.0 {
            map.serialize_entry(name, median)?;
        }
        map.end()
    }
}

#[derive(serde::Serialize)]
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
        let work = Work::new(experiment, arguments)?;
        let Some(report) = work.run(arguments)? else { continue };
        match arguments.json {
            true => print_json(&report)?,
            false => print(&text(&report))?,
        }
    }
    Ok(())
}

/// The settings of steps and the series that they are made on.
struct Work {
    name: String,
    protocol: Protocol,
    data: Dataset,
    batch_size: usize,
}

impl Work {
    fn new(experiment: Experiment, arguments: &StepArguments) -> Result<Self, Failure> {
        let options = arguments.minutes.options();
        let mut name = match experiment {
            Experiment::Physionet => format!("step/physionet-{}min", options.resolution.minutes()),
            other => format!("step/{}", other.name()),
        };
        let protocol = match arguments.model {
            None => experiment.paper(options),
            Some(rival) => {
                name = format!("{name}-{}", rival.name());
                let entry = rival.entry(experiment, rival.options(options));
                entry.ok_or_else(|| no_model(rival, experiment))?.protocol
            }
        };
        let batch_size = arguments.batch_size.unwrap_or(protocol.training.batch_size).max(1);
        let data = shapes::series(experiment, options, &protocol, batch_size)?;
        Ok(Self { name, protocol, data, batch_size })
    }

    /// The times of a step; none where it is recorded instead.
    fn run(&self, arguments: &StepArguments) -> Result<Option<Report>, Failure> {
        let (protocol, mut weights) = (&self.protocol, InitialWeights::new(1, &Device::flex().autodiff()));
        if arguments.model.is_some() {
            let model = rival::stirred(protocol.model.init(&mut weights)?.materialize());
            return match &arguments.record {
                Some(file) => {
                    rival::record(&model, protocol, &self.batch(0)?, !arguments.no_noise)?.save(file)?;
                    Ok(None)
                }
                None => self.measure(arguments, model, rival::PARTS, rival::step).map(Some),
            };
        }
        let model = latent_sde(protocol)?.init(&mut weights)?.materialize();
        match &arguments.record {
            Some(file) => {
                paper::record(&model, protocol, &self.batch(0)?, !arguments.no_noise)?.save(file)?;
                Ok(None)
            }
            None => self.measure(arguments, model, paper::PARTS, paper::step).map(Some),
        }
    }

    fn batch(&self, epoch: u64) -> Result<Batch, Failure> {
        let numbers: Vec<usize> = (0..self.batch_size).collect();
        Ok(self.protocol.batcher.assemble(&self.data, &numbers, NoiseKey::new(1, epoch))?)
    }

    /// The times of steps of a model, and of the parts of a step.
    fn measure<M: Module, const P: usize>(
        &self,
        arguments: &StepArguments,
        mut model: M,
        names: [&'static str; P],
        step: impl Fn(M, &mut Adam, &Protocol, &Batch, u64) -> Result<(M, [f64; P]), Failure>,
    ) -> Result<Report, Failure> {
        let mut adam = Adam::new(self.protocol.training.adam);
        let (mut steps, mut assembling) = (Vec::new(), Vec::new());
        let mut parts = vec![Vec::new(); P];
        for repeat in 0..WARM_UP + arguments.repeat.max(1) {
            let began = Instant::now();
            let batch = self.batch(if arguments.same_batch { 0 } else { repeat as u64 })?;
            let assembled = began.elapsed().as_secs_f64();
            let (next, times) = step(model, &mut adam, &self.protocol, &batch, repeat as u64)?;
            model = next;
            if repeat >= WARM_UP {
                assembling.push(assembled);
                steps.push(times.iter().sum());
                parts.iter_mut().zip(times).for_each(|(part, time)| part.push(time));
            }
        }
        let medians = parts.iter().map(|part| Timing::of(part).median_ms);
        Ok(Report {
            name: self.name.clone(),
            batch_size: self.batch_size,
            threads: rayon::current_num_threads(),
            repeat: steps.len(),
            step: Timing::of(&steps),
            parts_ms: Parts(names.into_iter().zip(medians).collect()),
            assemble_ms: Timing::of(&assembling).median_ms,
            peak_memory_mb: peak_memory_mb(),
        })
    }
}

/// The random numbers of a step.
fn draws(training: &TrainingConfig, epoch: u64) -> PathDraws {
    PathDraws { key: NoiseKey::new(1, epoch), samples: training.samples, first_sample: 0 }
}

/// Seconds since the last lap.
struct Laps(Instant);

impl Laps {
    fn begin() -> Self {
        Self(Instant::now())
    }

    fn lap(&mut self) -> f64 {
        let seconds = self.0.elapsed().as_secs_f64();
        self.0 = Instant::now();
        seconds
    }
}

fn text(report: &Report) -> String {
    let Report { name, batch_size, threads, repeat, step, parts_ms, assemble_ms, .. } = report;
    let parts: Vec<String> = parts_ms.0.iter().map(|(name, median)| format!("{name} {median:.1}")).collect();
    format!(
        "{name}, batch {batch_size}, {threads} threads: {:.1} ms a step (median of {repeat}; 80 % between {:.1} and {:.1})\n  \
         {} ms; beside the step, assembling the batch {assemble_ms:.1} ms",
        step.median_ms,
        step.low_ms,
        step.high_ms,
        parts.join(" + "),
    )
}
