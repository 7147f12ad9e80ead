//! What a faithful run of each experiment is: model, batches, training, metric and published numbers.
//!
//! Each experiment has a `paper` preset with the published settings, and where these let the model see test data
//! or choose the model by it, a `clean` preset that does not.

mod activity;
mod lorenz;
mod pendulum;
mod physionet;
pub(crate) mod rotating_mnist;
mod sine;

pub use physionet::Resolution;

use serde::{Deserialize, Serialize};
use stroock::batch::Batcher;
use stroock::model::ModelConfig;
use stroock::training::TrainingConfig;

use crate::synthetic::Variants;

/// The experiments of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    /// Handwritten threes that turn; one frame is seen.
    RotatingMnist,
    /// The angle of a pendulum from noisy images.
    PendulumAngle,
    /// Missing images of a pendulum.
    PendulumImages,
    /// What a person does, from four tags on their body.
    Activity,
    /// Values of intensive care at times that were not given.
    Physionet,
    /// The stochastic Lorenz attractor.
    Lorenz,
    /// One irregularly sampled sine.
    Sine,
}

impl Experiment {
    /// All of them, in the order of the paper.
    pub const ALL: [Experiment; 7] = [
        Experiment::RotatingMnist,
        Experiment::PendulumAngle,
        Experiment::PendulumImages,
        Experiment::Activity,
        Experiment::Physionet,
        Experiment::Lorenz,
        Experiment::Sine,
    ];

    /// The name in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            Experiment::RotatingMnist => "rotating-mnist",
            Experiment::PendulumAngle => "pendulum-angle",
            Experiment::PendulumImages => "pendulum-images",
            Experiment::Activity => "activity",
            Experiment::Physionet => "physionet",
            Experiment::Lorenz => "lorenz",
            Experiment::Sine => "sine",
        }
    }

    /// The published settings.
    pub fn paper(self, options: Options) -> Protocol {
        match self {
            Experiment::RotatingMnist => rotating_mnist::paper(),
            Experiment::PendulumAngle => pendulum::angle(),
            Experiment::PendulumImages => pendulum::images(),
            Experiment::Activity => activity::paper(),
            Experiment::Physionet => physionet::paper(options),
            Experiment::Lorenz => lorenz::protocol(),
            Experiment::Sine => sine::protocol(),
        }
    }
}

/// What some experiments can vary.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// PhysioNet: the step that times are rounded to.
    pub resolution: Resolution,
    /// PhysioNet: the probability that the encoder sees a time point.
    pub observed: f64,
    /// Rotating MNIST: more digits for training, made of those that are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variants: Option<Variants>,
}

impl Default for Options {
    fn default() -> Self {
        Self { resolution: Resolution::SixMinutes, observed: 0.5, variants: None }
    }
}

/// Everything about a run but its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Model.
    pub model: ModelConfig,
    /// How training series become batches.
    pub batcher: Batcher,
    /// Training.
    pub training: TrainingConfig,
    /// What is reported.
    pub metric: Metric,
}

/// What is reported, over the test series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Metric {
    /// Mean squared error of the observations.
    SquaredError {
        /// Over which of them.
        #[serde(default)]
        over: Over,
    },
    /// Mean squared error of the targets.
    TaskSquaredError,
    /// Share of time points whose class is right.
    Accuracy,
}

/// Which observations an error is taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Over {
    /// All of them.
    #[default]
    All,
    /// Those at points that the encoder has not seen; all of them where it has seen every point.
    Unseen,
    /// Those at one time of the user.
    Time {
        /// The time.
        time: f64,
    },
}

impl Metric {
    /// The name in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Metric::SquaredError { .. } => "mse",
            Metric::TaskSquaredError => "target_mse",
            Metric::Accuracy => "accuracy",
        }
    }

    /// Whether more is better.
    pub fn is_gain(self) -> bool {
        self == Metric::Accuracy
    }
}
