//! Model files of strangers: loaded, and asked for predictions.

use std::path::Path;

use stroock::estimator::{Model, PredictOptions};

use super::small::TABLE;
use crate::scratch::FOLDER;

/// The input is a file.
pub fn run(data: &[u8]) {
    FOLDER.with(|folder| asked(&folder.write("model.safetensors", data)));
}

/// Loads a model and asks it for little.
pub fn asked(path: &Path) {
    let model = match Model::load(path) {
        Ok(model) => model,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let options = PredictOptions { draws: 2, samples: 1, ..PredictOptions::default() };
    let _ = model.impute(&TABLE, None, &options);
    let _ = model.forecast(&TABLE, 1.0, None, &options);
    let _ = model.classify(&TABLE, &options);
    let _ = model.sample(1, None, 1);
}
