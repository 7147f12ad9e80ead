//! ODE2VAE from a configuration alone.

use serde::{Deserialize, Serialize};

use super::{Ode2Vae, Recognition, SecondOrderProcess};
use crate::initial::InitialWeights;
use crate::likelihood::LikelihoodKind;
use crate::model::latent_sde::{DecoderConfig, EncoderConfig, Parts, parameters, size};
use crate::model::{ModelConfigError, ModelSettings};
use crate::series::Observation;

/// What is taken for the density of a start point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartDensity {
    /// That of the start point.
    #[default]
    Exact,
    /// That of the standard normal numbers that it is made of, as in the code of the authors: their volume, the product of
    /// the standard deviations, is left out, and so is the reward for uncertain start points.
    Released,
}

/// How series are predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PredictionKind {
    /// From the mean start point along the mean field, as published: all samples are the same.
    #[default]
    Mean,
    /// From drawn start points, every sample along a field of its own, the same for all series.
    Draws,
}

/// The space of the states and the network that accelerates them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SecondOrderConfig {
    /// Dimension `q` of positions, and of velocities.
    pub dim: usize,
    /// Units `H` of each of the two hidden layers of the acceleration.
    pub hidden: usize,
    /// The variance of its weights to start from.
    pub variance: f64,
    /// Steps of Runge and Kutta between two times of the grid.
    pub substeps: usize,
    /// What is taken for the density of a start point.
    pub density: StartDensity,
}

impl Default for SecondOrderConfig {
    /// The published sizes, 16 - 50 - 50 - 8.
    fn default() -> Self {
        Self { dim: 8, hidden: 50, variance: 1e-4, substeps: 5, density: StartDensity::Exact }
    }
}

impl SecondOrderConfig {
    /// The published weight `q / (H (3 q + 2 H + 3) + q)` of the divergence of the weights.
    ///
    /// ```
    /// use stroock::model::SecondOrderConfig;
    /// assert_eq!(SecondOrderConfig::default().published_weight(), 8.0 / (50.0 * 127.0 + 8.0));
    /// ```
    pub fn published_weight(&self) -> f64 {
        let (q, hidden) = (self.dim as f64, self.hidden as f64);
        q / (hidden * (3.0 * q + 2.0 * hidden + 3.0) + q)
    }
}

/// Everything that makes an ODE2VAE but its parameters.
///
/// ```
/// use burn::tensor::Device;
/// use stroock::decoder::MlpConfig;
/// use stroock::initial::InitialWeights;
/// use stroock::likelihood::{LikelihoodKind, ScaleKind};
/// use stroock::model::{DecoderConfig, EncoderConfig, ModelSettings, Ode2VaeConfig, SecondOrderConfig};
/// use stroock::series::Observation;
///
/// let config = Ode2VaeConfig {
///     observation: Observation::Vector { channels: 3 },
///     encoder: EncoderConfig::TimeAttention(Default::default()),
///     latent: SecondOrderConfig { dim: 4, ..SecondOrderConfig::default() },
///     decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![32], ..MlpConfig::default() }),
///     likelihood: LikelihoodKind::Gaussian { scale: 0.1, scale_kind: ScaleKind::PerChannel },
///     weight_divergence: 1e-3,
///     encoder_divergence: Some(0.1),
///     prediction: Default::default(),
/// };
/// let model = config.init(&mut InitialWeights::new(1, &Device::flex().autodiff()))?;
/// assert_eq!(model.process.config().dim, 4);
/// # Ok::<(), stroock::model::ModelConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ode2VaeConfig {
    /// What is observed at a time.
    pub observation: Observation,
    /// From what is seen of a series to a representation; there are two of them, of the position and of the velocity.
    pub encoder: EncoderConfig,
    /// The space of the states and the network that accelerates them.
    #[serde(default)]
    pub latent: SecondOrderConfig,
    /// From a position to the output.
    pub decoder: DecoderConfig,
    /// How observations scatter around the output.
    pub likelihood: LikelihoodKind,
    /// Weight `beta` of the divergence of the weights of the acceleration.
    #[serde(default = "weight_divergence")]
    pub weight_divergence: f64,
    /// Weight `gamma` of the divergence of the states from what the encoders say about every target: that of ODE2VAE-KL,
    /// published with 0.1. Without it the model is ODE2VAE.
    #[serde(default)]
    pub encoder_divergence: Option<f64>,
    /// How series are predicted.
    #[serde(default)]
    pub prediction: PredictionKind,
}

fn weight_divergence() -> f64 {
    SecondOrderConfig::default().published_weight()
}

/// Most steps between two times of a grid: paths keep all of them for the gradients.
const MOST_SUBSTEPS: usize = 1000;

impl Ode2VaeConfig {
    /// Encoder, decoder and likelihood.
    fn parts(&self) -> Parts<'_> {
        let Self { observation, encoder, decoder, likelihood, .. } = self;
        Parts { observation: *observation, encoder, decoder, likelihood: *likelihood, task: None }
    }
}

impl ModelSettings for Ode2VaeConfig {
    type Model = Ode2Vae;

    fn kind(&self) -> &'static str {
        "ode2vae"
    }

    fn observation(&self) -> Observation {
        self.observation
    }

    fn check(&self) -> Result<(), ModelConfigError> {
        let &SecondOrderConfig { dim, hidden, variance, substeps, .. } = &self.latent;
        size("latent.dim", dim, 1)?;
        size("latent.hidden", hidden, 1)?;
        if !(1..=MOST_SUBSTEPS).contains(&substeps) {
            let key = "latent.substeps";
            return Err(ModelConfigError::Size { key, size: substeps, least: 1, most: MOST_SUBSTEPS });
        }
        let positive = |key, value: f64| match value.is_finite() && value > 0.0 {
            true => Ok(()),
            false => Err(ModelConfigError::NotPositive { key, value }),
        };
        positive("latent.variance", variance)?;
        positive("weight_divergence", self.weight_divergence)?;
        positive("encoder_divergence", self.encoder_divergence.unwrap_or(1.0))?;
        parameters("latent.hidden", &[hidden, hidden])?;
        parameters("latent.hidden", &[2, dim, hidden])?;
        let width = self.parts().check(dim)?;
        parameters("latent.dim", &[width, dim])
    }

    fn init(&self, weights: &mut InitialWeights) -> Result<Ode2Vae, ModelConfigError> {
        self.check()?;
        let dim = self.latent.dim;
        let observed = self.observation.len();
        let recognition = Recognition::new(&self.encoder, self.observation, dim, weights)?;
        let decoder = self.decoder.init(dim, self.likelihood.outputs(observed), weights)?;
        Ok(Ode2Vae {
            recognition,
            process: SecondOrderProcess::new(self.latent.clone(), weights),
            decoder,
            likelihood: self.likelihood.init(observed, weights.device()),
            weight_divergence: self.weight_divergence,
            encoder_divergence: self.encoder_divergence,
            prediction: self.prediction,
        })
    }
}
