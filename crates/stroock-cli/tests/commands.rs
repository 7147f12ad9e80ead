//! The command as a user has it: output, errors and exit codes.

use std::path::Path;
use std::process::{Command, Output};

fn stroock(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stroock")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap()
}

/// A demo that takes a second.
const SMALL: [&str; 6] = [
    "--set",
    "data.sizes={train=24, validation=4, test=4}",
    "--set",
    "training.batch_size=8",
    "--set",
    "model.encoder={hidden=8, embedding=8, reference_points=8}",
];

#[test]
fn the_demo_leaves_a_run_with_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [&["demo", "--out", "run", "--epochs", "2", "--json"][..], &SMALL].concat();
    let done = stroock(&arguments, folder.path());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let results = json(&text(&done.stdout));
    assert_eq!(results["epochs"], 2);
    assert_eq!(results["withheld"].as_array().unwrap().len(), 4);
    for file in
        ["config.toml", "metrics.jsonl", "model.safetensors", "fits.png", "fits.svg", "last/state.json"]
    {
        assert!(folder.path().join("run").join(file).is_file(), "{file}");
    }
    let again = stroock(&arguments, folder.path());
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("already holds a run"), "{}", text(&again.stderr));
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    let run = |out: &str, threads: &str| {
        let arguments = [&["demo", "--out", out, "--epochs", "2", "--json"][..], &SMALL].concat();
        let done = Command::new(env!("CARGO_BIN_EXE_stroock"))
            .args(&arguments)
            .env("RAYON_NUM_THREADS", threads)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", text(&done.stderr));
        std::fs::read(folder.path().join(out).join("model.safetensors")).unwrap()
    };
    assert!(run("one", "1") == run("two", "2"), "the models of one and of two threads differ");
}

#[test]
fn steps_are_measured_for_every_experiment() {
    let folder = tempfile::tempdir().unwrap();
    for name in
        ["rotating-mnist", "pendulum-angle", "pendulum-images", "activity", "physionet", "lorenz", "sine"]
    {
        let done =
            stroock(&["bench", "step", name, "--batch-size", "2", "--repeat", "1", "--json"], folder.path());
        assert!(done.status.success(), "{name}: {}", text(&done.stderr));
        let report = json(&text(&done.stdout));
        assert!(report["name"].as_str().unwrap().starts_with(&format!("step/{name}")), "{report}");
        assert!(report["median_ms"].as_f64().unwrap() > 0.0, "{report}");
        assert!(report["parts_ms"]["backward"].as_f64().unwrap() > 0.0, "{report}");
    }
    let done = stroock(
        &["bench", "path", "--steps", "8", "--series", "3", "--dim", "4", "--repeat", "2", "--json"],
        folder.path(),
    );
    assert_eq!(json(&text(&done.stdout))["name"], "path/8-steps");
}

#[test]
fn growth_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let done = stroock(&["bench", "growth", "--quick", "--json", "--out", "growth"], folder.path());
    assert!(done.status.success(), "{}", text(&done.stderr));
    let report = json(&text(&done.stdout));
    let growth = report["growth"].as_array().unwrap();
    let names: Vec<&str> = growth.iter().map(|growth| growth["quantity"].as_str().unwrap()).collect();
    assert_eq!(names, ["steps", "series", "samples", "dimension", "channels"]);
    for growth in growth {
        assert!(growth["points"].as_array().unwrap().len() >= 3, "{growth}");
        assert!(growth["fit"]["exponent"].is_f64() && growth["fit"]["standard_error"].is_f64(), "{growth}");
    }
    // Only Linux tells how much memory a process has had.
    if cfg!(target_os = "linux") {
        assert!(report["memory"].as_array().unwrap().iter().any(|peak| peak["reversible"] == true));
    }
    let page = std::fs::read_to_string(folder.path().join("growth/growth.md")).unwrap();
    assert!(page.contains("| channels |"), "{page}");
    let written = std::fs::read_to_string(folder.path().join("growth/growth.json")).unwrap();
    assert_eq!(json(&written), report);
}

#[test]
fn a_run_goes_on_with_its_own_settings_only() {
    let folder = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let arguments = [&["reproduce", "sine", "--out", "run", "--json"][..], more].concat();
        stroock(&arguments, folder.path())
    };
    assert!(run(&["--epochs", "100"]).status.success());
    let other = run(&["--epochs", "200", "--resume", "--set", "protocol.training.rate=0.5"]);
    assert_eq!(other.status.code(), Some(1));
    assert!(text(&other.stderr).contains("other settings"), "{}", text(&other.stderr));
    let on = run(&["--epochs", "200", "--resume"]);
    assert!(on.status.success(), "{}", text(&on.stderr));
    assert_eq!(json(&text(&on.stdout))["epochs"], 200);
}

#[test]
fn mistakes_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let usage = stroock(&["bench", "step", "fysionet"], folder.path());
    assert_eq!(usage.status.code(), Some(2));
    assert!(text(&usage.stderr).contains("physionet"), "{}", text(&usage.stderr));
    let key = stroock(&["demo", "--set", "training.epoch=3"], folder.path());
    assert_eq!(key.status.code(), Some(1));
    assert!(text(&key.stderr).contains("did you mean `epochs`"), "{}", text(&key.stderr));
    let data = stroock(&["reproduce", "physionet", "--data-dir", "nothing-here"], folder.path());
    assert_eq!(data.status.code(), Some(1));
    assert!(text(&data.stderr).contains("stroock data fetch physionet2012"), "{}", text(&data.stderr));
    let kind = stroock(&["demo", "--set", "model.encoder.kind=time-atention"], folder.path());
    assert_eq!(kind.status.code(), Some(1));
    assert!(text(&kind.stderr).contains("did you mean `time-attention`"), "{}", text(&kind.stderr));
    let dim = stroock(&["demo", "--set", "model.latent.dim=1"], folder.path());
    assert_eq!(dim.status.code(), Some(1));
    assert!(text(&dim.stderr).contains("latent.dim"), "{}", text(&dim.stderr));
}

/// Without MPI, every process of a launcher would train the whole model.
#[cfg(not(feature = "mpi"))]
#[test]
fn a_launcher_of_mpi_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [&["fit", "none.csv", "--out", "run"][..], &["reproduce", "sine", "--out", "run"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stroock"));
        let done = command.args(arguments).current_dir(folder.path()).env("PMI_RANK", "1").output().unwrap();
        assert_eq!(done.status.code(), Some(1));
        let said = text(&done.stderr);
        assert!(
            said.starts_with("error: a launcher of MPI has started this program (`PMI_RANK` is set)"),
            "{said}"
        );
        assert!(!folder.path().join("run").exists());
    }
}
