//! Inference: posterior samples of a batch, decoded at the points of its targets.

use std::hint::black_box;
use std::time::Instant;

use burn::module::Module;
use burn::tensor::Device;
use serde::Serialize;
use stroock::encoder::Encoder;
use stroock::entries::entries;
use stroock::initial::InitialWeights;
use stroock::model::{ModelSettings, PathDraws};
use stroock_kernels::noise::NoiseKey;

use super::memory::peak_memory_mb;
use super::timing::Timing;
use super::{latent_sde, shapes};
use crate::arguments::DrawArguments;
use crate::failure::Failure;
use crate::output::{print, print_json};

const WARM_UP: usize = 3;

#[derive(Serialize)]
struct Report {
    name: String,
    batch_size: usize,
    samples: usize,
    threads: usize,
    repeat: usize,
    #[serde(flatten)]
    batch: Timing,
    samples_per_second: f64,
    peak_memory_mb: Option<f64>,
}

pub fn run(arguments: &DrawArguments) -> Result<(), Failure> {
    let options = arguments.minutes.options();
    let (experiment, protocol) = (arguments.experiment, arguments.experiment.paper(options));
    let (batch_size, samples) = (arguments.batch_size.max(1), arguments.samples.max(1));
    let data = shapes::series(experiment, options, &protocol, batch_size)?;
    let numbers: Vec<usize> = (0..batch_size).collect();
    let batch = protocol.batcher.assemble(&data, &numbers, NoiseKey::new(1, 0))?;
    // A device without gradients.
    let model = latent_sde(&protocol)?.init(&mut InitialWeights::new(1, &Device::flex()))?.materialize();

    let mut times = Vec::new();
    for repeat in 0..WARM_UP + arguments.repeat.max(1) {
        let draws = PathDraws { key: NoiseKey::new(1, repeat as u64), samples, first_sample: 0 };
        let began = Instant::now();
        let process = model.process.parameters(model.encoder.encode(&batch.input)?);
        let paths = model.process.paths_of(process, &batch, draws)?;
        black_box(entries(model.decode(paths.states)?));
        if repeat >= WARM_UP {
            times.push(began.elapsed().as_secs_f64());
        }
    }
    let timing = Timing::of(&times);
    let report = Report {
        name: format!("sample/{}", experiment.name()),
        batch_size,
        samples,
        threads: rayon::current_num_threads(),
        repeat: times.len(),
        samples_per_second: (1e3 * (batch_size * samples) as f64 / timing.median_ms).round(),
        batch: timing,
        peak_memory_mb: peak_memory_mb(),
    };
    if arguments.json {
        return print_json(&report);
    }
    print(&format!(
        "{}, {samples} samples of {batch_size} series, {} threads: {:.2} ms (median of {}; 80 % between {:.2} and {:.2}), \
         {:.0} samples a second",
        report.name,
        report.threads,
        report.batch.median_ms,
        report.repeat,
        report.batch.low_ms,
        report.batch.high_ms,
        report.samples_per_second,
    ))
}
