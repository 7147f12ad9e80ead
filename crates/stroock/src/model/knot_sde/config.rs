//! Latent SDEs that follow the observations, from a configuration alone.

use serde::{Deserialize, Serialize};

use super::KnotProcess;
use crate::encoder::{KnotEncoder, KnotEncoderConfig};
use crate::initial::InitialWeights;
use crate::latent::{LatentConfigError, MarginalConfig, MarginalProcess, SteeredConfig, SteeredProcess};
use crate::likelihood::LikelihoodKind;
use crate::model::latent_sde::{
    DecoderConfig, LatentSde, StandardDecoder, decoder, image_shape, network, parameters, size, task,
};
use crate::model::{ModelConfigError, ModelSettings};
use crate::series::Observation;
use crate::task::{TaskConfig, TaskKind};

/// The sphere and the process of paths on it that follows knots.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum KnotLatentConfig {
    /// Paths are simulated, pulled towards a moving target.
    Steered(SteeredConfig),
    /// Marginals are given in closed form: no simulation, at a cost that does not depend on any grid.
    Marginal(MarginalConfig),
}

impl KnotLatentConfig {
    /// Ambient dimension `n`.
    pub fn dim(&self) -> usize {
        match self {
            KnotLatentConfig::Steered(config) => config.dim,
            KnotLatentConfig::Marginal(config) => config.dim,
        }
    }

    /// The same with another ambient dimension.
    pub fn with_dim(self, dim: usize) -> Self {
        match self {
            KnotLatentConfig::Steered(config) => KnotLatentConfig::Steered(SteeredConfig { dim, ..config }),
            KnotLatentConfig::Marginal(config) => {
                KnotLatentConfig::Marginal(MarginalConfig { dim, ..config })
            }
        }
    }

    fn init(&self, width: usize, weights: &mut InitialWeights) -> KnotProcess {
        match *self {
            KnotLatentConfig::Steered(config) => {
                KnotProcess::Steered(SteeredProcess::new(width, config, weights))
            }
            KnotLatentConfig::Marginal(config) => {
                KnotProcess::Marginal(MarginalProcess::new(width, config, weights))
            }
        }
    }
}

impl Default for KnotLatentConfig {
    fn default() -> Self {
        KnotLatentConfig::Steered(SteeredConfig::default())
    }
}

/// Everything that makes a latent SDE with knots but its parameters.
///
/// ```
/// use burn::tensor::Device;
/// use stroock::decoder::MlpConfig;
/// use stroock::initial::InitialWeights;
/// use stroock::likelihood::{LikelihoodKind, ScaleKind};
/// use stroock::model::{DecoderConfig, KnotSdeConfig, ModelSettings};
/// use stroock::series::Observation;
///
/// let config = KnotSdeConfig {
///     observation: Observation::Vector { channels: 3 },
///     encoder: Default::default(),
///     latent: Default::default(),
///     decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![32], ..MlpConfig::default() }),
///     likelihood: LikelihoodKind::Gaussian { scale: 0.1, scale_kind: ScaleKind::PerChannel },
///     task: None,
/// };
/// let model = config.init(&mut InitialWeights::new(1, &Device::flex().autodiff()))?;
/// assert_eq!(config.latent.dim(), 16);
/// # drop(model);
/// # Ok::<(), stroock::model::ModelConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnotSdeConfig {
    /// What is observed at a time.
    pub observation: Observation,
    /// From the observed points of a series to the states of its knots.
    #[serde(default)]
    pub encoder: KnotEncoderConfig,
    /// The sphere and the process of paths on it.
    #[serde(default)]
    pub latent: KnotLatentConfig,
    /// From a state to the output.
    pub decoder: DecoderConfig,
    /// How observations scatter around the output.
    pub likelihood: LikelihoodKind,
    /// What is predicted beside the observations.
    #[serde(default)]
    pub task: Option<TaskConfig>,
}

/// The model that a [`KnotSdeConfig`] makes.
pub type StandardKnotSde = LatentSde<KnotEncoder, StandardDecoder, KnotProcess>;

/// Most even knots of a series.
const MOST_KNOTS: usize = 1 << 16;

impl ModelSettings for KnotSdeConfig {
    type Model = StandardKnotSde;

    fn kind(&self) -> &'static str {
        "knot-sde"
    }

    fn observation(&self) -> Observation {
        self.observation
    }

    fn task(&self) -> Option<TaskKind> {
        self.task.as_ref().map(|task| task.output)
    }

    fn check(&self) -> Result<(), ModelConfigError> {
        let observed = size("observation", self.observation.len(), 1)?;
        let (encoder, latent) = (&self.encoder, self.latent);
        let dim = latent.dim();
        let hidden = size("encoder.hidden", encoder.hidden, 1)?;
        let width = size("encoder.width", encoder.width, 1)?;
        let seen = match &encoder.frames {
            Some(frames) => {
                network("encoder.frames.network", &frames.network)?;
                size("encoder.frames.features", frames.features, 1)?
            }
            None => observed,
        };
        parameters("encoder.hidden", &[5, seen, hidden])?;
        parameters("encoder.hidden", &[6, hidden, hidden])?;
        parameters("encoder.width", &[3, hidden, width])?;
        parameters("encoder.width", &[width, width])?;
        let knots = encoder.positions;
        if !(2..=MOST_KNOTS).contains(&knots.even) {
            let (key, least, most) = ("encoder.positions.even", 2, MOST_KNOTS);
            return Err(ModelConfigError::Size { key, size: knots.even, least, most });
        }
        let (sigma, own) = match latent {
            KnotLatentConfig::Steered(config) => (config.sigma, ("latent.gain", config.gain)),
            KnotLatentConfig::Marginal(config) => {
                size("latent.strata", config.strata, 1)?;
                (config.sigma, ("latent.width", config.width))
            }
        };
        for (key, value) in [
            ("encoder.positions.end", knots.end),
            ("encoder.nearness", encoder.nearness),
            ("latent.sigma", sigma),
            own,
        ] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(ModelConfigError::NotPositive { key, value });
            }
        }
        if dim < 2 {
            return Err(LatentConfigError::Dimension { dim, least: 2 }.into());
        }
        size("latent.dim", dim, 2)?;
        parameters("latent.dim", &[width, dim])?;
        if let LikelihoodKind::Categorical { classes } = self.likelihood {
            size("likelihood.classes", classes, 1)?;
        }
        decoder(&self.decoder, dim, self.likelihood.outputs(observed))?;
        task(self.task.as_ref())
    }

    fn init(&self, weights: &mut InitialWeights) -> Result<StandardKnotSde, ModelConfigError> {
        self.check()?;
        let frame = match (&self.encoder.frames, self.observation) {
            (Some(_), observation) => Some(image_shape(observation, "knots of frames")?),
            (None, Observation::Vector { .. }) => None,
            (None, Observation::Image { .. }) => {
                return Err(ModelConfigError::Encoder {
                    encoder: "knots",
                    reads: "vectors",
                    found: "images",
                });
            }
        };
        let channels = self.observation.len();
        let layers = |source| ModelConfigError::Layers { part: "encoder", source };
        let encoder = self.encoder.init(channels, frame, weights).map_err(layers)?;
        let (dim, process) = (self.latent.dim(), self.latent.init(self.encoder.width, weights));
        let decoder = self.decoder.init(dim, self.likelihood.outputs(channels), weights)?;
        let likelihood = self.likelihood.init(channels, weights.device());
        let task = self.task.as_ref().map(|task| task.init(dim, weights));
        Ok(LatentSde { encoder, process, decoder, likelihood, task })
    }
}
