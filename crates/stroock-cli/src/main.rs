//! The command `stroock`.

mod advice;
mod allocator;
mod arguments;
mod bench;
mod busy;
mod data;
mod demo;
mod describe;
mod evaluate;
mod failure;
#[cfg(feature = "download")]
mod fetch;
mod fit;
mod fits;
mod output;
mod predict;
mod processes;
mod record;
mod report;
mod reproduce;
mod rivals;
mod tables;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use processes::Processes;

fn main() -> ExitCode {
    allocator::keep_freed_memory();
    let arguments = Arguments::parse();
    let done = match arguments.command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Describe(arguments) => describe::run(&arguments),
        Command::Fit(arguments) => Processes::find().and_then(|processes| fit::run(&arguments, &processes)),
        Command::Impute(arguments) => predict::impute(&arguments),
        Command::Forecast(arguments) => predict::forecast(&arguments),
        Command::Classify(arguments) => predict::classify(&arguments),
        Command::Sample(arguments) => predict::sample(&arguments),
        Command::Evaluate(arguments) => evaluate::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Reproduce(arguments) => {
            Processes::find().and_then(|processes| reproduce::run(&arguments, &processes))
        }
        Command::Data(arguments) => data::run(&arguments),
        Command::Bench(bench) => bench::run(&bench),
        Command::Completions { shell } => arguments::print_completions(shell),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
