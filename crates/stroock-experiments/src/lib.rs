//! The paper's experiments: their data sets, protocols and published numbers.
//!
//! 1. [`data`]: the public data sets, as their publishers lay them out;
//! 2. [`synthetic`]: the data sets that are generated, by physics or by rule;
//! 3. [`protocol`]: model, batches, training and metric of each experiment;
//! 4. [`rival`]: the systems that the paper compares itself with, in the same harness;
//! 5. [`reproduce`]: runs of the experiments, their results, and the published numbers beside them.

pub mod data;
pub mod protocol;
pub mod reproduce;
pub mod rival;
pub mod synthetic;
