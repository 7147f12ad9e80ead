//! The models of this crate by name. To add one is a line in the list below.

use burn::module::Module;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::{
    CruConfig, FastCruConfig, GppVaeConfig, KnotSdeConfig, LatentOdeConfig, LatentSdeConfig,
    ModelConfigError, ModelError, ModelSettings, MtandEncConfig, MtandFullConfig, NeuralSdeConfig,
    Ode2VaeConfig, OdeOdeConfig, OutputParts, Outputs, PathDraws, S5Config, SeriesModel, StandardLatentSde,
    TrainingSeries,
};
use crate::batch::Batch;
use crate::initial::InitialWeights;
use crate::latent::{Space, Steering};
use crate::objective::{ElboWeights, Objective};
use crate::series::Observation;
use crate::task::TaskKind;

macro_rules! register {
    ($($(#[$doc:meta])* $model:ident($config:ty)),+ $(,)?) => {
        /// The configuration of one of the models of this crate, chosen by its `kind`.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        pub enum ModelConfig {
            $($(#[$doc])* $model($config),)+
        }

        /// One of the models of this crate.
        #[derive(Module, Debug)]
        #[allow(clippy::large_enum_variant, reason = "there is one of them in a run")]
        pub enum StandardModel {
            $($(#[$doc])* $model(<$config as ModelSettings>::Model),)+
        }

        $(impl From<$config> for ModelConfig {
            fn from(config: $config) -> Self {
                ModelConfig::$model(config)
            }
        })+

        impl ModelSettings for ModelConfig {
            type Model = StandardModel;

            fn kind(&self) -> &'static str {
                match self {
                    $(ModelConfig::$model(config) => config.kind(),)+
                }
            }

            fn observation(&self) -> Observation {
                match self {
                    $(ModelConfig::$model(config) => config.observation(),)+
                }
            }

            fn task(&self) -> Option<TaskKind> {
                match self {
                    $(ModelConfig::$model(config) => config.task(),)+
                }
            }

            fn reach(&self) -> Option<f64> {
                match self {
                    $(ModelConfig::$model(config) => config.reach(),)+
                }
            }

            fn check(&self) -> Result<(), ModelConfigError> {
                match self {
                    $(ModelConfig::$model(config) => config.check(),)+
                }
            }

            fn init(&self, weights: &mut InitialWeights) -> Result<StandardModel, ModelConfigError> {
                let model = match self {
                    $(ModelConfig::$model(config) => StandardModel::$model(config.init(weights)?),)+
                };
                weights.check()?;
                Ok(model)
            }
        }

        impl SeriesModel for StandardModel {
            fn objective(
                &self,
                batch: &Batch,
                draws: PathDraws,
                weights: ElboWeights,
            ) -> Result<Objective, ModelError> {
                match self {
                    $(StandardModel::$model(model) => model.objective(batch, draws, weights),)+
                }
            }

            fn outputs(
                &self,
                batch: &Batch,
                draws: PathDraws,
                parts: OutputParts,
            ) -> Result<Outputs, ModelError> {
                match self {
                    $(StandardModel::$model(model) => model.outputs(batch, draws, parts),)+
                }
            }

            fn prior_outputs(
                &self,
                batch: &Batch,
                draws: PathDraws,
                parts: OutputParts,
            ) -> Result<Outputs, ModelError> {
                match self {
                    $(StandardModel::$model(model) => model.prior_outputs(batch, draws, parts),)+
                }
            }

            fn codes(&self, batch: &Batch) -> Result<Option<Tensor<2>>, ModelError> {
                match self {
                    $(StandardModel::$model(model) => model.codes(batch),)+
                }
            }

            fn outputs_of_codes(
                &self,
                codes: Tensor<2>,
                batch: &Batch,
                draws: PathDraws,
                parts: OutputParts,
            ) -> Result<Outputs, ModelError> {
                match self {
                    $(StandardModel::$model(model) => model.outputs_of_codes(codes, batch, draws, parts),)+
                }
            }

            fn steering(&self, batch: &Batch) -> Result<Option<Steering>, ModelError> {
                match self {
                    $(StandardModel::$model(model) => model.steering(batch),)+
                }
            }

            fn see_training(&mut self, training: &TrainingSeries<'_>) -> Result<(), ModelError> {
                match self {
                    $(StandardModel::$model(model) => model.see_training(training),)+
                }
            }
        }
    };
}

register! {
    /// A latent SDE: the paper's model.
    LatentSde(LatentSdeConfig),
    /// A latent SDE that follows the observations from knot to knot.
    KnotSde(KnotSdeConfig),
    /// A latent ordinary differential equation.
    LatentOde(LatentOdeConfig),
    /// A latent SDE in `R^n` whose drifts and diffusion are networks.
    NeuralSde(NeuralSdeConfig),
    /// A latent second-order equation with random weights: ODE2VAE and ODE2VAE-KL.
    Ode2vae(Ode2VaeConfig),
    /// A variational autoencoder under a Gaussian process: GPPVAE.
    Gppvae(GppVaeConfig),
    /// Time attention at the observation times and a recurrent unit over them, for a task.
    MtandEnc(MtandEncConfig),
    /// A variational autoencoder between reference points in time.
    MtandFull(MtandFullConfig),
    /// A continuous recurrent unit.
    Cru(CruConfig),
    /// A continuous recurrent unit with eigenvalues in a shared basis.
    FCru(FastCruConfig),
    /// A latent ordinary differential equation with an encoder of its kind.
    OdeOde(OdeOdeConfig),
    /// Layers of diagonal complex recurrences between the observations, for a task.
    S5(S5Config),
}

impl ModelConfig {
    /// The homogeneous space of latent paths and its ambient dimension; `None` for paths in `R^n`.
    pub fn latent_space(&self) -> Option<(Space, usize)> {
        match self {
            ModelConfig::LatentSde(config) => Some((config.latent.space, config.latent.dim)),
            ModelConfig::KnotSde(config) => Some((Space::Sphere, config.latent.dim())),
            _ => None,
        }
    }

    /// The configuration of a latent SDE, where it is one.
    pub fn as_latent_sde(&self) -> Option<&LatentSdeConfig> {
        match self {
            ModelConfig::LatentSde(config) => Some(config),
            _ => None,
        }
    }

    /// The same to be changed.
    pub fn as_latent_sde_mut(&mut self) -> Option<&mut LatentSdeConfig> {
        match self {
            ModelConfig::LatentSde(config) => Some(config),
            _ => None,
        }
    }
}

impl StandardModel {
    /// The latent SDE, where it is one: for what only paths have, such as their divergence.
    pub fn as_latent_sde(&self) -> Option<&StandardLatentSde> {
        match self {
            StandardModel::LatentSde(model) => Some(model),
            _ => None,
        }
    }
}
