//! What the README has a newcomer type first works on a fresh checkout.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of the first block of the README, without comments.
fn commands() -> Vec<String> {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let block = readme.split_once("```sh\n").expect("a block of commands").1.split_once("```").unwrap().0;
    let commands = block.lines().map(|line| line.split('#').next().unwrap_or_default().trim().to_owned());
    commands.filter(|command| !command.is_empty()).collect()
}

#[test]
fn the_first_command_is_the_demo_and_the_second_the_tests() {
    assert_eq!(commands(), ["cargo run --release -- demo", "cargo test --workspace"]);
    let check = std::fs::read_to_string(root().join("scripts/check")).unwrap();
    assert!(check.contains("scripts/readme 2"), "scripts/check runs the second command");
}

/// `cargo run` starts the only binary of the default members, and that has the subcommand.
#[test]
fn cargo_run_is_the_command() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let default = metadata["workspace_default_members"].as_array().unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let targets = packages.iter().filter(|package| default.contains(&package["id"]));
    let targets = targets.flat_map(|package| package["targets"].as_array().unwrap());
    let binaries: Vec<&str> = targets
        .filter(|target| target["kind"].as_array().unwrap().contains(&"bin".into()))
        .map(|target| target["name"].as_str().unwrap())
        .collect();
    assert_eq!(binaries, ["stroock"]);
    let (_, arguments) = commands()[0].split_once(" -- ").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let help = Command::new(env!("CARGO_BIN_EXE_stroock")).args([&arguments, "--help"]).output().unwrap();
    assert!(help.status.success() && String::from_utf8_lossy(&help.stdout).contains("stroock demo"));
}
