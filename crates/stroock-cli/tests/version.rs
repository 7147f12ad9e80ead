//! `stroock --version` says which commit it is.

#[allow(dead_code)]
#[path = "../build.rs"]
mod build;

use std::path::Path;
use std::process::Command;

#[test]
fn the_version_names_the_commit_of_the_checkout() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let said = Command::new(env!("CARGO_BIN_EXE_stroock")).arg("--version").output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let version = said.trim().strip_prefix("stroock ").unwrap();
    let git = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(here).output();
    let Some(git) = git.ok().filter(|git| git.status.success()) else {
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
        return;
    };
    let head = String::from_utf8(git.stdout).unwrap();
    let clean = format!("{} ({})", env!("CARGO_PKG_VERSION"), &head[..12]);
    assert!(version == clean || version == clean.replace(')', "-dirty)"), "`{version}` is not `{clean}`");
}

#[test]
fn a_package_names_the_commit_it_was_made_from() {
    let note = r#"{
  "git": {
    "sha1": "0123456789abcdef0123456789abcdef01234567"
  },
  "path_in_vcs": "crates/stroock-cli"
}"#;
    assert_eq!(build::of_package(note).as_deref(), Some("0123456789ab"));
    let dirty = note.replace("4567\"\n", "4567\",\n    \"dirty\": true\n");
    assert_eq!(build::of_package(&dirty).as_deref(), Some("0123456789ab-dirty"));
    for damaged in ["", "{}", r#"{"git": {"sha1": "0123"}}"#, r#"{"git": {"sha1": 7}}"#] {
        assert_eq!(build::of_package(damaged), None, "{damaged}");
    }

    // A folder with such a note needs no git; one with neither has a version alone.
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(build::commit_of(folder.path()), None);
    std::fs::write(folder.path().join(".cargo_vcs_info.json"), note).unwrap();
    assert_eq!(build::commit_of(folder.path()).as_deref(), Some("0123456789ab"));
}
