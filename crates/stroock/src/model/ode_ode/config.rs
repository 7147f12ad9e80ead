//! Latent ordinary differential equations with an encoder of their kind, from a configuration alone.

use serde::{Deserialize, Serialize};

use super::{OdeOde, StartHead};
use crate::encoder::{FrameFeaturesConfig, OdeRnnConfig};
use crate::initial::InitialWeights;
use crate::latent::VectorField;
use crate::model::latent_ode::OdeConfig;
use crate::model::latent_sde::{DecoderConfig, decoder, image_shape, layers, network, size, task};
use crate::model::{ModelConfigError, ModelSettings};
use crate::series::Observation;
use crate::task::{TaskConfig, TaskKind};

/// Which importance-weighted bound is maximised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImportanceBound {
    /// That of every series: `ln mean_k exp(l_k - beta KL)`.
    #[default]
    Series,
    /// As in the code of the authors, with means over the batch inside and without the division by the number of samples:
    /// `ln sum_k exp(mean_b l_k - beta mean_b KL)`, the same for all series of a batch.
    Released,
}

/// Everything that makes a latent ordinary differential equation with an encoder of its kind, but its parameters.
///
/// ```
/// use burn::tensor::Device;
/// use stroock::initial::InitialWeights;
/// use stroock::model::{DecoderConfig, ModelSettings, OdeOdeConfig};
/// use stroock::series::Observation;
///
/// let config = OdeOdeConfig::new(Observation::Vector { channels: 3 }, DecoderConfig::Mlp(Default::default()));
/// let model = config.init(&mut InitialWeights::new(1, &Device::flex().autodiff()))?;
/// assert_eq!(model.latent().dim, 20);
/// # Ok::<(), stroock::model::ModelConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OdeOdeConfig {
    /// What is observed at a time.
    pub observation: Observation,
    /// From the observed points of a series to a representation.
    #[serde(default)]
    pub encoder: OdeRnnConfig,
    /// Units between the representation and the start point.
    #[serde(default = "start_hidden")]
    pub start_hidden: usize,
    /// The space of the states and the network that moves them, with tanh between its layers.
    #[serde(default = "latent")]
    pub latent: OdeConfig,
    /// From a state to the output.
    pub decoder: DecoderConfig,
    /// Standard deviation of the observations around the output; it is not learned.
    #[serde(default = "scale")]
    pub scale: f64,
    /// Which bound is maximised.
    #[serde(default)]
    pub bound: ImportanceBound,
    /// What is predicted beside the observations.
    #[serde(default)]
    pub task: Option<TaskConfig>,
}

fn start_hidden() -> usize {
    100
}

fn latent() -> OdeConfig {
    OdeConfig { dim: 20, hidden: vec![50; 4] }
}

fn scale() -> f64 {
    0.01
}

impl OdeOdeConfig {
    /// The published sizes for PhysioNet.
    pub fn new(observation: Observation, decoder: DecoderConfig) -> Self {
        Self {
            observation,
            encoder: OdeRnnConfig::default(),
            start_hidden: start_hidden(),
            latent: latent(),
            decoder,
            scale: scale(),
            bound: ImportanceBound::default(),
            task: None,
        }
    }
}

impl ModelSettings for OdeOdeConfig {
    type Model = OdeOde;

    fn kind(&self) -> &'static str {
        "ode-ode"
    }

    fn observation(&self) -> Observation {
        self.observation
    }

    fn task(&self) -> Option<TaskKind> {
        self.task.as_ref().map(|task| task.output)
    }

    fn check(&self) -> Result<(), ModelConfigError> {
        let observed = size("observation", self.observation.len(), 1)?;
        let OdeRnnConfig { frames, state, hidden, gates } = &self.encoder;
        if let Some(FrameFeaturesConfig { network: convolutions, features }) = frames {
            network("encoder.frames", convolutions)?;
            size("encoder.frames.features", *features, 1)?;
        }
        size("encoder.state", *state, 1)?;
        layers("encoder.hidden", *state, hidden, *state)?;
        let read = state.saturating_add(self.encoder.features(observed)).saturating_mul(2);
        layers("encoder.gates", read, &[*gates], 2 * state)?;
        let OdeConfig { dim, hidden } = &self.latent;
        size("latent.dim", *dim, 1)?;
        layers("latent.hidden", *dim, hidden, *dim)?;
        layers("start_hidden", 2 * state, &[self.start_hidden], 2 * dim)?;
        if !(self.scale.is_finite() && self.scale > 0.0) {
            return Err(ModelConfigError::NotPositive { key: "scale", value: self.scale });
        }
        decoder(&self.decoder, *dim, observed)?;
        task(self.task.as_ref())
    }

    fn init(&self, weights: &mut InitialWeights) -> Result<OdeOde, ModelConfigError> {
        self.check()?;
        let (observed, dim) = (self.observation.len(), self.latent.dim);
        let frame = match (&self.encoder.frames, self.observation) {
            (Some(_), observation) => Some(image_shape(observation, "ode-rnn with frames")?),
            (None, Observation::Vector { .. }) => None,
            (None, Observation::Image { .. }) => {
                let (encoder, reads, found) = ("ode-rnn without frames", "vectors", "images");
                return Err(ModelConfigError::Encoder { encoder, reads, found });
            }
        };
        let layers = |source| ModelConfigError::Layers { part: "encoder", source };
        let encoder = self.encoder.init(observed, frame, weights).map_err(layers)?;
        let start = StartHead::new(2 * self.encoder.state, self.start_hidden, dim, weights);
        let widths = [&[dim], &self.latent.hidden[..], &[dim]].concat();
        let drift = VectorField {
            layers: widths.windows(2).map(|pair| super::linear(pair[0], pair[1], weights)).collect(),
        };
        Ok(OdeOde {
            encoder,
            start,
            drift,
            decoder: self.decoder.init(dim, observed, weights)?,
            task: self.task.as_ref().map(|task| task.init(dim, weights)),
            latent: self.latent.clone(),
            scale: self.scale,
            bound: self.bound,
        })
    }
}
