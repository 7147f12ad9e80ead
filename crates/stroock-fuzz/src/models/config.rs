//! Configurations in TOML: of fits and of the paper's experiments.

use std::path::Path;

use burn::tensor::Device;
use stroock::estimator::RunConfig;
use stroock::initial::InitialWeights;
use stroock::model::{ModelConfig, ModelSettings};
use stroock::run::{ConfigError, parse, to_toml};

/// The input is a file.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let path = Path::new("config.toml");
    match parse::<RunConfig>(path, text) {
        Ok(config) => {
            used(&config.fit.model);
            let written = to_toml(&config).expect("what was read can be written");
            let again = parse::<RunConfig>(path, &written).expect("what was written can be read");
            // Numbers that are none do not equal themselves.
            assert_eq!(format!("{again:?}"), format!("{config:?}"));
        }
        Err(error) => said(&error),
    }
    if let Err(error) = parse::<stroock_experiments::reproduce::RunConfig>(path, text) {
        said(&error);
    }
}

/// A model of hostile sizes is refused before it takes memory; one of usual sizes can be made.
pub fn used(config: &ModelConfig) {
    if let Err(error) = config.check() {
        assert!(!error.to_string().is_empty());
        return;
    }
    let _ = config.init(&mut InitialWeights::new(1, &Device::flex()));
}

/// An error is a sentence.
pub fn said(error: &ConfigError) {
    assert!(!error.to_string().is_empty());
}
