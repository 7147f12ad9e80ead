//! The arguments of kernels: shapes that do not fit, numbers that are none, and results beside plain loops.

pub mod attention;
pub mod gru;
mod numbers;
pub mod path;
mod plain_path;
pub mod start;
