//! The latent SDE of an experiment: its step in parts.

use stroock::batch::Batch;
use stroock::encoder::Encoder;
use stroock::latent::{PathGrid, StartPlan, start_points};
use stroock::model::{Bound, PathDraws, StandardLatentSde};
use stroock::training::Adam;
use stroock_experiments::protocol::Protocol;

use super::super::record::Record;
use super::{EPOCH, Laps, draws};
use crate::failure::Failure;

/// The parts, in their order.
pub const PARTS: [&str; 5] = ["encoder", "path", "decoder", "backward", "optimiser"];

/// One step, and the seconds of its parts.
pub fn step(
    model: StandardLatentSde,
    adam: &mut Adam,
    protocol: &Protocol,
    batch: &Batch,
    epoch: u64,
) -> Result<(StandardLatentSde, [f64; 5]), Failure> {
    let training = &protocol.training;
    let mut laps = Laps::begin();
    let h = model.encoder.encode(&batch.input)?;
    let encoder = laps.lap();
    let paths = model.process.paths_of(model.process.parameters(h), batch, draws(training, epoch))?;
    let path = laps.lap();
    let loss = model.score(paths, batch)?.losses(training.weights.at(EPOCH), batch).mean();
    let decoder = laps.lap();
    let gradients = loss.backward();
    let backward = laps.lap();
    let model = adam.step(model, &gradients, training.rate);
    Ok((model, [encoder, path, decoder, backward, laps.lap()]))
}

/// The first step without the optimiser: parameters, batch, random numbers, parts of the loss, gradients.
pub fn record(
    model: &StandardLatentSde,
    protocol: &Protocol,
    batch: &Batch,
    with_noise: bool,
) -> Result<Record, Failure> {
    let (training, latent) = (&protocol.training, model.latent());
    let draws = draws(training, 0);
    let PathDraws { key, samples, first_sample } = draws;
    let (series, weights) = (batch.numbers.clone(), training.weights.at(EPOCH));
    let mut record = Record::of_step(protocol, &weights, batch)?;
    if let (true, PathGrid::Shared(times)) = (with_noise, &batch.grid) {
        record.push_noise(key, &series, samples, times.len() - 1, latent.algebra_dim())?;
    }

    let h = model.encoder.encode(&batch.input)?;
    let process = model.process.parameters(h.clone());
    // The model draws the same points again: they are a function of the key.
    let kind = latent.space.start();
    let plan = StartPlan { kind, dim: latent.dim, key, series, samples, first_sample };
    let start = start_points(plan, process.location.clone(), process.spread.clone())?;
    record.push_tensor("start", start.points)?;
    record.push_tensor("result.h", h)?;
    record.push_tensor("result.mu", process.location.clone())?;
    record.push_tensor("result.kappa", process.spread.clone())?;

    let bound = model.score(model.process.paths_of(process, batch, draws)?, batch)?;
    let loss = bound.losses(weights, batch).mean();
    record.push_module(model, &loss.backward())?;
    record.push_tensor("result.loss", loss)?;
    let Bound { parts, output, states, prediction } = bound;
    record.push_tensor("result.states", states)?;
    record.push_tensor("result.output", output)?;
    record.push_parts(parts.named())?;
    if let Some(prediction) = prediction {
        record.push_tensor("result.prediction", prediction)?;
    }
    Ok(record)
}
