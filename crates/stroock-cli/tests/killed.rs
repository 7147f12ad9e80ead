//! A run that is killed loses at most one epoch, and resumes to the same result as one that is not.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const EPOCHS: &str = "8";

fn demo(folder: &Path, out: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stroock"));
    command
        .args(["demo", "--out", out, "--epochs", EPOCHS])
        .args(more)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

const SMALL: [&str; 6] = [
    "--set",
    "data.sizes={train=200, validation=4, test=4}",
    "--set",
    "training.batch_size=8",
    "--set",
    "model.encoder={hidden=16, embedding=16, reference_points=16}",
];

/// The metrics of a run without the wall time.
fn metrics(run: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap_or_default();
    text.lines().map(|line| line.split("\"seconds\"").next().unwrap_or_default().to_owned()).collect()
}

/// Waits until a run has so many epochs in its metrics.
fn wait_for(run: &Path, epochs: usize, child: &mut Child) {
    let began = Instant::now();
    while metrics(run).len() < epochs || !run.join("model.safetensors").is_file() {
        assert!(began.elapsed() < Duration::from_secs(60), "no epoch in a minute");
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it could be killed");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_killed_run_resumes_to_the_same_result() {
    let folder = tempfile::tempdir().unwrap();
    assert!(demo(folder.path(), "whole", &SMALL).status().unwrap().success());

    let run = folder.path().join("killed");
    let mut child = demo(folder.path(), "killed", &SMALL).spawn().unwrap();
    // Killed three times, at whatever it does just then.
    for epochs in [1, 3, 5] {
        wait_for(&run, epochs, &mut child);
        child.kill().unwrap();
        child.wait().unwrap();
        let model = stroock::run::TensorFile::load(&run.join("model.safetensors")).unwrap();
        assert!(!model.tensors.is_empty());
        let before = metrics(&run).len();
        child = demo(folder.path(), "killed", &["--resume"]).spawn().unwrap();
        wait_for(&run, before.saturating_sub(1).max(1), &mut child);
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(metrics(&run), metrics(&folder.path().join("whole")));
    let [a, b] = ["killed", "whole"]
        .map(|name| std::fs::read(folder.path().join(name).join("model.safetensors")).unwrap());
    assert!(a == b, "the best models differ");
}
