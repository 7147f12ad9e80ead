//! The state that a run is resumed from: `last/` with its model, its optimiser and its counters.

use std::sync::LazyLock;

use burn::tensor::{Device, Tensor};
use stroock::estimator::FitConfig;
use stroock::run::{Progress, RunFolder, StopFlag};

use super::small::{self, TABLE};
use crate::pieces::pieces;
use crate::scratch::FOLDER;

static CONFIG: LazyLock<FitConfig> = LazyLock::new(|| {
    let mut config = small::config(&TABLE);
    // As many epochs as the states that inputs start from have.
    config.training.epochs = 1;
    config
});

/// Files of an input by their numbers.
pub const FILES: [&str; 5] = [
    "last/state.json",
    "last/model.safetensors",
    "last/optimiser.safetensors",
    "model.safetensors",
    "metrics.jsonl",
];

/// The input has the files of a folder, in which a run is resumed that is asked to stop at once.
pub fn run(data: &[u8]) {
    FOLDER.with(|scratch| {
        let path = scratch.empty("resumed");
        scratch.write("resumed/config.toml", b"");
        for (kind, content) in pieces(data) {
            scratch.write(&format!("resumed/{}", FILES[usize::from(kind) % FILES.len()]), content);
        }
        let Ok(folder) = RunFolder::open(path) else { return };
        let _ = folder.load_state::<serde_json::Value>();
        let stop = StopFlag::new();
        stop.request();
        if let Err(error) = CONFIG.fit(&TABLE, &folder, &stop, Progress::hidden) {
            assert!(!error.to_string().is_empty());
        }
    });
    // burn frees the nodes of models that are gone in the next backward pass, which a run that does not train lacks.
    Tensor::<1>::ones([1], &Device::flex().autodiff()).require_grad().backward();
}
