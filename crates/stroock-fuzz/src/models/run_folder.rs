//! Folders of runs of strangers.

use std::fs;
use std::path::Path;

use stroock::estimator::RunConfig;
use stroock::run::{Metrics, RunFolder, TensorFile, parse};

use super::model_file;
use crate::pieces::pieces;
use crate::scratch::FOLDER;

/// Files of an input by their numbers.
pub const FILES: [&str; 12] = [
    "config.toml",
    "metrics.jsonl",
    "model.safetensors",
    "last/state.json",
    "last/model.safetensors",
    "last/optimiser.safetensors",
    "last.new/state.json",
    "last.new/model.safetensors",
    "last.old/state.json",
    ".lock",
    ".config.toml.1.tmp",
    "notes.txt",
];

/// The input has the files of a folder, which is opened, read and asked.
pub fn run(data: &[u8]) {
    FOLDER.with(|scratch| {
        let path = scratch.empty("runs/run");
        scratch.write("runs/beside.txt", b"not of the run");
        let mut has_notes = false;
        for (kind, content) in pieces(data) {
            let name = FILES[usize::from(kind) % FILES.len()];
            has_notes |= name == "notes.txt";
            scratch.write(&format!("runs/run/{name}"), content);
        }
        if let Ok(folder) = RunFolder::open(&path) {
            read(&folder);
        }
        model_file::asked(&path);
        // Whatever stands in the files, nothing else is touched.
        assert_eq!(
            fs::read(scratch.path().join("runs/beside.txt")).ok().as_deref(),
            Some(&b"not of the run"[..])
        );
        assert!(!has_notes || path.join("notes.txt").is_file());
        assert_eq!(fs::read_dir(scratch.path().join("runs")).map_or(0, Iterator::count), 2);
    });
}

fn read(folder: &RunFolder) {
    let _ = folder.recovery();
    if let Ok(text) = folder.read_config() {
        let _ = parse::<RunConfig>(Path::new("config.toml"), &text);
    }
    let _ = Metrics::read(&folder.paths().metrics());
    let _ = TensorFile::load(&folder.paths().model());
    if let Ok(Some(last)) = folder.load_last::<serde_json::Value>() {
        folder
            .save_last(&last.model, &last.optimiser, &last.state)
            .expect("a state that was read can be saved");
        assert!(folder.load_last::<serde_json::Value>().is_ok());
    }
}
