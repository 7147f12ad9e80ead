//! Runs that are killed inside the calls with which they write, or whose calls fail: nothing is lost, and they go on to
//! the same bits. `scripts/kills` does this at every call, and at hundreds of random instants.
#![cfg(target_os = "linux")]

use std::path::Path;

use stroock_testing::faults::{Fault, Shim, error_number, signal};
use stroock_testing::kills::{Campaign, Job};

mod sensors;

const EPOCHS: u32 = 2;

/// Kills and faults at some of the calls, each kind at others, and kills at random instants.
fn campaign(job: impl FnOnce(&Path, &Path) -> Job, stride: usize) {
    let scratch = tempfile::tempdir().unwrap();
    let scratch = scratch.path().canonicalize().unwrap();
    let table = scratch.join("sensors.csv");
    std::fs::write(&table, sensors::sensors(6)).unwrap();
    let shim = Shim::build(&scratch).unwrap();
    let job = job(Path::new(env!("CARGO_BIN_EXE_stroock")), &table);
    let mut campaign = Campaign::begin(job, &shim, &scratch, 1).unwrap();
    let faults = [
        Fault::KillBefore,
        Fault::KillAfter,
        Fault::KillHalf,
        Fault::Signal(signal::SIGTERM),
        Fault::Once(error_number::EIO),
        Fault::From(error_number::ENOSPC),
    ];
    for (number, fault) in faults.into_iter().enumerate() {
        // Each kind begins elsewhere: together they come close to every call.
        campaign.sweep(fault, 1 + number * stride / faults.len(), stride).unwrap();
    }
    campaign.at_instants(6).unwrap();
    let tally = &campaign.tally;
    assert!(tally.defects.is_empty(), "{} defects: {}", tally.defects.len(), tally.defects.join("\n"));
    let calls = campaign.calls();
    assert!(calls > stride && tally.kills() >= 6 + 2 * (calls / stride), "{calls}: {:?}", tally.to_json());
}

#[test]
fn a_fit_that_is_killed_or_fails_anywhere_goes_on_to_the_same_bits() {
    campaign(|program, table| Job::fit(program, table, EPOCHS), 29);
}

#[test]
fn an_experiment_that_is_killed_or_fails_anywhere_goes_on_to_the_same_bits() {
    campaign(|program, _| Job::reproduce(program, EPOCHS), 13);
}
