//! A variational autoencoder under a Gaussian process from a configuration alone.

use burn::module::Param;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::{FrameKernel, GppVae};
use crate::initial::InitialWeights;
use crate::likelihood::LikelihoodKind;
use crate::model::latent_sde::{DecoderConfig, EncoderConfig, Parts, parameters, size};
use crate::model::ode2vae::Head;
use crate::model::{ModelConfigError, ModelSettings};
use crate::series::Observation;

/// What is trained once the autoencoder has been trained on its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessTraining {
    /// The process alone, with the codes as they are: GPPVAE-dis.
    Disjoint,
    /// Process and autoencoder together: GPPVAE-joint.
    #[default]
    Joint,
}

/// The codes and the process over them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GaussianProcessConfig {
    /// Dimension `L` of a code.
    pub dim: usize,
    /// The most training series, `P`: each has a vector.
    pub objects: usize,
    /// Dimension `M` of the vector of a series.
    pub vector: usize,
    /// Harmonics `H` of the periodic covariance.
    pub harmonics: usize,
    /// Its period `T`, in model time.
    pub period: f64,
    /// How many times faster than those of the networks the parameters of the process are moved by a step.
    pub speed: f64,
}

impl Default for GaussianProcessConfig {
    /// The published sizes, of 360 series.
    fn default() -> Self {
        Self { dim: 16, objects: 360, vector: 8, harmonics: 7, period: 1.0, speed: 30.0 }
    }
}

impl GaussianProcessConfig {
    /// Features `D = M (1 + 2 H)` of a frame.
    pub fn features(&self) -> usize {
        self.vector * (1 + 2 * self.harmonics)
    }
}

/// Everything that makes a variational autoencoder under a Gaussian process but its parameters.
///
/// ```
/// use burn::tensor::Device;
/// use stroock::decoder::MlpConfig;
/// use stroock::initial::InitialWeights;
/// use stroock::likelihood::{LikelihoodKind, ScaleKind};
/// use stroock::model::{DecoderConfig, EncoderConfig, GaussianProcessConfig, GppVaeConfig, ModelSettings};
/// use stroock::series::Observation;
///
/// let config = GppVaeConfig {
///     observation: Observation::Vector { channels: 3 },
///     encoder: EncoderConfig::TimeAttention(Default::default()),
///     latent: GaussianProcessConfig { dim: 4, objects: 10, ..GaussianProcessConfig::default() },
///     decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![32], ..MlpConfig::default() }),
///     likelihood: LikelihoodKind::Gaussian { scale: 0.1, scale_kind: ScaleKind::PerChannel },
///     alone: 20,
///     then: Default::default(),
/// };
/// let model = config.init(&mut InitialWeights::new(1, &Device::flex().autodiff()))?;
/// assert_eq!(model.kernel.vectors().dims(), [10, 8]);
/// # Ok::<(), stroock::model::ModelConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GppVaeConfig {
    /// What is observed at a time.
    pub observation: Observation,
    /// From one frame, taken for the only one of a series, to a representation.
    pub encoder: EncoderConfig,
    /// The codes and the process over them.
    #[serde(default)]
    pub latent: GaussianProcessConfig,
    /// From a code to the output.
    pub decoder: DecoderConfig,
    /// How observations scatter around the output.
    pub likelihood: LikelihoodKind,
    /// Epochs in which the autoencoder is trained alone, with standard normal codes.
    #[serde(default)]
    pub alone: u64,
    /// What is trained after them.
    #[serde(default)]
    pub then: ProcessTraining,
}

/// Most features of a frame: matrices of their square are inverted.
const MOST_FEATURES: usize = 1 << 12;

impl GppVaeConfig {
    /// Encoder, decoder and likelihood.
    fn parts(&self) -> Parts<'_> {
        let Self { observation, encoder, decoder, likelihood, .. } = self;
        Parts { observation: *observation, encoder, decoder, likelihood: *likelihood, task: None }
    }
}

fn at_most(key: &'static str, size: usize, most: usize) -> Result<(), ModelConfigError> {
    match (1..=most).contains(&size) {
        true => Ok(()),
        false => Err(ModelConfigError::Size { key, size, least: 1, most }),
    }
}

impl ModelSettings for GppVaeConfig {
    type Model = GppVae;

    fn kind(&self) -> &'static str {
        "gppvae"
    }

    fn observation(&self) -> Observation {
        self.observation
    }

    fn check(&self) -> Result<(), ModelConfigError> {
        let &GaussianProcessConfig { dim, objects, vector, harmonics, period, speed } = &self.latent;
        size("latent.dim", dim, 1)?;
        size("latent.objects", objects, 1)?;
        at_most("latent.harmonics", harmonics, MOST_FEATURES / 2 - 1)?;
        at_most("latent.vector", vector, MOST_FEATURES / (2 * harmonics + 1))?;
        for (key, value) in [("latent.period", period), ("latent.speed", speed)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(ModelConfigError::NotPositive { key, value });
            }
        }
        let features = self.latent.features();
        parameters("latent.objects", &[objects, vector])?;
        parameters("latent.dim", &[features, dim])?;
        let width = self.parts().check(dim)?;
        parameters("latent.dim", &[width, dim])
    }

    fn init(&self, weights: &mut InitialWeights) -> Result<GppVae, ModelConfigError> {
        self.check()?;
        let dim = self.latent.dim;
        let observed = self.observation.len();
        let recognition = Head::new(&self.encoder, self.observation, dim, weights)?;
        let decoder = self.decoder.init(dim, self.likelihood.outputs(observed), weights)?;
        let kernel = FrameKernel::new(&self.latent, weights);
        let features = self.latent.features();
        // Without a frame the posterior is the prior, w1 of which is 1/2.
        let prior: Tensor<2> = Tensor::eye(features, weights.device());
        Ok(GppVae {
            recognition,
            kernel,
            loadings: weights.constant([features, dim], 0.0),
            uncertainty: Param::from_tensor(prior.mul_scalar(0.5)),
            decoder,
            likelihood: self.likelihood.init(observed, weights.device()),
            alone: self.alone,
            then: self.then,
            memory: None,
        })
    }
}
