//! The memory of one path, forward and backward, against its steps.
//!
//! Every path has a process of its own, whose largest resident memory the system tells: what an allocator keeps of
//! earlier paths is not counted to later ones, and what it takes beyond what was asked for is.

use std::process::Command;

use serde::{Deserialize, Serialize};
use stroock_kernels::path::Memory;

use super::super::memory::peak_memory_mb;
use super::path::{Paths, Shape};
use crate::failure::Failure;
use crate::output::print_json;

const SERIES: usize = 16;
const DIM: usize = 16;

/// The memory of one path, in megabytes (10^6 bytes).
#[derive(Debug, Serialize, Deserialize)]
pub struct Peak {
    pub steps: usize,
    pub reversible: bool,
    /// The times of the steps, which are the user's.
    pub times_mb: f64,
    /// Largest memory of the process before the path; the times are in it.
    pub before_mb: f64,
    /// What the path has added to that.
    pub path_mb: f64,
}

/// The memory of stored and reversible paths; none where the system does not tell.
pub fn peaks(quick: bool) -> Result<Vec<Peak>, Failure> {
    if peak_memory_mb().is_none() {
        return Ok(Vec::new());
    }
    // A million stored steps would take a gigabyte.
    let [stored, reversible] = if quick { [3, 3] } else { [5, 6] };
    let powers = |most| (2..=most).map(|power| 10usize.pow(power));
    let stored = powers(stored).map(|steps| in_own_process(steps, false));
    stored.chain(powers(reversible).map(|steps| in_own_process(steps, true))).collect()
}

fn in_own_process(steps: usize, reversible: bool) -> Result<Peak, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bench", "growth", "--memory-of", &steps.to_string()]);
    // Pages of the usual size: the allocator would count in huge ones, of two megabytes.
    command.env("MIMALLOC_ALLOW_THP", "0");
    if reversible {
        command.arg("--reversible");
    }
    let output = command.output()?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(format!("a path of {steps} steps failed in its own process: {}", reason.trim()).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Runs one path and prints its memory.
pub fn tell(steps: usize, reversible: bool) -> Result<(), Failure> {
    let memory = if reversible { Memory::Reversible } else { Memory::Stored };
    let paths = Paths::new(Shape { steps, series: SERIES, samples: 1, dim: DIM })?;
    // Threads are there before anything is measured.
    Paths::new(Shape { steps: 1, series: 1, samples: 1, dim: 2 })?.pass(memory)?;
    let peak = || peak_memory_mb().ok_or("this system does not tell how much memory a process has had");
    let before_mb = peak()?;
    paths.pass(memory)?;
    let path_mb = ((peak()? - before_mb) * 1e3).round() / 1e3;
    print_json(&Peak { steps, reversible, times_mb: paths.times_mb(), before_mb, path_mb })
}
