//! The example runs, and its model learns.

use std::process::Command;

#[test]
fn the_example_trains_a_model_of_its_own_parts() {
    let done = Command::new(env!("CARGO_BIN_EXE_own-parts")).output().unwrap();
    let (said, log) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{log}");
    let loss = |line: &str| line.split("validation ").nth(1)?.split(',').next()?.parse::<f64>().ok();
    let losses: Vec<f64> = log.lines().filter_map(loss).collect();
    assert_eq!(losses.len(), 100, "{log}");
    assert!(losses[99] < losses[0] - 0.5, "{log}");
    assert!(said.contains("best validation loss"), "{said}");
}
