//! Continuous recurrent units from a configuration alone.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Cru, CruDecoder, CruEncoderConfig, KalmanFilter, LayersConfig, NormalHeadConfig, VarianceKind};
use crate::decoder::ImageDecoderConfig;
use crate::initial::InitialWeights;
use crate::latent::TransitionKind;
use crate::model::latent_sde::{DecoderConfig, decoder, layers, network, parameters, size};
use crate::model::{ModelConfigError, ModelSettings};
use crate::series::Observation;
use crate::task::TaskKind;

/// The state of a CRU: banded drift matrices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CruLatentConfig {
    /// Dimension `d` of latent observations, half of that of the state.
    pub half: usize,
    /// Drift matrices `K` that are mixed.
    pub sets: usize,
    /// Entries beside the diagonal of a block of a drift matrix on either side.
    pub bandwidth: usize,
    /// Units of the filter's time in one of model time.
    pub time_scale: f64,
    /// How the noise of the process is made.
    pub noise: VarianceKind,
}

/// The state of an f-CRU: eigenvalues in a shared basis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FastCruLatentConfig {
    /// Dimension `d` of latent observations, half of that of the state.
    pub half: usize,
    /// Sets of eigenvalues `K` that are mixed.
    pub sets: usize,
    /// Units of the filter's time in one of model time.
    pub time_scale: f64,
    /// How the noise of the process is made.
    pub noise: VarianceKind,
}

impl Default for CruLatentConfig {
    /// The published ones of the pendulum.
    fn default() -> Self {
        Self { half: 15, sets: 15, bandwidth: 3, time_scale: 100.0, noise: VarianceKind::Softplus }
    }
}

impl Default for FastCruLatentConfig {
    /// The published ones of the pendulum.
    fn default() -> Self {
        Self { half: 15, sets: 15, time_scale: 100.0, noise: VarianceKind::Softplus }
    }
}

/// Sizes of a [`KalmanFilter`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterConfig {
    /// Dimension `d` of latent observations, half of that of the state.
    pub half: usize,
    /// Sets of coefficients `K` that are mixed.
    pub sets: usize,
    /// How coefficients make a drift matrix.
    pub transition: TransitionKind,
    /// Units of the filter's time in one of model time.
    pub time_scale: f64,
    /// How the noise of the process is made.
    pub noise: VarianceKind,
}

/// The state of a continuous recurrent unit of one of the two kinds.
pub trait CruLatent: Clone + Debug + Default + PartialEq + Serialize + DeserializeOwned {
    /// The name of the model in configurations and files.
    const KIND: &'static str;

    /// The sizes of its filter.
    fn filter(&self) -> FilterConfig;
}

impl CruLatent for CruLatentConfig {
    const KIND: &'static str = "cru";

    fn filter(&self) -> FilterConfig {
        let Self { half, sets, bandwidth, time_scale, noise } = *self;
        FilterConfig { half, sets, transition: TransitionKind::Banded { bandwidth }, time_scale, noise }
    }
}

impl CruLatent for FastCruLatentConfig {
    const KIND: &'static str = "f-cru";

    fn filter(&self) -> FilterConfig {
        let Self { half, sets, time_scale, noise } = *self;
        FilterConfig { half, sets, transition: TransitionKind::Eigenvalues, time_scale, noise }
    }
}

/// How observations are decoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CruDecoderConfig {
    /// Numbers that are normal around a mean, with a variance of their own.
    Normal(NormalHeadConfig),
    /// Grey values of images, by their cross entropy; the output is a logit.
    Image(ImageDecoderConfig),
}

/// What is predicted beside the observations: numbers at every time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CruTaskConfig {
    /// How many.
    pub width: usize,
    /// From beliefs to them.
    pub head: NormalHeadConfig,
}

