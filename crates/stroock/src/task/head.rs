//! From latent states to predictions, and how wrong they are.

use std::sync::Arc;

use burn::module::Module;
use burn::tensor::{Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::{TaskError, label_targets};
use crate::batch::Batch;
use crate::decoder::{Mlp, MlpConfig};
use crate::initial::InitialWeights;
use crate::likelihood::{Categorical, squared_error};

/// What is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TaskKind {
    /// A class at every time point.
    ClassPerTime {
        /// Number of classes.
        classes: usize,
    },
    /// A class for the whole series, from the mean of its states.
    ClassPerSeries {
        /// Number of classes.
        classes: usize,
    },
    /// Real numbers at every time point.
    RealPerTime {
        /// How many.
        width: usize,
    },
    /// An angle at every time point, as the point `(sin, cos)` of the unit circle.
    Angle,
}

/// Sizes of a [`TaskHead`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskConfig {
    /// What is predicted.
    pub output: TaskKind,
    /// From a state to a prediction.
    #[serde(default)]
    pub network: MlpConfig,
}

/// A map from latent states to predictions.
#[derive(Module, Debug)]
pub struct TaskHead {
    /// From a state to a prediction.
    pub network: Mlp,
    #[module(skip)]
    kind: TaskKind,
}

impl TaskKind {
    /// Numbers of one label.
    pub fn width(self) -> usize {
        match self {
            TaskKind::ClassPerTime { .. } | TaskKind::ClassPerSeries { .. } => 1,
            TaskKind::RealPerTime { width } => width,
            TaskKind::Angle => 2,
        }
    }

    /// Numbers of one prediction: logits of classes, or the numbers themselves.
    pub fn outputs(self) -> usize {
        match self {
            TaskKind::ClassPerTime { classes } | TaskKind::ClassPerSeries { classes } => classes,
            TaskKind::RealPerTime { .. } | TaskKind::Angle => self.width(),
        }
    }

    /// Whether there is a prediction at every time point, and not one for the whole series.
    pub fn is_per_time(self) -> bool {
        !matches!(self, TaskKind::ClassPerSeries { .. })
    }

    /// In words.
    pub(super) fn name(self) -> &'static str {
        match self {
            TaskKind::ClassPerTime { .. } => "a class per time point",
            TaskKind::ClassPerSeries { .. } => "a class per series",
            TaskKind::RealPerTime { .. } => "numbers per time point",
            TaskKind::Angle => "an angle per time point",
        }
    }
}

impl TaskConfig {
    /// Initialises the head for states of dimension `dim`.
    pub fn init(&self, dim: usize, weights: &mut InitialWeights) -> TaskHead {
        TaskHead { network: self.network.init(dim, self.output.outputs(), weights), kind: self.output }
    }
}

impl TaskHead {
    /// What is predicted.
    pub fn kind(&self) -> TaskKind {
        self.kind
    }

    /// Predictions `[S, Q, outputs]` at the states `[S, Q, n]` of a batch, or `[S, B, outputs]` for whole series.
    pub fn predict(&self, states: Tensor<3>, batch: &Batch) -> Tensor<3> {
        let states = match self.kind.is_per_time() {
            true => states,
            false => means(states, batch.targets.point_offsets()),
        };
        let [samples, rows, n] = states.dims();
        let output = self.network.forward(states.reshape([samples * rows, n]));
        let output = match self.kind {
            TaskKind::Angle => {
                let norm = output.clone().powi_scalar(2).sum_dim(1).sqrt().clamp_min(1e-12);
                output / norm
            }
            _ => output,
        };
        output.reshape([samples, rows, self.kind.outputs()])
    }

    /// The loss of the predictions for each series, `[B]`: cross entropy or squared error, a mean over its known
    /// targets and over samples.
    ///
    /// # Errors
    /// When the targets of the batch do not fit the task.
    pub fn loss(&self, prediction: Tensor<3>, batch: &Batch) -> Result<Tensor<1>, TaskError> {
        let targets = Arc::new(label_targets(self.kind, batch)?);
        let counts = targets.counts_like(&prediction);
        let sum = match self.kind {
            TaskKind::ClassPerTime { classes } | TaskKind::ClassPerSeries { classes } => {
                Categorical { classes }.negative_log_likelihood(prediction, targets)?
            }
            TaskKind::RealPerTime { .. } | TaskKind::Angle => squared_error(prediction, targets)?,
        };
        Ok(sum / counts)
    }
}

/// The mean state of each series, `[S, B, n]`, from the states `[S, Q, n]` at its points.
fn means(states: Tensor<3>, offsets: &[usize]) -> Tensor<3> {
    let [samples, points, n] = states.dims();
    let series = offsets.len() - 1;
    let mut average = vec![0f64; series * points];
    for (b, pair) in offsets.windows(2).enumerate() {
        let weight = 1.0 / (pair[1] - pair[0]).max(1) as f64;
        average[b * points + pair[0]..b * points + pair[1]].fill(weight);
    }
    let options = (&states.device(), states.dtype());
    let average = Tensor::<3>::from_data(TensorData::new(average, [1, series, points]), options);
    average.expand([samples, series, points]).matmul(states).reshape([samples, series, n])
}
