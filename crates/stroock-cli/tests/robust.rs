//! What goes wrong is said, and nothing that is wrong goes unnoticed.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

mod command;
mod sensors;

use command::{done, refused};
use sensors::sensors;

/// The lines of a table, sorted.
fn sorted(table: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = table.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn answers_about_a_series_do_not_depend_on_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let table = sensors(12);
    std::fs::write(at.join("sensors.csv"), &table).unwrap();
    done(
        &["fit", "sensors.csv", "--task", "classify", "--target", "state", "--out", "run", "--epochs", "2"],
        at,
    );
    // The last series first, and some of them alone.
    let (header, rows) = table.split_once('\n').unwrap();
    let reversed: Vec<&str> = rows.lines().rev().collect();
    std::fs::write(at.join("reversed.csv"), format!("{header}\n{}\n", reversed.join("\n"))).unwrap();
    let few: Vec<&str> = rows.lines().filter(|row| row.starts_with("sensor 7,")).collect();
    std::fs::write(at.join("few.csv"), format!("{header}\n{}\n", few.join("\n"))).unwrap();
    for command in [&["classify"][..], &["impute", "--samples", "2"], &["forecast", "--until", "60"]] {
        let ask = |data: &str| {
            let arguments = [&[command[0], "run", data][..], &command[1..]].concat();
            done(&arguments, at).0
        };
        let (whole, other) = (ask("sensors.csv"), ask("reversed.csv"));
        assert_eq!(sorted(&whole), sorted(&other), "{command:?}");
        for line in ask("few.csv").lines() {
            assert!(whole.contains(line), "{command:?}: {line}");
        }
    }
}

#[test]
fn data_that_have_changed_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let table = sensors(8);
    std::fs::write(at.join("sensors.csv"), &table).unwrap();
    done(&["fit", "sensors.csv", "--out", "run", "--epochs", "1"], at);
    let place = table.rfind('.').unwrap() + 1;
    let digit = if &table[place..place + 1] == "7" { "8" } else { "7" };
    let changed = format!("{}{digit}{}", &table[..place], &table[place + 1..]);
    std::fs::write(at.join("sensors.csv"), changed).unwrap();
    let said = refused(&["fit", "--out", "run", "--resume", "--epochs", "2"], 1, at);
    assert!(said.contains("the data have changed") && said.contains("not the same"), "{said}");
    assert!(refused(&["evaluate", "run"], 1, at).contains("name the data"));
    std::fs::write(at.join("sensors.csv"), &table).unwrap();
    done(&["fit", "--out", "run", "--resume", "--epochs", "2"], at);

    // A weight with one bit flipped.
    let model = at.join("run/model.safetensors");
    let mut bytes = std::fs::read(&model).unwrap();
    let last = bytes.len() - 4;
    bytes[last] ^= 1;
    std::fs::write(&model, bytes).unwrap();
    assert!(refused(&["impute", "run", "sensors.csv"], 1, at).contains("checksum"));
}

#[test]
fn a_stopped_run_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("sensors.csv"), sensors(8)).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_stroock"))
        .args(["fit", "sensors.csv", "--out", "run", "--epochs", "100000"])
        .current_dir(at)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let first = said.by_ref().map_while(Result::ok).find(|line| line.starts_with("epoch 2/"));
    assert!(first.is_some(), "two epochs");
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let rest: Vec<String> = said.map_while(Result::ok).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(rest.last().is_some_and(|line| line.contains("stopped after epoch")), "{rest:?}");
    let (_, said) = done(&["impute", "run", "sensors.csv"], at);
    assert!(said.contains("warning: the fit of this model has not ended"), "{said}");
    done(&["fit", "--out", "run", "--resume", "--epochs", "1"], at);
    let (_, said) = done(&["impute", "run", "sensors.csv"], at);
    assert!(!said.contains("has not ended"), "{said}");
}

#[test]
fn the_settings_of_a_run_are_settings() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("sensors.csv"), sensors(8)).unwrap();
    let fit = |out: &str, more: &[&str]| {
        done(&[&["fit", "sensors.csv", "--out", out][..], more].concat(), at);
        std::fs::read(at.join(out).join("model.safetensors")).unwrap()
    };
    let first = fit("one", &["--epochs", "2", "--seed", "3", "--set", "fit.training.rate=0.002"]);
    let config = std::fs::read_to_string(at.join("one/config.toml")).unwrap();
    assert!(config.contains("rate = 0.002") && config.contains("seed = 3"), "{config}");
    let second = fit("two", &["--config", "one/config.toml"]);
    assert!(first == second, "the same settings give the same model");
    fit(
        "three",
        &["--config", "one/config.toml", "--seed", "4", "--epochs", "1", "--set", "training.rate=0.001"],
    );
    let config = std::fs::read_to_string(at.join("three/config.toml")).unwrap();
    assert!(config.contains("rate = 0.001") && config.contains("seed = 4"), "{config}");
    assert!(config.contains("epochs = 1\n"), "{config}");

    let demo = ["--set", "data.sizes={train=8, validation=4, test=4}", "--epochs", "1"];
    done(&[&["demo", "--out", "demo"][..], &demo].concat(), at);
    done(&["demo", "--out", "again", "--config", "demo/config.toml"], at);
}

#[test]
fn nothing_is_asked_for_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("sensors.csv"), sensors(3)).unwrap();
    for command in [&["fit", "sensors.csv", "--out", "none"][..], &["demo", "--out", "none"]] {
        let said = refused(&[command, &["--epochs", "0"]].concat(), 2, at);
        assert!(said.contains("--epochs"), "{said}");
    }
    let said = refused(&["fit", "sensors.csv", "--out", "none", "--set", "training.epochs=0"], 1, at);
    assert!(said.contains("training.epochs"), "{said}");
    assert!(!at.join("none").exists());

    // Too few series to keep any for testing.
    let (said, _) = done(&["fit", "sensors.csv", "--out", "run", "--epochs", "2"], at);
    assert!(said.contains("the series that the model was trained on"), "{said}");
    assert!(!said.contains("were kept for testing"), "{said}");
    let page = std::fs::read_to_string(at.join("run/report.html")).unwrap();
    assert!(page.contains("The scores are about the series that the model was trained on"));

    assert!(refused(&["sample", "run", "--count", "0"], 2, at).contains("at least 1"));
    assert!(refused(&["sample", "run", "sensors.csv", "--count", "0"], 2, at).contains("at least 1"));
    for arguments in [
        &["sample", "run", "--every", "1e-9"][..],
        &["sample", "run", "sensors.csv", "--every", "1e-9", "--count", "1"],
        &["forecast", "run", "sensors.csv", "--until", "60", "--every", "1e-9"],
    ] {
        let said = refused(arguments, 1, at);
        assert!(said.contains("--every"), "{arguments:?}: {said}");
    }
}

#[test]
fn nobody_needs_to_listen() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("sensors.csv"), sensors(4)).unwrap();
    // The reader of the standard error goes away at once.
    let mut child = Command::new(env!("CARGO_BIN_EXE_stroock"))
        .args(["fit", "sensors.csv", "--out", "run", "--epochs", "1"])
        .current_dir(at)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("The model:"), "{said}");
}
