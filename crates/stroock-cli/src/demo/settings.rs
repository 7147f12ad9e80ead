//! The settings of the demo.

use serde::{Deserialize, Serialize};
use stroock::batch::{Batcher, GridKind, InputChoice, TargetChoice, TimeAxis};
use stroock::decoder::MlpConfig;
use stroock::encoder::TimeAttentionConfig;
use stroock::latent::LatentConfig;
use stroock::likelihood::{LikelihoodKind, ScaleKind};
use stroock::model::{
    DataDescription, DecoderConfig, Description, EncoderConfig, LatentSdeConfig, ModelConfig, Variable,
};
use stroock::objective::ElboWeights;
use stroock::series::{Observation, Scaler};
use stroock::training::{Schedule, TrainingConfig};
use stroock_experiments::synthetic::{CHANNELS, Channel, Oscillators, Sizes, TIME_UNIT};

use crate::arguments::DemoArguments;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DemoConfig {
    pub data: Oscillators,
    pub model: ModelConfig,
    pub batcher: Batcher,
    pub training: TrainingConfig,
}

const EPOCHS: u64 = 120;

impl Default for DemoConfig {
    fn default() -> Self {
        let sizes = Sizes { train: 3000, validation: 100, test: 100 };
        let data = Oscillators { sizes, ..Oscillators::default() };
        let axis = TimeAxis { start: 0.0, end: data.duration, horizon: 1.0 };
        Self {
            data,
            model: LatentSdeConfig {
                observation: Observation::Vector { channels: CHANNELS.len() },
                encoder: EncoderConfig::TimeAttention(TimeAttentionConfig {
                    hidden: 64,
                    embedding: 64,
                    reference_points: 64,
                    stretched: true,
                    local_heads: 0,
                }),
                latent: LatentConfig::default(),
                decoder: DecoderConfig::Mlp(MlpConfig { hidden: vec![64], ..MlpConfig::default() }),
                likelihood: LikelihoodKind::Gaussian { scale: 0.5, scale_kind: ScaleKind::PerChannel },
                task: None,
            }
            .into(),
            batcher: Batcher {
                input_axis: axis,
                grid_axis: axis,
                grid: GridKind::Regular { points: 101 },
                input: InputChoice::Random { probability: 0.85, always: 0 },
                targets: TargetChoice::All,
            },
            training: TrainingConfig {
                epochs: EPOCHS,
                batch_size: 32,
                rate: 3e-3,
                // Down once: the run ends where the rate is 0.
                schedule: Schedule::Cosine { epochs: EPOCHS as usize, floor: 0.01 },
                weights: ElboWeights { kl_start: 1e-4, kl_path: 1e-4, ..ElboWeights::default() },
                ..TrainingConfig::default()
            },
        }
    }
}

impl DemoConfig {
    /// With what the arguments say.
    pub fn with(mut self, arguments: &DemoArguments) -> Self {
        if let Some(epochs) = arguments.epochs {
            self.training.epochs = epochs;
        }
        if let Some(seed) = arguments.seed {
            self.training.seed = seed;
        }
        self
    }

    /// What the model file says about itself.
    pub fn description(&self, scaler: Scaler) -> Description {
        let variable = |channel: &Channel| Variable {
            name: channel.name.into(),
            unit: channel.unit.into(),
            ..Variable::default()
        };
        Description {
            model: self.model.clone(),
            data: DataDescription {
                variables: CHANNELS.iter().map(variable).collect(),
                time_unit: TIME_UNIT.into(),
                scaler,
                batcher: self.batcher,
                classes: Vec::new(),
                residual: None,
                table: None,
                forecast: None,
            },
        }
    }
}
