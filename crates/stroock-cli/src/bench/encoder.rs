//! Time attention and recurrent unit at the shapes of PhysioNet, forward and backward.

use std::time::Instant;

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use serde::Serialize;
use stroock::encoder::{Encoder, TimeAttentionConfig};
use stroock::initial::InitialWeights;
use stroock_experiments::protocol::{Experiment, Options};
use stroock_kernels::noise::{NoiseKey, Purpose};

use super::record::Record;
use super::shapes;
use super::timing::Passes;
use crate::arguments::EncoderArguments;
use crate::failure::Failure;
use crate::output::{print, print_json};

const WARM_UP: usize = 3;

#[derive(Serialize)]
struct Report {
    name: &'static str,
    batch_size: usize,
    points: usize,
    #[serde(flatten)]
    passes: Passes,
}

pub fn run(arguments: &EncoderArguments) -> Result<(), Failure> {
    let batch_size = arguments.batch_size.max(1);
    // The encoder sees every observed point.
    let options = Options { observed: 1.0, ..Options::default() };
    let protocol = Experiment::Physionet.paper(options);
    let data = shapes::series(Experiment::Physionet, options, &protocol, batch_size)?;
    let numbers: Vec<usize> = (0..batch_size).collect();
    let input = protocol.batcher.assemble(&data, &numbers, NoiseKey::new(1, 0))?.input;

    let device = Device::flex().autodiff();
    let config = TimeAttentionConfig::default();
    let encoder = config.init(input.channels(), &mut InitialWeights::new(1, &device)).materialize();
    let mut stream = NoiseKey::new(3, 0).stream(Purpose::Caller, 0, 0);
    let of_h: Vec<f32> =
        (0..batch_size * config.hidden).map(|_| (2.0 * stream.uniform() - 1.0) as f32).collect();
    let of_h = Tensor::<2>::from_data(TensorData::new(of_h, [batch_size, config.hidden]), &device);

    if let Some(file) = &arguments.record {
        let h = encoder.encode(&input)?;
        let gradients = (h.clone() * of_h.clone()).sum().backward();
        let mut record = Record::new("encoder");
        record.set("encoder", &config)?;
        record.push_input(&input)?;
        record.push_tensor("of_h", of_h)?;
        record.push_tensor("result.h", h)?;
        record.push_module(&encoder, &gradients)?;
        return record.save(file);
    }
    let (mut forwards, mut backwards) = (Vec::new(), Vec::new());
    for i in 0..WARM_UP + arguments.repeat.max(1) {
        let began = Instant::now();
        let loss = (encoder.encode(&input)? * of_h.clone()).sum();
        let forward = began.elapsed().as_secs_f64();
        let began = Instant::now();
        let gradients = loss.backward();
        let backward = began.elapsed().as_secs_f64();
        drop(gradients);
        if i >= WARM_UP {
            forwards.push(forward);
            backwards.push(backward);
        }
    }
    let report = Report {
        name: "encoder/physionet",
        batch_size,
        points: input.points(),
        passes: Passes::of(&forwards, &backwards),
    };
    if arguments.json {
        return print_json(&report);
    }
    print(&format!("{batch_size} series with {} points in all, {}", report.points, report.passes))
}
