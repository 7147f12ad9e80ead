//! Problems at the shapes of the paper's experiments, which the benchmarks share.
#![allow(dead_code, reason = "each benchmark uses its part")]

pub mod encoder;
pub mod flow;
pub mod layers;
pub mod path;
