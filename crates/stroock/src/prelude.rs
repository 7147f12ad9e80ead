//! What most programs need: `use stroock::prelude::*;`.
//!
//! Fitting and predicting with tables needs [`Table`], [`FitConfig`], [`Goal`], [`Model`] and [`PredictOptions`]; a
//! model of one's own needs [`SeriesModel`] and [`ModelSettings`]; an encoder or a decoder of one's own [`Encoder`] and
//! [`Decoder`].

pub use crate::batch::{Batch, Batcher, EncoderInput, GridKind, InputChoice, TargetChoice, TimeAxis};
pub use crate::decoder::{Decoder, DecoderError};
pub use crate::encoder::{Encoder, EncoderError};
pub use crate::estimator::{
    EvaluateOptions, Evaluation, FitConfig, Fitted, Goal, Model, PredictOptions, Predictions,
};
pub use crate::foreign::ForeignError;
pub use crate::initial::InitialWeights;
pub use crate::latent::LatentConfig;
pub use crate::likelihood::{Likelihood, LikelihoodKind, ScaleKind};
pub use crate::model::{
    DataDescription, Description, LatentSde, ModelConfig, ModelConfigError, ModelError, ModelSettings,
    OutputParts, Outputs, PathDraws, SeriesModel,
};
pub use crate::objective::{ElboWeights, Objective};
pub use crate::predict::{Draws, Predictor, Summary};
pub use crate::run::{Progress, RunFolder, RunLength, StopFlag};
pub use crate::score::{HeldOutScores, HoldOut, withhold};
pub use crate::series::table::{DataFrame, ReadOptions, Table};
pub use crate::series::{Dataset, Labels, Observation, Scaler, Series, Split};
pub use crate::training::{Schedule, Trained, Trainer, TrainingConfig};
pub use stroock_kernels::noise::NoiseKey;