/// Everything that makes a continuous recurrent unit but its parameters: with banded drift matrices as it stands, with
/// eigenvalues as [`FastCruConfig`].
///
/// The filter needs one clock: the axes of inputs and of the grid of a batch must be the same.
///
/// ```
/// use burn::tensor::Device;
/// use stroock::initial::InitialWeights;
/// use stroock::model::{
///     CruConfig, CruDecoderConfig, CruEncoderConfig, CruLatentConfig, LayersConfig, ModelSettings, NormalHeadConfig,
///     VarianceKind,
/// };
/// use stroock::series::Observation;
///
/// let layers = LayersConfig::ReluNorm { hidden: vec![50] };
/// let config = CruConfig {
///     observation: Observation::Vector { channels: 3 },
///     encoder: CruEncoderConfig::Vector { layers: layers.clone(), variance: VarianceKind::Square },
///     latent: CruLatentConfig { half: 10, sets: 20, ..CruLatentConfig::default() },
///     decoder: Some(CruDecoderConfig::Normal(NormalHeadConfig {
///         mean: layers.clone(),
///         variance: layers,
///         variance_kind: VarianceKind::Exponential,
///     })),
///     task: None,
/// };
/// let model = config.init(&mut InitialWeights::new(1, &Device::flex().autodiff()))?;
/// assert_eq!(model.filter.config().half, 10);
/// # Ok::<(), stroock::model::ModelConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "L: CruLatent")]
pub struct CruConfig<L = CruLatentConfig> {
    /// What is observed at a time.
    pub observation: Observation,
    /// From an input to a latent observation.
    pub encoder: CruEncoderConfig,
    /// The state.
    #[serde(default)]
    pub latent: L,
    /// How observations are decoded, where they are predicted.
    #[serde(default)]
    pub decoder: Option<CruDecoderConfig>,
    /// What is predicted beside the observations.
    #[serde(default)]
    pub task: Option<CruTaskConfig>,
}

/// A continuous recurrent unit with eigenvalues in a shared basis.
pub type FastCruConfig = CruConfig<FastCruLatentConfig>;

impl<L: CruLatent> ModelSettings for CruConfig<L> {
    type Model = Cru;

    fn kind(&self) -> &'static str {
        L::KIND
    }

    fn observation(&self) -> Observation {
        self.observation
    }

    fn task(&self) -> Option<TaskKind> {
        self.task.as_ref().map(|task| TaskKind::RealPerTime { width: task.width })
    }

    fn check(&self) -> Result<(), ModelConfigError> {
        let FilterConfig { half, sets, transition, time_scale, .. } = self.latent.filter();
        size("latent.half", half, 1)?;
        size("latent.sets", sets, 1)?;
        parameters("latent.half", &[2 * half, 2 * half])?;
        parameters("latent.sets", &[2 * half, sets])?;
        parameters("latent.sets", &[sets, transition.coefficients(half)])?;
        if !(time_scale > 0.0 && time_scale.is_finite()) {
            return Err(ModelConfigError::NotPositive { key: "latent.time_scale", value: time_scale });
        }
        let observed = size("observation", self.observation.len(), 1)?;
        match &self.encoder {
            CruEncoderConfig::Vector { layers: config, .. } => {
                layers("encoder.layers.hidden", observed, config.hidden(), half)?;
            }
            CruEncoderConfig::Frames { network: config, features, .. } => {
                network("encoder.network", config)?;
                size("encoder.features", *features, 1)?;
                parameters("encoder.features", &[*features, half])?;
            }
        }
        match &self.decoder {
            None if self.task.is_none() => return Err(ModelConfigError::NothingPredicted),
            None => {}
            Some(CruDecoderConfig::Normal(head)) => {
                head_sizes(["decoder.mean.hidden", "decoder.variance.hidden"], head, half, observed)?;
            }
            Some(CruDecoderConfig::Image(config)) => {
                decoder(&DecoderConfig::Image(config.clone()), 2 * half, observed)?;
            }
        }
        if let Some(CruTaskConfig { width, head }) = &self.task {
            size("task.width", *width, 1)?;
            head_sizes(["task.head.mean.hidden", "task.head.variance.hidden"], head, half, *width)?;
        }
        Ok(())
    }

    fn init(&self, weights: &mut InitialWeights) -> Result<Cru, ModelConfigError> {
        self.check()?;
        let config = self.latent.filter();
        let half = config.half;
        let encoder = self.encoder.init(self.observation, half, weights)?;
        let filter = KalmanFilter::new(config, weights);
        let expected = self.observation.len();
        let decoder = match &self.decoder {
            None => None,
            Some(CruDecoderConfig::Normal(head)) => {
                Some(CruDecoder::Normal(head.init(half, expected, weights)))
            }
            Some(CruDecoderConfig::Image(config)) => {
                let layers = |source| ModelConfigError::Layers { part: "decoder", source };
                let actual = config.output().map_err(layers)?.extent();
                if actual != expected {
                    return Err(ModelConfigError::Outputs { expected, actual });
                }
                Some(CruDecoder::Image(config.init(2 * half, weights)))
            }
        };
        let task = self.task.as_ref().map(|task| task.head.init(half, task.width, weights));
        Ok(Cru { encoder, filter, decoder, task })
    }
}

fn head_sizes(
    [mean, variance]: [&'static str; 2],
    head: &NormalHeadConfig,
    half: usize,
    outputs: usize,
) -> Result<(), ModelConfigError> {
    let of = |key, config: &LayersConfig, inputs| layers(key, inputs, config.hidden(), outputs);
    of(mean, &head.mean, 2 * half)?;
    of(variance, &head.variance, 3 * half)
}
