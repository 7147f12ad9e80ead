//! mTAND-Enc from a configuration alone.

use serde::{Deserialize, Serialize};

use super::MtandEnc;
use crate::encoder::{FrameFeaturesConfig, GruConfig, TimeViewsConfig};
use crate::initial::InitialWeights;
use crate::model::latent_sde::{parameters, size, task};
use crate::model::{ModelConfigError, ModelSettings, point_features};
use crate::series::Observation;
use crate::task::{TaskConfig, TaskKind};

/// Sizes of time attention and of the recurrent unit behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TimeViewsSizes {
    /// Width of the time embedding.
    pub embedding: usize,
    /// Width of a view, and units of the recurrent unit.
    pub hidden: usize,
}

impl Default for TimeViewsSizes {
    /// The width of the published text.
    fn default() -> Self {
        Self { embedding: 128, hidden: 128 }
    }
}

impl TimeViewsSizes {
    /// Checks the sizes for points of so many features; `units` is how many recurrent units read the views.
    pub(in crate::model) fn check(self, features: usize, units: usize) -> Result<usize, ModelConfigError> {
        size("encoder.embedding", self.embedding, 2)?;
        parameters("encoder.embedding", &[self.embedding, self.embedding])?;
        let hidden = size("encoder.hidden", self.hidden, 1)?;
        parameters("encoder.hidden", &[2, features, hidden])?;
        parameters("encoder.hidden", &[3, units, hidden, hidden])?;
        Ok(hidden)
    }

    /// The attention for points of so many features.
    pub(in crate::model) fn views(self, channels: usize) -> TimeViewsConfig {
        TimeViewsConfig { channels, embedding: self.embedding, hidden: self.hidden }
    }
}

/// Everything that makes an mTAND-Enc but its parameters.
///
/// ```
/// use burn::tensor::Device;
/// use stroock::initial::InitialWeights;
/// use stroock::model::{ModelSettings, MtandEncConfig};
/// use stroock::series::Observation;
/// use stroock::task::{TaskConfig, TaskKind};
///
/// let config = MtandEncConfig {
///     observation: Observation::Vector { channels: 3 },
///     frames: None,
///     encoder: Default::default(),
///     task: TaskConfig { output: TaskKind::ClassPerTime { classes: 4 }, network: Default::default() },
/// };
/// let model = config.init(&mut InitialWeights::new(1, &Device::flex().autodiff()))?;
/// assert_eq!(model.recurrence.w_hh.val().dims(), [3 * 128, 128]);
/// # Ok::<(), stroock::model::ModelConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MtandEncConfig {
    /// What is observed at a time.
    pub observation: Observation,
    /// How frames become features; none for vectors.
    #[serde(default)]
    pub frames: Option<FrameFeaturesConfig>,
    /// Sizes of attention and recurrent unit.
    #[serde(default)]
    pub encoder: TimeViewsSizes,
    /// What is predicted.
    pub task: TaskConfig,
}

impl ModelSettings for MtandEncConfig {
    type Model = MtandEnc;

    fn kind(&self) -> &'static str {
        "mtand-enc"
    }

    fn observation(&self) -> Observation {
        self.observation
    }

    fn task(&self) -> Option<TaskKind> {
        Some(self.task.output)
    }

    fn check(&self) -> Result<(), ModelConfigError> {
        let features = point_features::check(self.observation, self.frames.as_ref())?;
        let hidden = self.encoder.check(features, 1)?;
        task(Some(&self.task))?;
        let first = self.task.network.hidden.first().copied().unwrap_or(self.task.output.outputs());
        parameters("task.network.hidden", &[hidden, first])
    }

    fn init(&self, weights: &mut InitialWeights) -> Result<MtandEnc, ModelConfigError> {
        self.check()?;
        let features = point_features::check(self.observation, self.frames.as_ref())?;
        let hidden = self.encoder.hidden;
        Ok(MtandEnc {
            frames: point_features::init(self.observation, self.frames.as_ref(), self.kind(), weights)?,
            views: self.encoder.views(features).init(weights),
            recurrence: GruConfig { width: hidden, hidden }.init(weights),
            task: self.task.init(hidden, weights),
        })
    }
}
