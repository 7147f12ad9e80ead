//! Measurements: medians with their spread, on data of the right shapes.

mod encoder;
mod growth;
mod memory;
mod path;
mod record;
mod sample;
mod shapes;
mod step;
mod timing;

use crate::arguments::Bench;
use crate::failure::Failure;

/// Measures what is asked for.
pub fn run(bench: &Bench) -> Result<(), Failure> {
    match bench {
        Bench::Step(arguments) => step::run(arguments),
        Bench::Path(arguments) => path::run(arguments),
        Bench::Encoder(arguments) => encoder::run(arguments),
        Bench::Sample(arguments) => sample::run(arguments),
        Bench::Growth(arguments) => growth::run(arguments),
    }
}
