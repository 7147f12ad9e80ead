//! Measurements: medians with their spread, on data of the right shapes.

pub mod path;
mod shapes;
pub mod step;
mod timing;
