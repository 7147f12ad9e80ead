//! Latent ordinary differential equations from a configuration alone.

use serde::{Deserialize, Serialize};

use super::OdeProcess;
use crate::initial::InitialWeights;
use crate::likelihood::LikelihoodKind;
use crate::model::latent_sde::{
    DecoderConfig, EncoderConfig, LatentSde, Parts, StandardDecoder, StandardEncoder, layers, parameters,
    size,
};
use crate::model::{ModelConfigError, ModelSettings};
use crate::series::Observation;
use crate::task::{TaskConfig, TaskKind};

/// The space of the states and the network that moves them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OdeConfig {
    /// Dimension `n`.
    pub dim: usize,
    /// Widths of the hidden layers of the drift.
    pub hidden: Vec<usize>,
}

impl Default for OdeConfig {
    /// The paper's: three layers, 16 - 32 - 32 - 16.
    fn default() -> Self {
        Self { dim: 16, hidden: vec![32, 32] }
    }
}

/// Everything that makes a latent ordinary differential equation but its parameters.
///
/// ```
/// use burn::tensor::Device;
/// use stroock::decoder::MlpConfig;
/// use stroock::initial::InitialWeights;
/// use stroock::likelihood::{LikelihoodKind, ScaleKind};
/// use stroock::model::{DecoderConfig, EncoderConfig, LatentOdeConfig, ModelSettings, OdeConfig};
/// use stroock::series::Observation;
///
/// let config = LatentOdeConfig {
///     observation: Observation::Vector { channels: 3 },
///     encoder: EncoderConfig::TimeAttention(Default::default()),
///     latent: OdeConfig { dim: 8, ..OdeConfig::default() },
///     decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![32], ..MlpConfig::default() }),
///     likelihood: LikelihoodKind::Gaussian { scale: 0.1, scale_kind: ScaleKind::PerChannel },
///     task: None,
/// };
/// let model = config.init(&mut InitialWeights::new(1, &Device::flex().autodiff()))?;
/// assert_eq!(model.process.config().dim, 8);
/// # Ok::<(), stroock::model::ModelConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatentOdeConfig {
    /// What is observed at a time.
    pub observation: Observation,
    /// From the observed points of a series to a representation.
    pub encoder: EncoderConfig,
    /// The space of the states and the network that moves them.
    #[serde(default)]
    pub latent: OdeConfig,
    /// From a state to the output.
    pub decoder: DecoderConfig,
    /// How observations scatter around the output.
    pub likelihood: LikelihoodKind,
    /// What is predicted beside the observations.
    #[serde(default)]
    pub task: Option<TaskConfig>,
}

/// The model that a [`LatentOdeConfig`] makes.
pub type StandardLatentOde = LatentSde<StandardEncoder, StandardDecoder, OdeProcess>;

impl LatentOdeConfig {
    /// What stands around the process.
    fn parts(&self) -> Parts<'_> {
        let Self { observation, encoder, decoder, likelihood, task, .. } = self;
        Parts { observation: *observation, encoder, decoder, likelihood: *likelihood, task: task.as_ref() }
    }
}

impl ModelSettings for LatentOdeConfig {
    type Model = StandardLatentOde;

    fn kind(&self) -> &'static str {
        "latent-ode"
    }

    fn observation(&self) -> Observation {
        self.observation
    }

    fn task(&self) -> Option<TaskKind> {
        self.task.as_ref().map(|task| task.output)
    }

    fn check(&self) -> Result<(), ModelConfigError> {
        let OdeConfig { dim, hidden } = &self.latent;
        size("latent.dim", *dim, 1)?;
        layers("latent.hidden", *dim, hidden, *dim)?;
        let width = self.parts().check(*dim)?;
        parameters("latent.dim", &[width, *dim])
    }

    fn init(&self, weights: &mut InitialWeights) -> Result<StandardLatentOde, ModelConfigError> {
        self.check()?;
        let process =
            |width, weights: &mut InitialWeights| OdeProcess::new(width, self.latent.clone(), weights);
        self.parts().init(self.latent.dim, process, weights)
    }
}
