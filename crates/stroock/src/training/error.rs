//! Why training stops without a model.

use thiserror::Error;

use super::WorldError;
use crate::batch::TargetsError;
use crate::model::{ModelError, ModelFileError};
use crate::run::{RunError, TensorFileProblem};

/// Why training cannot go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainingError {
    /// There is nothing to train on.
    #[error("there are no training series; widen the split or read more data")]
    NoSeries,
    /// The batch size is zero.
    #[error("`batch_size` is 0; at least one series a step is needed")]
    BatchSize,
    /// There are more processes than chunks of a batch.
    #[error(
        "`chunks` is {chunks}: a batch is cut into fewer chunks than there are processes ({processes}), and some would have \
         nothing to do. It is fixed when a run begins: start a new run, or take at most {chunks} processes"
    )]
    Chunks {
        /// Chunks of a batch.
        chunks: usize,
        /// Processes.
        processes: usize,
    },
    /// The memory of the average of the parameters is not in `[0, 1)`.
    #[error("`average` is {average}; the memory of an average is at least 0 and less than 1, e.g. 0.999")]
    Average {
        /// The memory.
        average: f64,
    },
    /// The learning rate cannot warm up over such a time.
    #[error("`schedule.warm_up` is {warm_up}; it is a number of epochs, 0 for none")]
    WarmUp {
        /// The time.
        warm_up: f64,
    },
    /// A loss is not a finite number.
    #[error(
        "the loss of series `{series}` is {loss} in epoch {epoch}, batch {batch}; the last good model is kept. \
         A smaller learning rate or gradient clipping may help"
    )]
    NotFinite {
        /// Epoch, counted from 1.
        epoch: u64,
        /// Batch in the epoch, counted from 1.
        batch: usize,
        /// Name of the series.
        series: String,
        /// Its loss.
        loss: f32,
    },
    /// The gradient is not finite although the loss is.
    #[error(
        "the gradient is not finite in epoch {epoch}, batch {batch} (first series `{series}`); the last good model \
         is kept. A smaller learning rate or gradient clipping may help"
    )]
    GradientNotFinite {
        /// Epoch, counted from 1.
        epoch: u64,
        /// Batch in the epoch, counted from 1.
        batch: usize,
        /// Name of the first series of the batch.
        series: String,
    },
    /// The parameters, or the paths that come from them, are beyond all numbers.
    #[error(
        "training has diverged in epoch {epoch}, batch {batch}, at series `{series}` ({reason}); the best model of the \
         epochs before is kept. A smaller learning rate or gradient clipping may help"
    )]
    Diverged {
        /// Epoch, counted from 1.
        epoch: u64,
        /// Batch in the epoch, counted from 1.
        batch: usize,
        /// Name of the series, or of the first one of the batch.
        series: String,
        /// How it was noticed.
        reason: ModelError,
    },
    /// A batch cannot be put through the model.
    #[error("epoch {epoch}, batch {batch}: {source}")]
    Model {
        /// Epoch, counted from 1.
        epoch: u64,
        /// Batch in the epoch, counted from 1.
        batch: usize,
        /// What is wrong.
        source: ModelError,
    },
    /// The model refused the training series as a whole.
    #[error("before epoch {epoch}: {source}")]
    TrainingSeries {
        /// Epoch, counted from 1.
        epoch: u64,
        /// What is wrong.
        source: ModelError,
    },
    /// Series cannot be assembled to a batch.
    #[error(transparent)]
    Targets(#[from] TargetsError),
    /// The run folder cannot be read or written.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The model file cannot be described.
    #[error(transparent)]
    ModelFile(#[from] ModelFileError),
    /// The processes of a run cannot go on together.
    #[error(transparent)]
    World(#[from] WorldError),
    /// Parameters cannot be stored.
    #[error("the parameters cannot be stored: {0}")]
    Parameters(#[from] TensorFileProblem),
}
