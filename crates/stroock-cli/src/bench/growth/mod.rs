//! How time and memory grow: measured points, the exponents fitted to them, and what they should be.

mod memory;
mod path;
mod picture;
mod power_law;
mod quantity;
mod table;
mod training;

use std::time::Instant;

use serde::Serialize;
use stroock::run::write_atomic;
use stroock_kernels::path::Memory;

use super::timing::Timing;
use crate::arguments::GrowthArguments;
use crate::failure::Failure;
use crate::output::{print, print_json};
use memory::Peak;
use path::{Paths, Shape};
use power_law::PowerLaw;
use quantity::{Expected, Quantity, Reach};
use training::Training;

/// Everything that was measured.
#[derive(Serialize)]
struct Report {
    threads: usize,
    quick: bool,
    growth: Vec<Growth>,
    /// Empty where the system does not tell how much memory a process has had.
    memory: Vec<Peak>,
}

/// The time as a function of one quantity.
#[derive(Serialize)]
struct Growth {
    quantity: Quantity,
    /// What is computed, and what stays the same.
    work: &'static str,
    points: Vec<Point>,
    /// None if there are too few points.
    fit: Option<PowerLaw>,
    expected: Expected,
}

#[derive(Serialize)]
struct Point {
    value: usize,
    runs: usize,
    median_ms: f64,
    low_ms: f64,
    high_ms: f64,
}

pub fn run(arguments: &GrowthArguments) -> Result<(), Failure> {
    if let Some(steps) = arguments.memory_of {
        return memory::tell(steps, arguments.reversible);
    }
    let mut growth = Vec::new();
    for quantity in Quantity::ALL {
        let measured = measure(quantity, quantity.reach(arguments.quick))?;
        if !arguments.json {
            print(&table::points(&measured))?;
        }
        growth.push(measured);
    }
    let memory = memory::peaks(arguments.quick)?;
    let report = Report { threads: rayon::current_num_threads(), quick: arguments.quick, growth, memory };
    match arguments.json {
        true => print_json(&report)?,
        false => print(&(table::memory(&report.memory) + "\n" + &table::exponents(&report)))?,
    }
    if let Some(folder) = &arguments.out {
        std::fs::create_dir_all(folder)?;
        write_atomic(&folder.join("growth.json"), serde_json::to_string_pretty(&report)?.as_bytes())?;
        write_atomic(&folder.join("growth.md"), table::page(&report).as_bytes())?;
        let picture = picture::draw(&report)?;
        picture.save(&folder.join("growth.svg"))?;
        picture.save(&folder.join("growth.png"))?;
    }
    Ok(())
}

fn measure(quantity: Quantity, reach: Reach) -> Result<Growth, Failure> {
    let points = reach.values.iter().map(|&value| point(quantity, value, &reach));
    let points = points.collect::<Result<Vec<Point>, Failure>>()?;
    let times = points.iter().map(|point| (point.value as f64, point.median_ms));
    let asymptotic: Vec<(f64, f64)> = times.filter(|(value, _)| *value >= reach.fit_from as f64).collect();
    let fit = PowerLaw::fit(&asymptotic);
    Ok(Growth { quantity, work: quantity.work(), points, fit, expected: quantity.expected() })
}

fn point(quantity: Quantity, value: usize, reach: &Reach) -> Result<Point, Failure> {
    let base = Shape { steps: 100, series: 32, samples: 1, dim: 16 };
    let shape = match quantity {
        Quantity::Steps => Shape { steps: value, ..base },
        Quantity::Series => Shape { series: value, ..base },
        Quantity::Samples => Shape { samples: value, series: 10, ..base },
        Quantity::Dimension => Shape { dim: value, ..base },
        Quantity::Channels => {
            let mut training = Training::new(value)?;
            return time(value, reach, || training.step());
        }
    };
    let paths = Paths::new(shape)?;
    time(value, reach, || paths.pass(Memory::Stored))
}

/// The median of at least `reach.runs` passes, and of more if these are short.
fn time(
    value: usize,
    reach: &Reach,
    mut pass: impl FnMut() -> Result<(), Failure>,
) -> Result<Point, Failure> {
    const MOST_RUNS: usize = 100;
    pass()?;
    let (began, mut seconds) = (Instant::now(), Vec::new());
    while seconds.len() < reach.runs
        || (began.elapsed().as_secs_f64() < reach.seconds && seconds.len() < MOST_RUNS)
    {
        let began = Instant::now();
        pass()?;
        seconds.push(began.elapsed().as_secs_f64());
    }
    let Timing { median_ms, low_ms, high_ms, .. } = Timing::of(&seconds);
    Ok(Point { value, runs: seconds.len(), median_ms, low_ms, high_ms })
}
