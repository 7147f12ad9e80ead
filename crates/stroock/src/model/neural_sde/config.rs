//! Latent SDEs in `R^n` from a configuration alone.

use serde::{Deserialize, Serialize};

use super::SdeProcess;
use crate::initial::InitialWeights;
use crate::likelihood::LikelihoodKind;
use crate::model::latent_sde::{
    DecoderConfig, EncoderConfig, LatentSde, Parts, StandardDecoder, StandardEncoder, layers, parameters,
    size,
};
use crate::model::{ModelConfigError, ModelSettings};
use crate::series::Observation;
use crate::task::{TaskConfig, TaskKind};

/// The space of the states and the networks that move them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SdeConfig {
    /// Dimension `n`.
    pub dim: usize,
    /// Widths of the hidden layers of the drift, and of that of the prior.
    pub hidden: Vec<usize>,
    /// Units of every coordinate of the diffusion.
    pub diffusion_hidden: usize,
}

impl Default for SdeConfig {
    /// Of the size of the paper's comparison: drifts of three layers with 32 units each.
    fn default() -> Self {
        Self { dim: 16, hidden: vec![32, 32], diffusion_hidden: 32 }
    }
}

/// Everything that makes a latent SDE in `R^n` but its parameters.
///
/// ```
/// use burn::tensor::Device;
/// use stroock::decoder::MlpConfig;
/// use stroock::initial::InitialWeights;
/// use stroock::likelihood::{LikelihoodKind, ScaleKind};
/// use stroock::model::{DecoderConfig, EncoderConfig, NeuralSdeConfig, ModelSettings, SdeConfig};
/// use stroock::series::Observation;
///
/// let config = NeuralSdeConfig {
///     observation: Observation::Vector { channels: 3 },
///     encoder: EncoderConfig::TimeAttention(Default::default()),
///     latent: SdeConfig { dim: 8, ..SdeConfig::default() },
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
pub struct NeuralSdeConfig {
    /// What is observed at a time.
    pub observation: Observation,
    /// From the observed points of a series to a representation.
    pub encoder: EncoderConfig,
    /// The space of the states and the networks that move them.
    #[serde(default)]
    pub latent: SdeConfig,
    /// From a state to the output.
    pub decoder: DecoderConfig,
    /// How observations scatter around the output.
    pub likelihood: LikelihoodKind,
    /// What is predicted beside the observations.
    #[serde(default)]
    pub task: Option<TaskConfig>,
}

/// The model that a [`NeuralSdeConfig`] makes.
pub type StandardNeuralSde = LatentSde<StandardEncoder, StandardDecoder, SdeProcess>;

impl NeuralSdeConfig {
    /// What stands around the process.
    fn parts(&self) -> Parts<'_> {
        let Self { observation, encoder, decoder, likelihood, task, .. } = self;
        Parts { observation: *observation, encoder, decoder, likelihood: *likelihood, task: task.as_ref() }
    }
}

impl ModelSettings for NeuralSdeConfig {
    type Model = StandardNeuralSde;

    fn kind(&self) -> &'static str {
        "neural-sde"
    }

    fn observation(&self) -> Observation {
        self.observation
    }

    fn task(&self) -> Option<TaskKind> {
        self.task.as_ref().map(|task| task.output)
    }

    fn check(&self) -> Result<(), ModelConfigError> {
        let SdeConfig { dim, hidden, diffusion_hidden } = &self.latent;
        size("latent.dim", *dim, 1)?;
        size("latent.diffusion_hidden", *diffusion_hidden, 1)?;
        parameters("latent.diffusion_hidden", &[*dim, *diffusion_hidden])?;
        let width = self.parts().check(*dim)?;
        layers("latent.hidden", *dim + width, hidden, *dim)?;
        parameters("latent.dim", &[width, *dim])
    }

    fn init(&self, weights: &mut InitialWeights) -> Result<StandardNeuralSde, ModelConfigError> {
        self.check()?;
        let process =
            |width, weights: &mut InitialWeights| SdeProcess::new(width, self.latent.clone(), weights);
        self.parts().init(self.latent.dim, process, weights)
    }
}
