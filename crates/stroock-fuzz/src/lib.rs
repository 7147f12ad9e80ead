//! What is fuzzed, one function a target.
//!
//! A target takes bytes, does with them what the program does with a file of a stranger, and must come back: with a
//! result or with an error, never with a panic, and without taking much memory or time. Coverage-guided fuzzing (the
//! folder `fuzz`, `scripts/fuzz`) and ordinary tests (`tests/replay.rs`) call the same functions.

mod allocator;
#[cfg(feature = "models")]
mod data;
mod kernels;
#[cfg(feature = "models")]
mod models;
#[cfg(feature = "models")]
mod pieces;
mod scratch;
mod seed;
mod tables;

pub use allocator::Guarded;
pub use seed::{Seed, seeds};

/// A target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name in commands, and that of its folder in the corpus.
    pub name: &'static str,
    /// What is done with an input.
    pub run: fn(&[u8]),
    /// Longest input that is worth trying.
    pub longest: usize,
}

const fn target(name: &'static str, run: fn(&[u8]), longest: usize) -> Target {
    Target { name, run, longest }
}

/// Targets without burn.
pub const PLAIN: &[Target] = &[
    target("csv", tables::csv::run, 2048),
    target("gzip-csv", tables::gzip_csv::run, 2048),
    target("parquet", tables::parquet::run, 4096),
    target("dates", tables::dates::run, 64),
    target("columns", tables::columns::run, 1024),
    target("arrow", tables::arrow::run, 1024),
    target("path", kernels::path::run, 1024),
    target("attention", kernels::attention::run, 1024),
    target("gru", kernels::gru::run, 1024),
    target("start", kernels::start::run, 512),
];

/// Targets with burn.
#[cfg(feature = "models")]
pub const MODELS: &[Target] = &[
    target("config", models::config::run, 4096),
    target("overrides", models::overrides::run, 512),
    target("tensors", models::tensors::run, 4096),
    target("model-file", models::model_file::run, 16384),
    target("state", models::state::run, 16384),
    target("metrics", models::metrics::run, 2048),
    target("run-folder", models::run_folder::run, 16384),
    target("physionet", data::physionet::run, 4096),
    target("mnist", data::mnist::run, 2048),
    target("activity", data::activity::run, 2048),
    target("cache", data::cache::run, 2048),
];

/// Targets with burn: none in this build.
#[cfg(not(feature = "models"))]
pub const MODELS: &[Target] = &[];

/// All targets of this build.
pub fn targets() -> impl Iterator<Item = &'static Target> {
    PLAIN.iter().chain(MODELS)
}

/// The target of a name.
pub fn named(name: &str) -> Option<&'static Target> {
    targets().find(|target| target.name == name)
}
