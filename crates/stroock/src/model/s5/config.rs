//! S5 from a configuration alone.

use serde::{Deserialize, Serialize};

use super::{S5, S5Layer};
use crate::encoder::FrameFeaturesConfig;
use crate::initial::InitialWeights;
use crate::model::latent_sde::{parameters, size, task};
use crate::model::{ModelConfigError, ModelSettings, point_features};
use crate::series::Observation;
use crate::task::{TaskConfig, TaskKind};

/// Most layers: each of them takes a pass over all rows.
const MOST_LAYERS: usize = 1 << 10;

/// Sizes of the layers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct S5Sizes {
    /// Width `H` of rows between layers.
    pub width: usize,
    /// Complex states `P` of a layer, one of each conjugate pair.
    pub states: usize,
    /// How many layers.
    pub layers: usize,
    /// Model time of a step of the record: gaps are counted in it.
    pub unit: f64,
}

impl Default for S5Sizes {
    /// Those of the published run on the pendulum, for records of 100 steps.
    fn default() -> Self {
        Self { width: 30, states: 8, layers: 4, unit: 0.01 }
    }
}

/// Everything that makes an S5 but its parameters.
///
/// ```
/// use burn::tensor::Device;
/// use stroock::initial::InitialWeights;
/// use stroock::model::{ModelSettings, S5Config};
/// use stroock::series::Observation;
/// use stroock::task::{TaskConfig, TaskKind};
///
/// let config = S5Config {
///     observation: Observation::Vector { channels: 3 },
///     frames: None,
///     encoder: Default::default(),
///     task: TaskConfig { output: TaskKind::RealPerTime { width: 2 }, network: Default::default() },
/// };
/// let model = config.init(&mut InitialWeights::new(1, &Device::flex().autodiff()))?;
/// assert_eq!(model.layers.len(), 4);
/// # Ok::<(), stroock::model::ModelConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct S5Config {
    /// What is observed at a time.
    pub observation: Observation,
    /// How frames become features, with ReLU in the place of tanh; none for vectors.
    #[serde(default)]
    pub frames: Option<FrameFeaturesConfig>,
    /// Sizes of the layers.
    #[serde(default)]
    pub encoder: S5Sizes,
    /// What is predicted; its network is that of the head, and of a second one for variances.
    pub task: TaskConfig,
}

impl S5Config {
    /// Features of a point, after checking their sizes: frames have theirs, vectors their values and which are there.
    fn features(&self) -> Result<usize, ModelConfigError> {
        let features = point_features::check(self.observation, self.frames.as_ref())?;
        Ok(if self.frames.is_some() { features } else { 2 * features })
    }
}

impl ModelSettings for S5Config {
    type Model = S5;

    fn kind(&self) -> &'static str {
        "s5"
    }

    fn observation(&self) -> Observation {
        self.observation
    }

    fn task(&self) -> Option<TaskKind> {
        Some(self.task.output)
    }

    fn check(&self) -> Result<(), ModelConfigError> {
        let features = self.features()?;
        let S5Sizes { width, states, layers, unit } = self.encoder;
        size("encoder.width", width, 1)?;
        size("encoder.states", states, 1)?;
        if !(1..=MOST_LAYERS).contains(&layers) {
            let (key, size) = ("encoder.layers", layers);
            return Err(ModelConfigError::Size { key, size, least: 1, most: MOST_LAYERS });
        }
        parameters("encoder.width", &[features, width])?;
        parameters("encoder.layers", &[layers, width, width])?;
        parameters("encoder.states", &[layers, 2, states, width])?;
        if !(unit > 0.0 && unit.is_finite()) {
            return Err(ModelConfigError::NotPositive { key: "encoder.unit", value: unit });
        }
        task(Some(&self.task))?;
        let first = self.task.network.hidden.first().copied().unwrap_or(self.task.output.outputs());
        parameters("task.network.hidden", &[width, first])
    }

    fn init(&self, weights: &mut InitialWeights) -> Result<S5, ModelConfigError> {
        self.check()?;
        let S5Sizes { width, layers, unit, .. } = self.encoder;
        let output = self.task.output;
        let is_class = matches!(output, TaskKind::ClassPerTime { .. } | TaskKind::ClassPerSeries { .. });
        Ok(S5 {
            frames: point_features::init(self.observation, self.frames.as_ref(), self.kind(), weights)?,
            front: weights.linear(self.features()?, width),
            layers: (0..layers).map(|_| S5Layer::new(self.encoder, weights)).collect(),
            task: self.task.init(width, weights),
            variance: (!is_class).then(|| self.task.network.init(width, output.outputs(), weights)),
            unit,
        })
    }
}
