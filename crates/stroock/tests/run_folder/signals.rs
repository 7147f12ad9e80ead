use std::path::Path;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::raise;
use stroock::run::StopFlag;

/// Exit code and output of a child that is expected to come to its end by itself.
fn run(test: &str) -> (Option<i32>, String) {
    let output = super::child(test, Path::new("unused")).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn the_first_interrupt_sets_the_flag_and_the_second_ends_the_process() {
    let (code, output) = run("signals::interrupted_twice");
    assert!(output.contains("still here"), "{output}");
    assert!(!output.contains("too late"), "{output}");
    assert_eq!(code, Some(130));
}

#[test]
fn a_request_to_terminate_sets_the_flag_as_often_as_it_comes() {
    let (code, output) = run("signals::terminated_twice");
    assert!(output.contains("still here"), "{output}");
    assert_eq!(code, Some(0));
}

#[test]
#[ignore = "runs in a process of its own"]
fn interrupted_twice() {
    if !super::is_child() {
        return;
    }
    let stop = StopFlag::on_signals().unwrap();
    assert!(!stop.is_requested());
    raise(SIGINT).unwrap();
    assert!(stop.is_requested() && StopFlag::on_signals().unwrap().is_requested());
    println!("still here");
    raise(SIGINT).unwrap();
    println!("too late");
}

#[test]
#[ignore = "runs in a process of its own"]
fn terminated_twice() {
    if !super::is_child() {
        return;
    }
    let stop = StopFlag::on_signals().unwrap();
    raise(SIGTERM).unwrap();
    assert!(stop.is_requested());
    raise(SIGTERM).unwrap();
    println!("still here");
}
