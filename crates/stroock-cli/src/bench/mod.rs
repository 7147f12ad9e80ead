//! Measurements: medians with their spread, on data of the right shapes.

mod encoder;
mod growth;
mod memory;
mod path;
mod processes;
mod record;
mod sample;
mod shapes;
mod step;
mod timing;

use stroock::model::LatentSdeConfig;
use stroock_experiments::protocol::Protocol;

use crate::arguments::Bench;
use crate::failure::Failure;
use crate::processes::Processes;

/// The latent SDE of an experiment: the parts of its step are timed one by one.
fn latent_sde(protocol: &Protocol) -> Result<&LatentSdeConfig, Failure> {
    Ok(protocol.model.as_latent_sde().ok_or("only the steps of latent SDEs can be taken apart")?)
}

/// Measures what is asked for.
pub fn run(bench: &Bench) -> Result<(), Failure> {
    match bench {
        Bench::Step(arguments) => step::run(arguments),
        Bench::Path(arguments) => path::run(arguments),
        Bench::Encoder(arguments) => encoder::run(arguments),
        Bench::Sample(arguments) => sample::run(arguments),
        Bench::Growth(arguments) => growth::run(arguments),
        Bench::Processes(arguments) => processes::run(arguments, &Processes::find()?),
    }
}
