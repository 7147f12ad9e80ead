//! Instructions that the kernels take, beside the last committed figures: a slow-down is seen on a noisy machine.
//!
//! ```sh
//! cargo bench -p stroock-kernels --bench instructions              # counts, and compares
//! cargo bench -p stroock-kernels --bench instructions -- gru       # only the cases with this in their names
//! cargo bench -p stroock-kernels --bench instructions -- --accept  # counts, and rewrites instructions.toml
//! ```
//!
//! Every case runs in a process of its own under valgrind's callgrind, which counts what the kernel does and leaves out
//! how its problem is made. Kernels run on one thread with 256-bit vectors: valgrind knows no wider ones. What an
//! instruction costs (a miss of the cache, a division) is not counted: a change for the better is shown by time.

mod cases;
mod count;
mod figures;
#[path = "../problems/mod.rs"]
mod problems;

use std::process::ExitCode;

use cases::Case;
use figures::Figures;

// The allocator of the system, not that of the other benchmarks, which hands pages back by the clock: the same
// instructions in every run.

/// What was asked for.
#[derive(Default)]
struct Arguments {
    /// Only cases with this in their names.
    filter: String,
    /// Rewrite the committed figures.
    accept: bool,
    /// Run every case once and count nothing, as `cargo test --benches` wants it.
    test: bool,
    /// Run one case under callgrind.
    case: Option<String>,
}

impl Arguments {
    fn parse() -> Result<Self, String> {
        // Cargo gives `--bench` to benchmarks, and to them alone.
        let mut parsed = Self { test: true, ..Self::default() };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--bench" => parsed.test = false,
                "--test" => return Ok(Self { test: true, ..parsed }),
                "--accept" => parsed.accept = true,
                "--case" => parsed.case = Some(arguments.next().ok_or("--case wants a name")?),
                option if option.starts_with('-') => {
                    return Err(format!(
                        "`{option}` is not known here; there are --accept, --test and a filter"
                    ));
                }
                filter => parsed.filter = filter.to_owned(),
            }
        }
        Ok(parsed)
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode, String> {
    let arguments = Arguments::parse()?;
    if let Some(name) = &arguments.case {
        let case = cases::all().into_iter().find(|case| case.name == *name);
        count::under_callgrind(case.ok_or_else(|| format!("there is no case `{name}`"))?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let cases: Vec<Case> =
        cases::all().into_iter().filter(|case| case.name.contains(&arguments.filter)).collect();
    if arguments.test {
        cases.into_iter().for_each(|case| (case.build)()());
        return Ok(ExitCode::SUCCESS);
    }
    count::check_valgrind()?;
    let mut figures = Figures::read()?;
    let comparable = figures.comparable()?;
    let mut counted = Vec::new();
    println!("{:<63} {:>13} {:>13} {:>9}", "instructions", "committed", "now", "change");
    for case in &cases {
        let now = count::of(&case.name)?;
        println!("{}", figures.row(&case.name, now));
        counted.push((case.name.clone(), now));
    }
    if arguments.accept {
        figures.accept(counted, arguments.filter.is_empty())?;
        println!("accepted: {}", figures::FILE);
        return Ok(ExitCode::SUCCESS);
    }
    comparable?;
    figures.judge(&counted)
}
