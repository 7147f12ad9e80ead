//! Tables of strangers.

pub mod arrow;
pub mod columns;
pub mod csv;
pub mod dates;
mod exercise;
pub mod gzip_csv;
pub mod parquet;
