//! Counting with valgrind's callgrind.

use std::process::Command;

use crate::cases::Case;

/// Whether valgrind is there.
pub fn check_valgrind() -> Result<(), String> {
    match Command::new("valgrind").arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err("instructions are counted with valgrind, which is not here: run scripts/valgrind, or install the \
                  package `valgrind` of your system"
            .to_owned()),
    }
}

/// The instructions of a case, counted in a process of its own.
pub fn of(case: &str) -> Result<u64, String> {
    let own =
        std::env::current_exe().map_err(|error| format!("cannot find this benchmark again: {error}"))?;
    let output = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--toggle-collect=*counted_instructions*",
        ])
        .arg(own)
        .args(["--case", case])
        .output()
        .map_err(|error| format!("cannot run valgrind: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    let count = report.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    match count {
        Some(count) if output.status.success() && count > 0 => Ok(count),
        _ => Err(format!("valgrind did not count the case `{case}`:\n{report}")),
    }
}

/// Runs a case twice on this thread alone; the second run is counted.
pub fn under_callgrind(case: Case) -> Result<(), String> {
    // This thread is the only one of the pool: nothing is handed over, nobody waits.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    pool.map_err(|error| format!("cannot make a pool of one thread: {error}"))?;
    let mut run = (case.build)();
    // What is done once in a process is not counted, and memory that is used again is zeroed here, not by the system.
    run();
    counted_instructions(&mut run);
    Ok(())
}

/// What callgrind counts. The name is an argument of valgrind.
#[inline(never)]
fn counted_instructions(run: &mut dyn FnMut()) {
    run();
    // Without something behind it the call would be a jump, and the end of this function not seen.
    std::hint::black_box(());
}
