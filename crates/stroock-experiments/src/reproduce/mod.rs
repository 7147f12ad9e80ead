//! Runs of the experiments: from raw data to a metric, a row of a table and figures.
//!
//! 1. [`RunConfig`]: everything that a run depends on, written next to its results;
//! 2. [`PreparedData`]: the data of the run, split;
//! 3. [`Evaluator`]: the metric of a model on some of the series;
//! 4. [`reproduce()`]: training and evaluation in a run folder;
//! 5. [`published`]: the numbers to compare with, and [`table`]: all of them side by side;
//! 6. [`Plan`]: many runs from one file.

mod config;
mod evaluate;
mod plan;
mod prepared;
pub mod published;
mod result;
mod run;
pub mod table;

pub use config::{Preset, RunConfig};
pub use evaluate::{Evaluation, Evaluator};
pub use plan::{Entry, Plan, PlanError, PlannedRun};
pub use prepared::{PreparedData, PreparedDataError};
pub use result::{RunResult, RunStatus};
pub use run::{ReproduceError, Reproduction, reproduce};
