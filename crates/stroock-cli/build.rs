//! Notes the commit that the command is built from, for `stroock --version`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Digits of a commit that are shown, however many of them git would abbreviate it to.
const DIGITS: usize = 12;

/// What the command is built of, beside the manifests of the crates: a change to anything else leaves it as it is.
const SOURCES: [&str; 4] =
    [":(top,glob)crates/*/src/**", ":(top,glob)crates/*/Cargo.toml", ":(top)Cargo.toml", ":(top)Cargo.lock"];

fn main() {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let version = match commit_of(&folder) {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    };
    println!("cargo::rustc-env=STROOCK_VERSION={version}");
}

/// The commit of a package that cargo made, or of a checkout; none where there is neither.
pub fn commit_of(folder: &Path) -> Option<String> {
    let note = folder.join(".cargo_vcs_info.json");
    match fs::read_to_string(&note) {
        Ok(text) => {
            println!("cargo::rerun-if-changed={}", note.display());
            of_package(&text)
        }
        Err(_) => of_checkout(folder),
    }
}

/// The commit in cargo's note about a package: `{"git": {"sha1": "...", "dirty": true}, ...}`.
pub fn of_package(note: &str) -> Option<String> {
    let value = |key: &str| {
        let (_, rest) = note.split_once(&format!("\"{key}\""))?;
        Some(rest.trim_start().strip_prefix(':')?.trim_start())
    };
    let digits: String =
        value("sha1")?.strip_prefix('"')?.chars().take_while(char::is_ascii_hexdigit).collect();
    let is_dirty = value("dirty").is_some_and(|rest| rest.starts_with("true"));
    shown(&digits, is_dirty)
}

fn of_checkout(folder: &Path) -> Option<String> {
    // Somebody else's repository may hold this source as a part.
    if git(folder, &["rev-parse", "--show-prefix"])? != "crates/stroock-cli/" {
        return None;
    }
    let commit = git(folder, &["rev-parse", "HEAD"])?;
    let branch = git(folder, &["rev-parse", "--symbolic-full-name", "HEAD"]).unwrap_or_default();
    for name in ["HEAD", "logs/HEAD", "packed-refs", &branch] {
        // Cargo runs this at every build for a file that does not exist.
        let path = git(folder, &["rev-parse", "--git-path", name]).map(|path| folder.join(path));
        if let Some(path) = path.filter(|path| path.is_file()) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    // A build that follows a change is marked: these are watched, too.
    let top = folder.join("../..");
    for name in ["Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", top.join(name).display());
    }
    for member in fs::read_dir(top.join("crates")).into_iter().flatten().flatten() {
        for part in ["src", "Cargo.toml"]
            .map(|name| member.path().join(name))
            .into_iter()
            .filter(|path| path.exists())
        {
            println!("cargo::rerun-if-changed={}", part.display());
        }
    }
    let changes = git(folder, &[&["status", "--porcelain", "--"], &SOURCES[..]].concat())?;
    shown(&commit, !changes.is_empty())
}

fn shown(commit: &str, is_dirty: bool) -> Option<String> {
    let digits = commit.get(..DIGITS)?;
    Some(format!("{digits}{}", if is_dirty { "-dirty" } else { "" }))
}

fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    // Without locks, so that a build does not get in the way of a commit.
    let done =
        Command::new("git").arg("--no-optional-locks").args(arguments).current_dir(folder).output().ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).trim().to_owned())
}
