//! What a faithful run of each experiment is: model, batches, training, metric and published numbers.
//!
//! Each experiment has a `paper` preset with the published settings, where these let the model see test data
//! or choose the model by it a `clean` preset that does not, and a `best` preset with settings of our own on the same
//! clean data (activity: on the published split, which its figures are compared on).

mod activity;
mod lorenz;
mod pendulum;
mod physionet;
pub(crate) mod rotating_mnist;
pub(crate) mod sine;

pub use physionet::Resolution;

use serde::{Deserialize, Serialize};
use stroock::batch::{Batcher, InputChoice};
use stroock::encoder::KnotEncoderConfig;
use stroock::model::{KnotLatentConfig, KnotSdeConfig, LatentSdeConfig, ModelConfig};
use stroock::training::{AdamConfig, Schedule, TrainingConfig};

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

    /// Our own settings, as good as we know them.
    pub fn best(self, options: Options) -> Protocol {
        match self {
            Experiment::RotatingMnist => rotating_mnist::best(),
            Experiment::PendulumAngle => pendulum::best_angle(),
            Experiment::PendulumImages => pendulum::best_images(),
            Experiment::Activity => activity::best(),
            Experiment::Physionet => physionet::best(options),
            Experiment::Lorenz => lorenz::best(),
            Experiment::Sine => sine::protocol(),
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

/// A published model with a posterior that follows the observations in the place of its own.
fn with_knots(model: ModelConfig, encoder: KnotEncoderConfig, latent: KnotLatentConfig) -> ModelConfig {
    match model {
        ModelConfig::LatentSde(LatentSdeConfig { observation, decoder, likelihood, task, .. }) => {
            KnotSdeConfig { observation, encoder, latent, decoder, likelihood, task }.into()
        }
        other => other,
    }
}

/// The recipe of the `best` presets: a warm-up of an epoch, one cosine to zero, short gradients, and weights that are
/// averaged over about the last `1 / (1 - average)` steps.
pub(crate) fn recipe(epochs: u64, average: f64, training: TrainingConfig) -> TrainingConfig {
    TrainingConfig {
        epochs,
        schedule: Schedule::WarmCosine { epochs: epochs as usize, warm_up: 1.0, floor: 0.0 },
        adam: AdamConfig { clip: Some(1.0), ..training.adam },
        average: Some(average),
        ..training
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
    /// PhysioNet: the share of all stays that is taken from those for training, to choose settings by; the published
    /// protocol has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<f64>,
    /// Activity: whether windows of one recording, which overlap, can be for training and for testing, as published. By
    /// default so with the presets `paper` and `best`, whose figures are compared with published ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlapping: Option<bool>,
    /// Rotating MNIST: more digits for training, made of those that are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variants: Option<Variants>,
    /// Rotating MNIST: whether the digits for testing are those for training, whose frames but the hidden one and four more
    /// have been seen and can be inputs, and not others. It is the task that ODE2VAE and GPPVAE are published with.
    #[serde(default, skip_serializing_if = "is_false")]
    pub transductive: bool,
    /// Pendulum: whether its training series are there mirrored, too.
    #[serde(default, skip_serializing_if = "is_false")]
    pub mirrored: bool,
    /// Pendulum images: whether all frames of training series can be inputs, for the batches to choose anew in every
    /// epoch, instead of the same half.
    #[serde(default, skip_serializing_if = "is_false")]
    pub redrawn: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Default for Options {
    fn default() -> Self {
        Self {
            resolution: Resolution::SixMinutes,
            observed: 0.5,
            validation: None,
            overlapping: None,
            variants: None,
            transductive: false,
            mirrored: false,
            redrawn: false,
        }
    }
}

/// Everything about a run but its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Model.
    pub model: ModelConfig,
    /// How series become batches.
    pub batcher: Batcher,
    /// What the encoder sees in training, where it is not what it sees in testing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training_input: Option<InputChoice>,
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
