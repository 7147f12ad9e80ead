//! Any other model of an experiment: its step as training makes it.

use burn::tensor::{Tensor, TensorData};
use stroock::batch::Batch;
use stroock::entries::entries;
use stroock::latent::{NormalStart, PathGrid};
use stroock::model::{
    ModelConfig, ModelSettings, OutputParts, Outputs, PathDraws, SeriesModel, StandardModel,
};
use stroock::objective::Objective;
use stroock::parameters::{ParameterMapper, map_parameters};
use stroock::training::Adam;
use stroock_experiments::protocol::Protocol;
use stroock_kernels::noise::{NoiseKey, Purpose};

use super::super::record::Record;
use super::{EPOCH, Laps, draws};
use crate::failure::Failure;

/// The parts, in their order.
pub const PARTS: [&str; 3] = ["forward", "backward", "optimiser"];

/// How far parameters are from where training starts, at most.
const SPREAD: f64 = 0.05;

/// The model with parameters a little off their start, each by a number of its own. Some models start where nothing moves
/// and all is alike: steps from there would cost less than those of training, and their gradients would say little.
pub fn stirred(model: StandardModel) -> StandardModel {
    map_parameters(model, &mut Stir { parameter: 0 })
}

struct Stir {
    parameter: u32,
}

impl ParameterMapper for Stir {
    fn map<const D: usize>(&mut self, _: &str, parameter: Tensor<D>) -> Tensor<D> {
        if !parameter.is_require_grad() {
            return parameter;
        }
        let mut stream = NoiseKey::new(4, 0).stream(Purpose::Caller, self.parameter, 0);
        self.parameter += 1;
        let (shape, device) = (parameter.shape(), parameter.device());
        let mut values = entries(parameter);
        values.iter_mut().for_each(|value| *value += (SPREAD * (2.0 * stream.uniform() - 1.0)) as f32);
        Tensor::from_data(TensorData::new(values, shape), &device).require_grad()
    }
}

/// One step, and the seconds of its parts.
pub fn step(
    model: StandardModel,
    adam: &mut Adam,
    protocol: &Protocol,
    batch: &Batch,
    epoch: u64,
) -> Result<(StandardModel, [f64; 3]), Failure> {
    let training = &protocol.training;
    let mut laps = Laps::begin();
    let objective = model.objective(batch, draws(training, epoch), training.weights.at(EPOCH))?;
    let loss = objective.losses.mean();
    let forward = laps.lap();
    let gradients = loss.backward();
    let backward = laps.lap();
    let model = adam.step(model, &gradients, training.rate);
    Ok((model, [forward, backward, laps.lap()]))
}

/// The first step without the optimiser: parameters, batch, random numbers, parts of the loss, gradients, outputs.
pub fn record(
    model: &StandardModel,
    protocol: &Protocol,
    batch: &Batch,
    with_noise: bool,
) -> Result<Record, Failure> {
    let draws = draws(&protocol.training, 0);
    let weights = protocol.training.weights.at(EPOCH);
    let Objective { losses, parts } = model.objective(batch, draws, weights)?;
    let loss = losses.mean();

    let mut record = Record::of_step(protocol, &weights, batch)?;
    if with_noise {
        push_draws(&mut record, &protocol.model, batch, draws, &loss)?;
    }
    record.push_module(model, &loss.backward())?;
    record.push_tensor("result.loss", loss)?;
    record.push_parts(parts)?;
    let Outputs { mean, states, task, .. } = model.outputs(batch, draws, OutputParts::ALL)?;
    let outputs =
        [("mean", mean), ("states", states), ("prediction", task.map(|(_, prediction)| prediction))];
    for (name, output) in outputs {
        if let Some(output) = output {
            record.push_tensor(&format!("result.{name}"), output)?;
        }
    }
    Ok(record)
}

/// Adds the normals that a model draws: those of start points, or of all that it draws at once, `[S, B, n]`, and those along
/// its paths.
fn push_draws(
    record: &mut Record,
    model: &ModelConfig,
    batch: &Batch,
    draws: PathDraws,
    like: &Tensor<1>,
) -> Result<(), Failure> {
    let (start, along) = match model {
        ModelConfig::LatentOde(config) => (config.latent.dim, 0),
        ModelConfig::NeuralSde(config) => (config.latent.dim, config.latent.dim),
        ModelConfig::MtandFull(config) => (config.latent.reference_points * config.latent.latent, 0),
        ModelConfig::MtandEnc(_) | ModelConfig::Cru(_) | ModelConfig::FCru(_) | ModelConfig::S5(_) => (0, 0),
        other => {
            let kind = other.kind();
            let words = "can be measured, but not recorded: a record would lack its random numbers";
            return Err(format!("steps of `{kind}` {words}; leave out --record, or add --no-noise").into());
        }
    };
    let PathDraws { key, samples, first_sample } = draws;
    if start > 0 {
        let standard = NormalStart::standard(batch.numbers.len(), start, like);
        record.push_tensor("start", standard.normals(key, &batch.numbers, samples, first_sample))?;
    }
    if let (true, PathGrid::Shared(times)) = (along > 0, &batch.grid) {
        record.push_noise(key, &batch.numbers, samples, times.len() - 1, along)?;
    }
    Ok(())
}
