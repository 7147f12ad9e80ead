//! Measurements and their records, at sizes that take no time.

use std::path::Path;
use std::process::Command;

use stroock::run::TensorFile;

fn bench(arguments: &[&str], folder: &Path) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_stroock"))
        .arg("bench")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn record(arguments: &[&str]) -> TensorFile {
    let folder = tempfile::tempdir().unwrap();
    let printed = bench(&[arguments, &["--record", "record.safetensors"]].concat(), folder.path());
    assert!(printed.is_empty(), "{printed}");
    TensorFile::load(&folder.path().join("record.safetensors")).unwrap()
}

#[test]
fn reports_have_all_times_and_the_peak_memory() {
    let folder = tempfile::tempdir().unwrap();
    let measured: [&[&str]; 5] = [
        &["path", "--steps", "4", "--series", "2", "--dim", "3"],
        &["encoder", "--batch-size", "2"],
        &["step", "sine", "--same-batch"],
        &["sample", "sine", "--batch-size", "1", "--samples", "2"],
        &["processes", "sine", "--batch-size", "3", "--chunks", "2"],
    ];
    for arguments in measured {
        let text = bench(&[arguments, &["--repeat", "2", "--json"]].concat(), folder.path());
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(report["times_ms"].as_array().unwrap().len(), 2, "{text}");
        assert!(report["peak_memory_mb"].is_null() || report["peak_memory_mb"].as_f64().unwrap() > 1.0);
    }
}

#[test]
fn a_recorded_path_stays_on_the_sphere() {
    let file = record(&["path", "--steps", "4", "--series", "2", "--dim", "3"]);
    assert_eq!(file.tensor("noise").unwrap().shape(), [1, 2, 4, 3]);
    assert_eq!(file.tensor("gradient.drift").unwrap().shape(), [2, 3, 6]);
    for state in file.entries::<f32>("result.states").unwrap().chunks_exact(3) {
        assert!((state.iter().map(|z| z * z).sum::<f32>() - 1.0).abs() < 1e-5);
    }
}

#[test]
fn a_recorded_step_starts_where_its_path_does() {
    let file = record(&["step", "sine"]);
    assert!(file.text("protocol").unwrap().contains("\"learned-embedding\""));
    let (samples, points) = (10, file.entries::<i64>("requests.indices").unwrap().len());
    assert_eq!(file.tensor("start").unwrap().shape(), [samples, 1, 3]);
    assert_eq!(file.tensor("result.states").unwrap().shape(), [samples, points, 3]);
    assert_eq!(file.tensor("noise").unwrap().shape(), [samples, 1, 100, 3]);
    assert_eq!(
        file.tensor("gradient.process.drift.weight").unwrap().shape(),
        file.tensor("parameter.process.drift.weight").unwrap().shape()
    );
    assert!(record(&["step", "sine", "--no-noise"]).tensor("noise").is_err());
}

#[test]
fn steps_of_rivals_are_measured_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let step = ["step", "physionet", "--model", "neural-sde", "--batch-size", "2"];
    let text = bench(&[&step[..], &["--repeat", "1", "--json"]].concat(), folder.path());
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["name"], "step/physionet-6min-neural-sde");
    assert!(report["parts_ms"]["forward"].as_f64().unwrap() > 0.0, "{report}");

    let file = record(&step);
    let points = file.entries::<i64>("requests.indices").unwrap().len();
    assert_eq!(file.tensor("start").unwrap().shape(), [1, 2, 16]);
    assert_eq!(file.tensor("noise").unwrap().shape(), [1, 2, 480, 16]);
    assert_eq!(file.tensor("result.states").unwrap().shape(), [1, points, 16]);
    assert_eq!(file.tensor("result.mean").unwrap().shape(), [1, points, 41]);
    for part in ["kl_start", "kl_path", "negative_log_likelihood"] {
        assert_eq!(file.tensor(&format!("result.{part}")).unwrap().shape(), [2]);
    }
}

#[test]
fn a_recorded_rival_is_off_its_start() {
    let file = record(&["step", "pendulum-angle", "--model", "cru", "--batch-size", "2"]);
    assert!(file.tensor("noise").is_err(), "a filter draws nothing");
    // Where all drift matrices are zero, the mixture has no say.
    let mixture = file.entries::<f32>("gradient.Cru.filter.mixture.weight").unwrap();
    assert!(mixture.iter().any(|entry| entry.abs() > 1e-6));
}

#[test]
fn rivals_without_a_preset_are_refused() {
    let done = Command::new(env!("CARGO_BIN_EXE_stroock"))
        .args(["bench", "step", "activity", "--model", "s5"])
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success());
    assert!(words.contains("activity has no model `s5`") && words.contains("pendulum-angle"), "{words}");
}

#[test]
fn a_recorded_encoder_has_its_representations() {
    let file = record(&["encoder", "--batch-size", "2"]);
    assert_eq!(file.tensor("result.h").unwrap().shape(), [2, 64]);
    let entries = file.entries::<i64>("input.entry_offsets").unwrap();
    assert_eq!(entries.len(), 2 * 41 + 1);
}
